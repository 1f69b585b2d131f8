//! Each format on a short sample: that the format is recognized, and the requests that are read.

use std::io::Write;

use crate::trace_reader::{self, read, request};
use sledlab_core::Op::{Flush, Read, Trim, Write as Put};
use sledlab_core::Request;
use sledlab_trace::{OpenOptions, format, open_reader};

fn check(format: &str, text: &[u8], expected: &[Request]) {
    let (recognized, requests) = read(text, OpenOptions::default()).unwrap();
    assert_eq!(recognized, format);
    assert_eq!(requests, expected);
    let by_name = OpenOptions { format: Some(format), ..OpenOptions::default() };
    assert_eq!(read(text, by_name).unwrap().1, expected);
}

#[test]
fn csv_is_parsed() {
    let text = b"time_us,op,offset_bytes,length_bytes\n5,R,1024,4096\n\n# later\n7.25,W,100,512\r\n7.25,T,0,1048576\n\
        9,F,0,0";
    let expected = [
        request(0, Read, 2, 8, 0),
        request(2_250, Put, 0, 2, 0),
        request(2_250, Trim, 0, 2048, 0),
        request(4_000, Flush, 0, 0, 0),
    ];
    check("csv", text, &expected);
    check("csv", &text[37..], &expected);
    check("csv", &[b"\xef\xbb\xbf", &text[..]].concat(), &expected);
}

#[test]
fn csv_with_devices_is_parsed() {
    let text = b"time_us,op,offset_bytes,length_bytes,device\n5,R,1024,4096,3\n 6 , w , 512 , 1 , 0 \n";
    let one_byte = Request { unrequested_words: 63, ..request(1_000, Put, 1, 1, 0) };
    check("csv", text, &[request(0, Read, 2, 8, 3), one_byte]);
}

#[test]
fn csv_with_metadata_is_parsed() {
    let text = b"time_us,op,offset_bytes,length_bytes,device,metadata\n5,R,1024,128,3,1\n 6,R,0,512,0 , 0 \n\
        7,F,0,0,0\n";
    let metadata = Request { metadata: true, unrequested_words: 48, ..request(0, Read, 2, 1, 3) };
    check("csv", text, &[metadata, request(1_000, Read, 0, 1, 0), request(2_000, Flush, 0, 0, 0)]);
}

#[test]
fn csv_length_sets_requested_part_of_last_block() {
    let unrequested_words = |offset: u64, length: u64, op: char| {
        let text = format!("0,{op},{offset},{length}\n");
        read(text.as_bytes(), OpenOptions::default()).unwrap().1[0].unrequested_words
    };
    let words = [1, 8, 9, 504, 505, 512, 513, 1000].map(|length| unrequested_words(512, length, 'R'));
    assert_eq!(words, [63, 63, 62, 1, 0, 0, 63, 3]);
    assert_eq!(unrequested_words(512, 1000, 'W'), 3);
    // Words unwanted in a first block are not counted; a trim has no last block to read.
    assert_eq!(
        [unrequested_words(8, 100, 'R'), unrequested_words(511, 2, 'W'), unrequested_words(512, 100, 'T')],
        [0; 3]
    );
}

#[test]
fn disksim_ascii_is_parsed() {
    let text =
        b"0.000000 0 1130508 8 1\n  38.7957885 2\t843900 21 0 \n1e2 0 5 1 11\n100.00000049 0 5 1 0x10\n";
    let expected = [
        request(0, Read, 1_130_508, 8, 0),
        request(38_795_789, Put, 843_900, 21, 2),
        request(100_000_000, Read, 5, 1, 0),
        request(100_000_000, Put, 5, 1, 0),
    ];
    check("disksim-ascii", text, &expected);
}

