//! Beginnings of traces as they are published and as tools write them: each is read as what it is, or refused with the
//! reason. `docs/published-traces.md` has the sources of the cases.

use std::io::Write as _;

use sledlab_core::Op::{Flush, Read, Trim, Write};
use sledlab_core::{Request, Source};
use sledlab_trace::{Continuation, OpenOptions, TraceStart, open, open_reader};

use crate::trace_reader::{self, read, read_all};

/// What becomes of a trace.
struct Reading {
    format: &'static str,
    requests: Vec<Request>,
    notes: String,
    names: Vec<String>,
}

fn read_with(bytes: &[u8], options: OpenOptions) -> Result<Reading, String> {
    let continuation = Continuation::default();
    let options = OpenOptions { continuation: Some(&continuation), ..options };
    let reader = Box::new(std::io::Cursor::new(bytes.to_vec()));
    let trace = open_reader("t", reader, options).map_err(|error| error.to_string())?;
    let format = trace.format();
    let requests = read_all(trace).map_err(|error| error.to_string())?;
    let names = continuation.names().iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    Ok(Reading { format, requests, notes: continuation.notes().join("; "), names })
}

fn reading(bytes: &[u8]) -> Reading {
    read_with(bytes, OpenOptions::default()).unwrap()
}

/// Requests in short: arrival in us, operation, first block and number of blocks.
fn shape(requests: &[Request]) -> Vec<(u64, char, u64, u32)> {
    requests.iter().map(|r| (r.arrival.as_ns() / 1000, r.op.letter(), r.lbn, r.blocks)).collect()
}

/// Checks that a trace is refused, and that the error has all these parts.
fn check_refused(bytes: &[u8], parts: &[&str]) {
    let message = trace_reader::error(bytes, None);
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

fn path(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/published_traces");
    folder.join(name)
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

/// Forty lines.
fn lines(line: impl Fn(u32) -> String) -> String {
    (0..40).map(line).collect::<Vec<_>>().concat()
}

const OWN: [(u64, char, u64, u32); 2] = [(0, 'R', 0, 8), (900, 'W', 16, 1)];

#[test]
fn requests_of_length_0_are_counted_and_omitted() {
    let msr = reading(&file("msr-request-of-length-0.csv"));
    assert_eq!(shape(&msr.requests), [(0, 'R', 2048, 48), (20_000, 'W', 4096, 16)]);
    assert_eq!(msr.notes, "omitted 1 request of length 0");
    for (text, count) in [
        ("0,R,0,512\n1,W,0,0\n2,T,8,0\n3,R,0,512\n", 2),
        ("0,5,0,w,0.0\n0,5,512,r,0.1\n", 1),
        ("0 0 1 0 1\n1 0 1 8 1\n", 1),
        ("8,0 0 1 0.1 1 Q R 8 + 0 [a]\n8,0 0 1 0.2 1 Q R 8 + 8 [a]\n", 1),
        ("fio version 3 iolog\n5 a read 0 0\n6 a read 0 512\n", 1),
        ("1538323200,5,0,0,7\n1538323200,5,8,0,7\n", 1),
        ("R Miss 5 0 1 1\nR Miss 5 8 1 1\n", 1),
        ("5 1 init 9 0 W 6 0 af\n6 1 init 9 8 W 6 0 af\n", 1),
    ] {
        let trace = reading(text.as_bytes());
        assert!(trace.notes.starts_with(&format!("omitted {count} request")), "{text}: {}", trace.notes);
    }
    check_refused(b"0,R,0,0\n", &["holds no requests: omitted 1 request of length 0"]);
}

#[test]
fn fio_logs_without_offsets_are_refused() {
    check_refused(&file("fio-log-fifth-column-is-priority.log"), &["holds no offsets", "log_offset=1"]);
    check_refused(b"0, 5, 0, 4096, 0x0004\n1, 5, 1, 4096, 0x0000\n", &["holds no offsets"]);
    check_refused(b"0, 5, 0, 4096, 0, 17000\n1, 5, 1, 4096, 1, 18000\n", &["holds no offsets"]);
    check_refused(b"0, 5, 0, 4096\n", &["holds no offsets"]);
    check_refused(b"0, 5, 0, 4096, 2\n", &["may be the offset", "or the priority", "--columns"]);
    let old_log = reading(b"0, 5, 0, 4096, 8192\n1, 5, 1, 4096, 0\n");
    assert_eq!(shape(&old_log.requests), [(0, 'R', 16, 8), (1000, 'W', 0, 8)]);
}

#[test]
fn fio_averages_and_histograms_are_named() {
    check_refused(&file("fio-averaged-log.log"), &["averages over 500 ms", "log_avg_msec"]);
    let histogram = format!("1000, 0, 4096{}\n", ", 0, 3".repeat(40));
    check_refused(histogram.as_bytes(), &["histograms", "log_hist_msec"]);
}

#[test]
fn fio_waits_are_read_as_by_fio_or_as_in_its_manual() {
    let log = file("fio-v2-waits.log");
    assert_eq!(shape(&reading(&log).requests), [(0, 'R', 0, 2), (2_000_000, 'R', 2, 2)]);
    let by_manual = OpenOptions { format: Some("fio-iolog-us"), ..OpenOptions::default() };
    assert_eq!(shape(&read(&log, by_manual).unwrap().1), [(0, 'R', 0, 2), (6_000, 'R', 2, 2)]);
    let with_timestamps = reading(b"fio version 3 iolog\n5 a read 0 512\n6 a wait 7 0\n9 a read 0 512\n");
    assert_eq!(
        (with_timestamps.requests.len(), with_timestamps.notes.contains("1 line `wait`")),
        (2, true),
        "{}",
        with_timestamps.notes
    );
}

#[test]
fn fio_file_names_may_contain_blanks() {
    let trace = reading(&file("fio-file-name-with-blank.log"));
    assert_eq!(trace.names, ["/mnt/my data/file.0"]);
    let trace = reading(b"fio version 2 iolog\nmy read file add\nmy read file write 512 1024\nb sync 0 0\n");
    assert_eq!(shape(&trace.requests), [(0, 'W', 1, 2), (0, 'F', 0, 0)]);
    assert_eq!(trace.names, ["my read file", "b"]);
}

#[test]
fn recordings_after_a_summary_are_read_or_refused() {
    let two_recordings = reading(&file("blkparse-two-recordings-in-one-file.txt"));
    assert_eq!(two_recordings.requests.iter().map(|r| r.lbn).collect::<Vec<_>>(), [100, 200, 300, 400]);
    let restarted =
        b"8,0 0 1 0.1 1 Q R 8 + 8 [a]\n8,0 0 1 9.1 1 Q R 8 + 8 [a]\nCPU0 (8,0):\n Reads Queued: 1\n\
        8,16 0 1 0.1 1 Q W 9 + 8 [a]\n";
    check_refused(restarted, &["times start again", "--in-sequence"]);
    let later_recording =
        b"8,0 0 1 0.1 1 Q R 8 + 8 [a]\nCPU0 (8,0):\n Reads Queued: 1\n\nTotal (8,0):\n Skips: 0\n\
        8,16 0 1 5.5 1 Q W 9 + 8 [a]\n";
    assert_eq!(shape(&reading(later_recording).requests), [(0, 'R', 8, 8), (5_400_000, 'W', 9, 8)]);
}

#[test]
fn clocks_that_restart_are_recognized() {
    for text in [
        String::from_utf8(file("clock-restarts-in-second-recording.spc")).unwrap(),
        "fio version 3 iolog\n100 a read 0 512\n60000000 a read 0 512\n120 a read 0 512\n".to_owned(),
        "0,R,0,512\n600000000,R,0,512\n500000,R,0,512\n".to_owned(),
    ] {
        for sort_window in [0, 10] {
            let options = OpenOptions { sort_window, ..OpenOptions::default() };
            let message = read(text.as_bytes(), options).unwrap_err().to_string();
            assert!(message.contains("times start again"), "{message}");
        }
    }
    // Requests that are out of order stay what they are.
    let unordered = b"0,R,0,512\n2000000,R,0,512\n1900000,R,0,512\n";
    assert!(trace_reader::error(unordered, None).contains("--sort N"));
}

#[test]
fn passed_through_commands_are_no_requests() {
    let trace = reading(&file("blkparse-issue-events-with-scsi-command.txt"));
    assert_eq!(shape(&trace.requests), [(0, 'W', 100, 8), (3_000, 'R', 200, 8)]);
    assert!(trace.notes.contains("events D"), "{}", trace.notes);
    let inquiry = b"8,0 0 1 0.1 1 Q R 56 (12 00 ..) [inquiry]\n8,0 0 1 0.2 1 Q R 8 + 8 [a]\n";
    assert_eq!(reading(inquiry).requests.len(), 1);
    let completions = b"8,0 0 1 0.1 1 C R 8 + 8 [0]\n8,0 0 1 0.2 1 C R 8 + 8 [0]\n";
    check_refused(completions, &["holds no requests", "neither events Q (queued) nor D"]);
}

#[test]
fn times_start_at_the_first_request() {
    let trace = reading(&file("csv-times-since-1970.csv"));
    assert_eq!(shape(&trace.requests), OWN);
    assert!(trace.notes.contains("more than a year after 0"), "{}", trace.notes);
    let from_zero = OpenOptions { start: TraceStart::Zero, ..OpenOptions::default() };
    for (text, first_us) in [
        ("1800000000,R,0,512\n1800000100,R,0,512\n", 1_800_000_000),
        ("1800000.5 0 8 8 1\n1800000.6 0 8 8 1\n", 1_800_000_500),
    ] {
        assert_eq!(reading(text.as_bytes()).requests[0].arrival.as_ns(), 0);
        assert_eq!(reading(text.as_bytes()).notes, "");
        assert_eq!(shape(&read_with(text.as_bytes(), from_zero).unwrap().requests)[0].0, first_us);
    }
}

#[test]
fn look_alikes_are_distinguished_or_named() {
    let own = reading(&file("own-csv-without-header-with-device.csv"));
    assert_eq!(own.format, "csv");
    assert_eq!(own.requests.iter().map(|r| r.device).collect::<Vec<_>>(), [0, 0, 1, 1]);
    let mqsim = reading(&file("mqsim-nanoseconds.trace"));
    assert_eq!(mqsim.format, "mqsim");
    assert_eq!(shape(&mqsim.requests), [(0, 'R', 1000, 8), (5_000, 'W', 2000, 16), (12_000, 'R', 3000, 8)]);
    for (text, format) in [
        ("419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n", "alibaba"),
        ("0.5 0 100 8 1\n1.5 0 200 8 0\n", "disksim-ascii"),
        ("5 0 100 8 1\n12 0 200 8 0\n30 1 200 8 1\n", "disksim-ascii"),
        ("1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n", "tencent"),
    ] {
        assert_eq!(reading(text.as_bytes()).format, format, "{text}");
    }
    // Trims are often long.
    assert_eq!(reading(b"0,T,0,4096\n5,T,8192,4096\n").format, "csv");
    // Milliseconds and nanoseconds are equally likely.
    check_refused(
        b"0 0 100 8 1\n5000 0 200 8 0\n11000 0 300 8 1\n",
        &["`disksim-ascii`", "`mqsim`", "--format"],
    );
    // Bytes in the place of blocks, and seconds in that of milliseconds.
    check_refused(b"0.5 0 0 4096 1\n1.5 0 8192 8192 1\n", &["multiples of 2 MiB", "--format disksim-ascii"]);
    check_refused(b"0.5 0 8 8 1\n9000000.5 0 8 8 1\n", &["9000 s apart", "--columns"]);
}

#[test]
fn one_file_in_an_archive_is_read_and_several_are_listed() {
    let trace = reading(&file("tencent-hour.tgz"));
    assert_eq!(trace.format, "tencent");
    let text = b"0,R,0,4096\n900,W,8192,512\n";
    let tar = |files: &[(&str, &[u8])]| {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            builder.append_data(&mut header, name, *bytes).unwrap();
        }
        builder.into_inner().unwrap()
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).unwrap();
    let compressed = gzip.finish().unwrap();
    let long_name = format!("{}/hour.csv.gz", "directory".repeat(20));
    for archive in [
        tar(&[("hour.csv", text)]),
        tar(&[("._hour.csv", b"finder"), ("hour.csv", text)]),
        tar(&[(&long_name, &compressed)]),
        zstd::encode_all(&tar(&[("hour.csv", text)])[..], 3).unwrap(),
    ] {
        assert_eq!(shape(&reading(&archive).requests), OWN);
    }
    check_refused(&tar(&[("a.csv", text), ("b.csv", text)]), &["holds 2 files: a.csv, b.csv"]);
    check_refused(&tar(&[("README", b"read me"), ("b.csv", text)]), &["holds 2 files: README, b.csv"]);
    check_refused(&tar(&[("a.csv", text)])[..520], &["cut off"]);
    let entry = |kind, length| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(length);
        header.set_cksum();
        header.as_bytes().to_vec()
    };
    check_refused(&entry(tar::EntryType::GNUSparse, 512), &["sparse file"]);
    for length in [u64::MAX, u64::MAX - 512] {
        check_refused(&entry(tar::EntryType::Directory, length), &["cut off"]);
    }
}