#[test]
fn disksim_validate_is_parsed() {
    let text = b"R Miss 1130508 8 21392.02 17403.765\nW Hit 843900 21 17264.9 22142.546\nR Read 3 1 1 1\n";
    let spaced_by_gap = [
        request(0, Read, 1_130_508, 8, 0),
        request(17_403_765, Put, 843_900, 21, 0),
        request(39_546_311, Read, 3, 1, 0),
    ];
    check("disksim-validate", text, &spaced_by_gap);
    let options = OpenOptions { add_service_times: true, ..OpenOptions::default() };
    assert_eq!(read(text, options).unwrap().1[1].arrival.as_ns(), 38_795_785);
}

#[test]
fn msr_is_parsed() {
    let text =
        b"128166372003061629,hm,1,Read,383496192,32768,413\n128166372003061630,web,0,Write,1000,24,5\n\
        128166372013061630,hm,1,Write,0,512,1\n";
    let expected =
        [request(0, Read, 749_016, 64, 0), request(100, Put, 1, 1, 1), request(1_000_000_100, Put, 0, 1, 0)];
    check("msr", text, &expected);
    check(
        "msr",
        &[b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", &text[..]].concat(),
        &expected,
    );
}

#[test]
fn spc_is_parsed() {
    let text = b"0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214\n0,5,1,r,0.026214000,x,y\n";
    let expected = [
        request(0, Put, 303_567, 7, 0),
        request(26_214_000, Read, 55_590, 6, 1),
        request(26_214_000, Read, 5, 1, 0),
    ];
    check("spc", text, &expected);
}

#[test]
fn blkparse_is_parsed() {
    let text = b"  8,0    3        1     0.500000000   697  A   W 223490 + 8 <- (8,1) 223427
  8,0    3        2     0.500000100   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.500000500   697  G   W 223490 + 8 [kjournald]
  8,0    3        4     0.500000900   697  P   N [kjournald]
  8,0    3        5     0.600000000   697  Q   R 64 + 16 [cat]
  8,16   1        1     0.600000001   697  Q FWS [jbd2]
  8,16   1        2     0.600000002   697  Q FWFSM 128 + 8 [jbd2]
  8,0    3        6     0.700000000     0  m   N cfq697 slice
  8,0    3        7     0.700000000   697  Q  DS 2048 + 4096 [fstrim]
  8,0    3        8     0.700000000     0  C   R 64 + 16 [0]
CPU3 (8,0):
 Reads Queued:           1,        8KiB\t Writes Queued:           1,        4KiB
";
    let expected = [
        request(0, Put, 223_490, 8, 0),
        request(99_999_900, Read, 64, 16, 0),
        request(99_999_901, Flush, 0, 0, 1),
        request(99_999_902, Put, 128, 8, 1),
        request(199_999_900, Trim, 2048, 4096, 0),
    ];
    check("blkparse", text, &expected);
}

#[test]
fn blkparse_without_queue_events_uses_issue_events() {
    let text = b"8,0 0 1 0.000000000 1 I R 8 + 8 [a]\n8,0 0 2 0.000001000 1 D R 8 + 8 [a]\n\
        8,0 0 3 0.1 0 C R 8 + 8 [0]\n";
    check("blkparse", text, &[request(0, Read, 8, 8, 0)]);
}

#[test]
fn fio_iolog_2_is_parsed() {
    let text = b"fio version 2 iolog
/dev/sda add
/dev/sda open
/dev/sda read 0 4096
/dev/sdb wait 1500 0
/dev/sda write 8192 512
/dev/sdb trim 1048576 65536
/dev/sda sync 0 0
/dev/sda close
";
    let expected = [
        request(0, Read, 0, 8, 0),
        request(1_500_000_000, Put, 16, 1, 0),
        request(1_500_000_000, Trim, 2048, 128, 1),
        request(1_500_000_000, Flush, 0, 0, 0),
    ];
    check("fio-iolog", text, &expected);
    let by_manual = OpenOptions { format: Some("fio-iolog-us"), ..OpenOptions::default() };
    assert_eq!(read(text, by_manual).unwrap().1[1].arrival.as_ns(), 1_500_000);
}

#[test]
fn fio_iolog_3_is_parsed() {
    let text = b"fio version 3 iolog
2 Nvme1n1 add
872 Nvme1n1 open
878 Nvme1n1 write 0 16384
888 Nvme1n1 read 512 512
891 Nvme1n1 datasync 0 0
10001677 Nvme1n1 close
";
    let expected =
        [request(0, Put, 0, 32, 0), request(10_000, Read, 1, 1, 0), request(13_000, Flush, 0, 0, 0)];
    check("fio-iolog", text, &expected);
}

#[test]
fn fio_block_log_is_parsed() {
    let text = b"0, 1043, 0, 4096, 8192\n2, 900, 1, 512, 0, 0x0004\n2, 900, 2, 1024, 512, 0, 17\n";
    let expected =
        [request(0, Read, 16, 8, 0), request(2_000_000, Put, 0, 1, 0), request(2_000_000, Trim, 1, 2, 0)];
    check("fio-iolog", text, &expected);
}

#[test]
fn alibaba_is_parsed() {
    let text = b"419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n";
    let expected = [request(0, Put, 17_173_304, 32, 0), request(46_000, Read, 115_449_856, 704, 1)];
    check("alibaba", text, &expected);
    check("alibaba", &[b"device_id,opcode,offset,length,timestamp\n", &text[..]].concat(), &expected);
}

#[test]
fn tencent_is_parsed() {
    let text = b"1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n1538323201,1,8,1,1063\n";
    let expected = [
        request(0, Read, 12_910_952, 128, 0),
        request(1_000_000_000, Put, 6_338_688, 8, 1),
        request(1_000_000_000, Put, 1, 8, 0),
    ];
    check("tencent", text, &expected);
}

/// Two disks of 2 x 3 x 4 sectors of 256 bytes, so 12 blocks each.
fn srt() -> Vec<u8> {
    let disk = "{ nspt = 2, ntpc = 3, ncyl = 4, sectorsize = 256, adaptor = 1 -> { x , 1.2 }, sections = { 8 -> { \
        \"/\", size = (0 6144), blocksize = 8192 } } }";
    let mut bytes = format!("$$TR_IOREC-1.3 (x)\ndisks = {{ 0 -> {disk}, 1 -> {disk} }};\n\x0c").into_bytes();
    for (seconds, size, sector, device, flags) in
        [(7, 1024, 4, 0x0800_0008, 1), (8, 256, 23, 0x0800_000f, 0x10), (8, 512, 1, 0x0800_0107, 3)]
    {
        let record: [u32; 14] =
            [56, 0x0004_0001, seconds, 250, 0, 9, size, sector, device, 4, 1, flags, 0, 1];
        bytes.extend(record.iter().flat_map(|word| word.to_be_bytes()));
    }
    bytes
}

#[test]
fn srt_concatenates_disks_and_rounds_outwards() {
    let expected = [
        request(0, Read, 2, 2, 0),
        request(1_000_000_000, Put, 11, 1, 0),
        request(1_000_000_000, Read, 12, 2, 0),
    ];
    check("srt", &srt(), &expected);
}

#[test]
fn srt_error_names_record() {
    let valid = srt();
    let first = valid.len() - 3 * 56;
    let error_with = |at: usize, word: u32| {
        let mut bytes = valid.clone();
        bytes[first + at..first + at + 4].copy_from_slice(&word.to_be_bytes());
        trace_reader::error(&bytes, None)
    };
    assert!(error_with(56 + 28, 24).starts_with("t:2:29: sector 24 and 256 bytes from there lie beyond"));
    assert!(error_with(112 + 32, 0x0800_0208).starts_with("t:3:33: disk 2 is not described"));
    assert!(error_with(4, 0x0003_0001).starts_with("t:1:1: record of length 56, version 3, type 1"));
    assert!(error_with(112 + 8, 2).starts_with("t:3:9: the request arrives 6000 ms before"));
    assert!(
        trace_reader::error(&valid[..valid.len() - 3], None)
            .starts_with("t:3:1: the last record is cut off: 53 of 56")
    );
    assert!(trace_reader::error(&valid[..first], None).contains("holds no requests"));
    assert!(trace_reader::error(&valid[..first - 2], None).contains("does not end"));
}

#[test]
fn every_format_has_name_and_description() {
    assert_eq!(format::LIST.len(), 16);
    for listed_format in format::LIST {
        assert_eq!(format::find(listed_format.name()).unwrap().name(), listed_format.name());
        assert!(!listed_format.description().is_empty());
    }
    let suggestion = format::find("disksim-asci").map(|_| ()).unwrap_err();
    assert!(suggestion.to_string().contains("did you mean `disksim-ascii`?"));
}

fn compress_all(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip2.write_all(text).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(text).unwrap();
    vec![
        ("gzip", gzip.finish().unwrap()),
        ("zstd", zstd::encode_all(text, 3).unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
    ]
}

#[test]
fn compression_is_detected_from_content() {
    let (a, b) = (b"0,R,0,512\n1,W,", b"512,512\n2,R,0,512\n");
    for ((name, mut first), (_, second)) in compress_all(a).into_iter().zip(compress_all(b)) {
        first.extend(second);
        assert_eq!(read(&first, OpenOptions::default()).unwrap().1.len(), 3, "{name}");
    }
}

#[test]
fn damaged_compressed_trace_is_user_error() {
    let lines: Vec<String> =
        (0..20_000).map(|i| format!("{i},R,{},4096", i * 7919 % 100_000 * 512)).collect();
    let text = lines.join("\n");
    for (name, compressed) in compress_all(text.as_bytes()) {
        let truncation_error = trace_reader::error(&compressed[..compressed.len() / 2], None);
        assert!(
            truncation_error.contains(&format!("the {name} data ends too early")),
            "{name}: {truncation_error}"
        );
        assert!(truncation_error.contains("help: "), "{truncation_error}");
        let mut damaged = compressed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 40].iter_mut().for_each(|byte| *byte ^= 0x5a);
        trace_reader::error(&damaged, None);
    }
}

#[test]
fn requests_before_an_error_are_returned() {
    use sledlab_core::Source;
    let text = b"0,R,0,512\n1,R,0,512\n0,R,0,512\n";
    let mut trace = open_reader("t", Box::new(&text[..]), OpenOptions::default()).unwrap();
    let mut requests = Vec::new();
    assert_eq!(trace.fill(&mut requests).unwrap(), 2);
    let first = trace.fill(&mut requests).unwrap_err();
    assert_eq!(first, trace.fill(&mut requests).unwrap_err());
    assert!(first.to_string().starts_with("t:3:1: the request arrives 0.001 ms before the one above it"));
}

#[test]
fn sort_window_reorders_late_request() {
    let text = b"128166372003061629,h,1,Read,0,512,1\n128166372003061620,h,1,Write,0,512,1\n\
        128166372003061640,h,1,Read,0,512,1\n";
    let options = |sort_window| OpenOptions { sort_window, ..OpenOptions::default() };
    assert!(read(text, options(0)).is_err());
    let sorted = read(text, options(1)).unwrap().1;
    assert_eq!(sorted.iter().map(|r| r.arrival.as_ns()).collect::<Vec<_>>(), [0, 900, 2000]);
    let later_trace = b"5,R,0,512\n6,R,0,512\n7,R,0,512\n4,R,0,512\n";
    assert!(read(later_trace, options(1)).unwrap_err().to_string().contains("longer window"));
    let sorted = read(later_trace, options(3)).unwrap().1;
    assert_eq!(
        sorted.iter().map(|request| request.arrival.as_ns()).collect::<Vec<_>>(),
        [0, 1000, 2000, 3000]
    );
}