#[test]
fn zip_archives_are_read_from_files() {
    let folder = std::env::temp_dir().join(format!("sledlab-zip-{}", std::process::id()));
    let text = b"0,R,0,4096\n900,W,8192,512\n";
    let write = |names: &[&str], method| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for name in names {
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            zip.start_file(*name, options).unwrap();
            zip.write_all(text).unwrap();
        }
        let bytes = zip.finish().unwrap().into_inner();
        std::fs::write(&folder, &bytes).unwrap();
        bytes
    };
    let outcome = || {
        let trace = open(&folder, OpenOptions::default());
        trace.and_then(read_all).map(|requests| shape(&requests)).map_err(|error| error.to_string())
    };
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let bytes = write(&["hour.csv", "__MACOSX/._hour.csv"], method);
        assert_eq!(outcome().unwrap(), OWN);
        check_refused(&bytes, &["zip archives are only read from files"]);
        let mut damaged = bytes;
        let at = damaged.windows(4).position(|part| part == b"8192").unwrap_or(60);
        damaged[at] ^= 1;
        std::fs::write(&folder, damaged).unwrap();
        assert!(outcome().is_err());
    }
    write(&["a.csv", "b.csv"], zip::CompressionMethod::Deflated);
    assert!(outcome().unwrap_err().contains("holds 2 files: a.csv, b.csv"));
    std::fs::remove_file(folder).unwrap();
}

#[test]
fn encodings_and_dialects_of_tables_are_read() {
    let tsv = b"time_us\top\toffset_bytes\tlength_bytes\n0\tR\t0\t4096\n900\tW\t8192\t512\n".to_vec();
    let big_endian: Vec<u8> = [0xfe, 0xff]
        .into_iter()
        .chain(b"0,R,0,4096\n900,W,8192,512\n".iter().flat_map(|byte| [0, *byte]))
        .collect();
    let without_mark: Vec<u8> = b"0,R,0,4096\n900,W,8192,512\n".iter().flat_map(|byte| [*byte, 0]).collect();
    for bytes in [
        file("utf-16-from-powershell.csv"),
        file("everything-quoted.csv"),
        tsv,
        big_endian,
        without_mark,
        b"time_us,op,offset_bytes,length_bytes\n0,read,0,4096\n900,Write,8192,512\n".to_vec(),
        b"op,offset_bytes,host,length_bytes,time_us\nR,0,a,4096,0\nW,8192,b,512,900\n".to_vec(),
    ] {
        assert_eq!(shape(&reading(&bytes).requests), OWN);
    }
    let decimal = reading(&file("semicolons-and-decimal-commas.csv"));
    assert_eq!(decimal.requests[1].arrival.as_ns(), 899_750);
    let quoted = b"\"128166372003061629\",\"hm\",\"1\",\"Read\",\"383496192\",\"32768\",\"413\"\n";
    assert_eq!((reading(quoted).format, reading(quoted).names), ("msr", vec!["hm_1".to_owned()]));
    let alibaba = b"419;W;8792731648;16384;1577808144360767\n725;R;59110326272;360448;1577808144360813\n";
    assert_eq!(reading(alibaba).format, "alibaba");
    check_refused(b"\"0\",\"R\",\"1,024\",\"4,096\"\n", &["1,024", "thousands"]);
}

#[test]
fn dates_and_shortened_numbers_are_named() {
    check_refused(
        b"time_us,op,offset_bytes,length_bytes\n2026-11-28 10:00:00,R,0,512\n",
        &["is a date", "--columns"],
    );
    check_refused(
        b"1.28E+17,hm,1,Read,0,512,1\n1.28E+17,hm,1,Read,0,512,1\n",
        &["lost its last", "spreadsheet"],
    );
    let scientific =
        reading(b"1.28166372003061629E+17,hm,1,Read,0,512,1\n1.28166372003061630E+17,hm,1,Read,0,512,1\n");
    assert_eq!(scientific.requests[1].arrival.as_ns(), 100);
    check_refused(b"1.70E+15,R,0,512\n1.70E+15,R,0,512\n", &["lost its last"]);
    let head = "time_us,op,offset_bytes,length_bytes\n";
    let nanoseconds = format!("{head}1700000000000000000,R,0,512\n1700000000000001000,R,0,512\n");
    check_refused(nanoseconds.as_bytes(), &["t:2:1: time_us is too large", "check the unit", "--columns"]);
}

#[test]
fn repeated_headers_are_omitted() {
    let trace = reading(&file("second-header-after-concatenation.csv"));
    assert_eq!((trace.requests.len(), trace.notes.as_str()), (3, "omitted 1 repeated header line"));
    let head = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let repeated = format!("{head}1,h,0,Read,0,512,1\n{head}2,h,0,Read,0,512,1\n");
    assert_eq!(reading(repeated.as_bytes()).requests.len(), 2);
    let fio = b"fio version 3 iolog\n1 a read 0 512\nfio version 3 iolog\n2 a read 0 512\n";
    assert_eq!(reading(fio).notes, "omitted 1 repeated header line");
}

#[test]
fn compressed_files_with_padding_or_long_windows_are_read() {
    assert_eq!(reading(&file("zstd-window-1-GiB.csv.zst")).requests.len(), 3);
    let text = b"0,R,0,4096\n900,W,8192,512\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip2.write_all(text).unwrap();
    for mut compressed in
        [gzip.finish().unwrap(), bzip2.finish().unwrap(), zstd::encode_all(&text[..], 3).unwrap()]
    {
        compressed.extend([0; 1000]);
        assert_eq!(shape(&reading(&compressed).requests), OWN);
        compressed.extend(b"garbage");
        trace_reader::error(&compressed, None);
    }
}

#[test]
fn published_formats_are_read() {
    let systor = reading(&file("systor17.csv"));
    assert_eq!((systor.format, &systor.names[..]), ("systor", &["0".to_owned(), "1".to_owned()][..]));
    assert_eq!(shape(&systor.requests), [(0, 'R', 2_099_200, 8), (100_000, 'W', 16, 16)]);
    let fiu = reading(
        b"89967195 4892 nfsd 508141856 8 W 6 0 0f00\n89968195 4892 my proc 508141864 16 R 8 16 0f00\n",
    );
    assert_eq!((fiu.format, &fiu.names[..]), ("fiu", &["6,0".to_owned(), "8,16".to_owned()][..]));
    assert_eq!(shape(&fiu.requests), [(0, 'W', 508_141_856, 8), (1, 'R', 508_141_864, 16)]);
    let record = |seconds: u32, object: u64, size: u32, next: i64| {
        [&seconds.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    let oracle = [record(5, 8, 4096, 2), record(5, 64, 512, -1), record(6, 8, 4096, -1), record(7, 9, 1, -1)];
    let oracle = reading(&oracle.concat());
    assert_eq!(oracle.format, "oracle-general");
    assert_eq!(
        shape(&oracle.requests),
        [(0, 'R', 8, 8), (0, 'R', 64, 1), (1_000_000, 'R', 8, 8), (2_000_000, 'R', 9, 1)]
    );
    assert!(oracle.notes.contains("all requests are reads"));
    let hashed: Vec<u8> = (0..5).flat_map(|n| record(n, u64::MAX - u64::from(n), 100, -1)).collect();
    check_refused(&hashed, &["no block address", "hashed names"]);
}

#[test]
fn files_that_are_not_read_are_named_with_a_remedy() {
    check_refused(&file("blktrace-binary-of-one-cpu.bin"), &["binary blktrace", "blkparse -i"]);
    let biosnoop = b"TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n\
        0.000000    sync  1 sda W 8 4096 0.5\n";
    check_refused(biosnoop, &["biosnoop", "--columns"]);
    let vscsi: Vec<u8> = (0..4_u64)
        .flat_map(|n| {
            let mut record = vec![0_u8; 32];
            record[12] = 0x28;
            record[15] = 1;
            record[16..24].copy_from_slice(&n.to_le_bytes());
            record
        })
        .collect();
    check_refused(&vscsi, &["vSCSI", "CloudPhysics"]);
    check_refused(b"7z\xbc\xaf\x27\x1c....", &["7z archive", "unpack"]);
    check_refused(b"{\"fio version\": \"fio-3.36\"}", &["JSON output of fio"]);
}

#[test]
fn names_with_blanks_are_one_device() {
    let trace = reading(b"1, usr,0,Read,0,512,1\n2,usr,0,Read,0,512,1\n3,usr, 0,Read,0,512,1\n");
    assert_eq!(trace.names, ["usr_0"]);
}

#[test]
fn whole_seconds_are_noted_and_can_be_spread() {
    let whole_seconds = file("tencent-whole-seconds.csv");
    assert!(reading(&whole_seconds).notes.contains("--spread 1"));
    let spreading = OpenOptions { spread_s: Some(1.0), ..OpenOptions::default() };
    let arrivals: Vec<u64> =
        read_with(&whole_seconds, spreading).unwrap().requests.iter().map(|r| r.arrival.as_ns()).collect();
    assert!(arrivals.windows(2).all(|pair| pair[0] < pair[1]), "no two requests arrive together");
    let systor: String = lines(|n| format!("{},0.1,R,0,{},512\n", 1_456_000_000 + n / 8, n * 512));
    assert!(reading(systor.as_bytes()).notes.contains("--spread 1"));
    let fine_times: String = lines(|n| format!("{n},R,{},512\n", n * 512));
    assert_eq!(reading(fine_times.as_bytes()).notes, "");
}

#[test]
fn tables_with_other_columns_are_read_by_their_map() {
    let text =
        b"host,epoch_s,verb,first_sector,bytes\na,1700000000.5,WRITE,16,4096\nb,1700000000.75,read,0,512\n\
        b,1700000001,flush,0,0\n";
    let read =
        |columns: &str| read_with(text, OpenOptions { columns: Some(columns), ..OpenOptions::default() });
    let by_name =
        read("time=epoch_s:s,op=verb,offset=first_sector:sectors,length=bytes,device=host").unwrap();
    assert_eq!(shape(&by_name.requests), [(0, 'W', 16, 8), (250_000, 'R', 0, 1), (500_000, 'F', 0, 0)]);
    assert_eq!((by_name.format, by_name.names), ("columns", vec!["a".to_owned(), "b".to_owned()]));
    let by_constants = read("time=2:s,op=:read,offset=4:4096,length=:8192").unwrap();
    assert_eq!(shape(&by_constants.requests)[0], (0, 'R', 128, 16));
    let spaced_table = b"10:30:00 x\n";
    assert!(
        read_with(
            spaced_table,
            OpenOptions { columns: Some("time=1,op=2,offset=2,length=2"), ..OpenOptions::default() }
        )
        .is_err()
    );
    let by_flag = read_with(
        b"2026-11-28T10:00:00Z;0;8;1\n2026-11-28 10:00:00.25;1;16;2\n",
        OpenOptions {
            columns: Some("time=1:datetime,op=2:read=0,offset=3:sectors,length=4:sectors"),
            ..OpenOptions::default()
        },
    );
    assert_eq!(shape(&by_flag.unwrap().requests), [(0, 'R', 8, 1), (250_000, 'W', 16, 2)]);
    for (columns, part) in [
        ("time=epoch_s:s,op=verb,offset=first_sector", "the column of `length` is missing"),
        ("time=when,op=verb,offset=first_sector,length=bytes", "no column `when`"),
        ("time=epoch_s:weeks,op=verb,offset=first_sector,length=bytes", "unknown unit of time `weeks`"),
        ("tine=epoch_s,op=verb,offset=first_sector,length=bytes", "did you mean `time`"),
        ("time=epoch_s,op=verb,offset=first_sector:furlongs,length=bytes", "unknown unit `furlongs`"),
        ("time=0,op=verb,offset=first_sector,length=bytes", "columns count from 1"),
        ("time", "no KEY=COLUMN"),
    ] {
        let message = read(columns).err().unwrap();
        assert!(message.contains(part), "{columns}: {message}");
    }
    check_refused(text, &["columns host, epoch_s, verb, first_sector, bytes", "--columns"]);
}

#[test]
fn all_operations_have_words() {
    let text = b"0,R,0,512\n1,write,0,512\n2,TRIM,0,512\n3,discard,0,512\n4,flush,0,0\n";
    let ops: Vec<_> = reading(text).requests.iter().map(|r| r.op).collect();
    assert_eq!(ops, [Read, Write, Trim, Trim, Flush]);
}

#[test]
fn sector_size_of_srt_can_be_set() {
    let disk = "{ nspt = 2, ntpc = 3, ncyl = 400, sectorsize = 512 }";
    let mut bytes = format!("$$TR_IOREC-1.3 (x)\ndisks = {{ 0 -> {disk} }};\n\x0c").into_bytes();
    // The last but one of 2,400 sectors.
    let record: [u32; 14] = [56, 0x0004_0001, 7, 250, 0, 9, 512, 2398, 0x0000_0008, 4, 1, 1, 0, 1];
    bytes.extend(record.iter().flat_map(|word| word.to_be_bytes()));
    let lbn = |sector_bytes| {
        read_with(&bytes, OpenOptions { sector_bytes, ..OpenOptions::default() }).unwrap().requests[0].lbn
    };
    assert_eq!((lbn(None), lbn(Some(256)), lbn(Some(1024))), (2398, 1199, 4796));
    let other_format = OpenOptions { sector_bytes: Some(256), ..OpenOptions::default() };
    assert!(read_with(b"0,R,0,512\n", other_format).err().unwrap().contains("format srt"));
}

#[test]
fn progress_reaches_the_end_of_an_archive() {
    let mut trace = open(path("tencent-hour.tgz"), OpenOptions::default()).unwrap();
    let mut requests = Vec::new();
    while trace.fill(&mut requests).unwrap() > 0 {}
    assert_eq!(trace.progress(), Some(1.0));
}
