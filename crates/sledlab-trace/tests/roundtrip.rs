//! Requests that are written are read back unchanged.

use std::path::PathBuf;

use crate::trace_reader::{read_all, request};
use proptest::prelude::*;
use sledlab_core::Op::{Flush, Read, Trim, Write};
use sledlab_core::{Request, Time};
use sledlab_trace::writer::{LIST, WriteOptions, create, create_with_options};
use sledlab_trace::{OpenOptions, TraceStart, open};

/// A temporary file of one test, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Scratch(std::env::temp_dir().join(format!("sledlab-{}-{name}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn requests(ops: u32) -> impl Strategy<Value = Vec<Request>> {
    let one = (0_u64..1 << 40, 0_u64..1 << 54, 1_u32..=u32::MAX, 0..=u16::MAX, 0..ops);
    prop::collection::vec(one, 1..300).prop_map(|all| {
        let mut ns = 0;
        let make = |(gap, lbn, blocks, device, op)| {
            ns += gap;
            match op {
                0 => request(ns, Read, lbn, blocks, device),
                1 => request(ns, Write, lbn, blocks, device),
                2 => request(ns, Trim, lbn, blocks, device),
                _ => request(ns, Flush, 0, 0, device),
            }
        };
        all.into_iter().map(make).collect()
    })
}

fn check(name: &str, options: WriteOptions, requests: &[Request]) {
    let scratch = Scratch::new(name);
    let mut writer = create_with_options(&scratch.0, options).unwrap();
    for request in requests {
        writer.write(request).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), requests.len() as u64);
    let format = Some(if name.contains(".csv") { "csv" } else { "disksim-ascii" });
    let options = OpenOptions { format, start: TraceStart::Zero, ..OpenOptions::default() };
    assert_eq!(read_all(open(&scratch.0, options).unwrap()).unwrap(), requests);
}

/// The requests as a format reads them back that counts from the first request in units of `unit_ns` and names devices.
fn in_recorded_units(requests: &[Request], unit_ns: u64) -> Vec<Request> {
    let rounded_ns = |request: &Request| (request.arrival.as_ns() + unit_ns / 2) / unit_ns * unit_ns;
    let start_ns = requests.first().map_or(0, rounded_ns);
    let mut names = Vec::new();
    let mut number = |device: u16| {
        names.iter().position(|name| *name == device).unwrap_or_else(|| {
            names.push(device);
            names.len() - 1
        })
    };
    let read_back = |request: &Request| Request {
        arrival: Time::from_ns(rounded_ns(request) - start_ns),
        device: number(request.device) as u16,
        ..*request
    };
    requests.iter().map(read_back).collect()
}

fn check_recorded(name: &str, format: Option<&str>, unit_ns: u64, requests: &[Request]) {
    let scratch = Scratch::new(name);
    let mut writer = create(&scratch.0, format).unwrap();
    for request in requests {
        writer.write(request).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), requests.len() as u64);
    let read_back = read_all(open(&scratch.0, OpenOptions::default()).unwrap()).unwrap();
    assert_eq!(read_back, in_recorded_units(requests, unit_ns));
}

/// The same requests, some of them for metadata, using random parts of their last blocks.
fn with_partial_blocks(requests: &[Request], details: &[(bool, u8)]) -> Vec<Request> {
    let details = details.iter().cycle();
    let with_details = |(request, (metadata, unrequested)): (&Request, &(bool, u8))| {
        let unrequested_words = if request.op.is_media() { *unrequested } else { 0 };
        Request { metadata: *metadata, unrequested_words, ..*request }
    };
    requests.iter().zip(details).map(with_details).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn csv_with_metadata_round_trips(
        all in requests(4),
        details in prop::collection::vec((any::<bool>(), 0_u8..64), 1..50),
    ) {
        let all = with_partial_blocks(&all, &details);
        check("e.csv", WriteOptions { device_column: true, ..WriteOptions::default() }, &all);
    }

    #[test]
    fn csv_round_trips(all in requests(4), packing in 0_usize..3) {
        let name = ["a.csv", "a.csv.gz", "a.csv.zst"][packing];
        check(name, WriteOptions { device_column: true, ..WriteOptions::default() }, &all);
    }

    #[test]
    fn fio_iolog_round_trips(all in requests(4), packing in 0_usize..3) {
        let all: Vec<Request> = all.into_iter().map(|request| Request { blocks: request.blocks >> 9, ..request })
            .filter(|request| request.blocks > 0 || request.op == Flush).collect();
        prop_assume!(!all.is_empty());
        check_recorded(["h.iolog", "h.iolog.gz", "h.iolog.zst"][packing], None, 1000, &all);
    }

    #[test]
    fn msr_round_trips(all in requests(2)) {
        check_recorded("i.csv", Some("msr"), 100, &all);
    }

    #[test]
    fn spc_round_trips(all in requests(2), packing in 0_usize..2) {
        check_recorded(["j.spc", "j.spc.gz"][packing], None, 1, &all);
    }

    #[test]
    fn disksim_ascii_round_trips(all in requests(2), packing in 0_usize..3) {
        check(["b.txt", "b.trace.gz", "b.ascii.zst"][packing], WriteOptions::default(), &all);
    }
}

#[test]
fn times_are_integer_microseconds_if_exact() {
    let scratch = Scratch::new("c.csv");
    let mut writer = create(&scratch.0, None).unwrap();
    for request in [request(2_000, Read, 1, 2, 0), request(2_010, Flush, 0, 0, 0)] {
        writer.write(&request).unwrap();
    }
    writer.finish().unwrap();
    let text = std::fs::read_to_string(&scratch.0).unwrap();
    assert_eq!(text, "time_us,op,offset_bytes,length_bytes\n2,R,512,1024\n2.01,F,0,0\n");
}

fn written(name: &str, format: Option<&str>, requests: &[Request]) -> String {
    let scratch = Scratch::new(name);
    let mut writer = create(&scratch.0, format).unwrap();
    for request in requests {
        writer.write(request).unwrap();
    }
    writer.finish().unwrap();
    std::fs::read_to_string(&scratch.0).unwrap()
}

#[test]
fn fio_iolog_opens_and_closes_each_device() {
    let requests = [
        request(1_499, Read, 1, 2, 7),
        request(1_500, Trim, 0, 8, 3),
        request(2_000, Flush, 0, 0, 7),
        Request { unrequested_words: 1, ..request(9_999, Write, 3, 1, 7) },
    ];
    let expected = "fio version 3 iolog\n1 device-7 add\n1 device-7 open\n1 device-7 read 512 1024\n\
        2 device-3 add\n2 device-3 open\n2 device-3 trim 0 4096\n2 device-7 sync 0 0\n\
        10 device-7 write 1536 504\n10 device-3 close\n10 device-7 close\n";
    assert_eq!(written("k.iolog", None, &requests), expected);
    assert_eq!(written("l.iolog", None, &[]), "fio version 3 iolog\n");
}

#[test]
fn msr_and_spc_lines_follow_their_formats() {
    let requests = [request(150, Read, 1, 2, 0), request(1_250_000_249, Write, 8, 16, 5)];
    let msr = "2,sledlab,0,Read,512,1024,0\n12500002,sledlab,5,Write,4096,8192,0\n";
    assert_eq!(written("m.csv", Some("msr"), &requests), msr);
    assert_eq!(written("n.spc", None, &requests), "0,1,1024,R,0.00000015\n5,8,8192,W,1.250000249\n");
}

#[test]
fn oracle_general_records_have_next_request_of_object() {
    let scratch = Scratch::new("p.oracleGeneral");
    let second = 1_000_000_000;
    let requests = [(2 * second - 1, Read, 8), (2 * second, Write, 16), (5 * second, Read, 8)];
    let requests = requests.map(|(ns, op, lbn)| request(ns, op, lbn, 2, 0));
    let mut writer = create(&scratch.0, None).unwrap();
    for request in &requests {
        writer.write(request).unwrap();
    }
    let error = writer.write(&request(6 * second, Read, 8, 2, 3)).unwrap_err().to_string();
    assert!(error.contains("oracle-general has no devices; found device 3"), "{error}");
    assert_eq!(writer.finish().unwrap(), 3);
    let record = |seconds: u32, object: u64, next: i64| {
        [&seconds.to_le_bytes()[..], &object.to_le_bytes(), &1024_u32.to_le_bytes(), &next.to_le_bytes()]
            .concat()
    };
    let expected = [record(1, 8, 2), record(2, 16, -1), record(5, 8, -1)].concat();
    assert_eq!(std::fs::read(&scratch.0).unwrap(), expected);
    let options =
        OpenOptions { format: Some("oracle-general"), start: TraceStart::Zero, ..OpenOptions::default() };
    let read_back = read_all(open(&scratch.0, options).unwrap()).unwrap();
    assert_eq!(
        read_back.iter().map(|request| (request.lbn, request.blocks)).collect::<Vec<_>>(),
        [(8, 2), (16, 2), (8, 2)]
    );
}

#[test]
fn formats_without_trims_reject_or_drop_them() {
    let scratch = Scratch::new("o.out");
    for format in ["msr", "spc", "disksim-ascii", "oracle-general"] {
        let mut strict = create(&scratch.0, Some(format)).unwrap();
        let message = strict.write(&request(0, Flush, 0, 0, 0)).unwrap_err().to_string();
        assert!(message.contains(&format!("{format} supports reads and writes only")), "{message}");
        let options = WriteOptions { format: Some(format), media_only: true, ..WriteOptions::default() };
        let mut lenient = create_with_options(&scratch.0, options).unwrap();
        lenient.write(&request(0, Trim, 1, 1, 0)).unwrap();
        assert_eq!(lenient.finish().unwrap(), 0);
    }
    let mut fio = create(&scratch.0, Some("fio-iolog")).unwrap();
    let message = fio.write(&request(0, Read, 0, 1 << 23, 0)).unwrap_err().to_string();
    assert!(message.contains("fio reads less than 4 GiB"), "{message}");
}

#[test]
fn every_writer_has_a_reader_and_its_own_endings() {
    let mut endings = std::collections::BTreeSet::new();
    for format in LIST {
        assert!(sledlab_trace::format::LIST.iter().any(|reader| reader.name() == format.name));
        assert!(format.extensions.iter().all(|extension| endings.insert(*extension)), "{}", format.name);
    }
}

#[test]
fn optional_columns_are_written_only_if_needed() {
    let text = |requests: &[Request]| {
        let scratch = Scratch::new("f.csv");
        let mut writer = create(&scratch.0, None).unwrap();
        for request in requests {
            writer.write(request).unwrap();
        }
        writer.finish().unwrap();
        std::fs::read_to_string(&scratch.0).unwrap()
    };
    let partial = Request { unrequested_words: 48, ..request(1_000, Read, 1, 1, 0) };
    assert_eq!(text(&[partial]), "time_us,op,offset_bytes,length_bytes\n1,R,512,128\n");
    assert_eq!(text(&[]), "time_us,op,offset_bytes,length_bytes\n");
    let metadata = Request { metadata: true, ..request(2_000, Write, 2, 1, 0) };
    let table = text(&[partial, metadata, partial]);
    let expected =
        "time_us,op,offset_bytes,length_bytes,device,metadata\n1,R,512,128,0,0\n2,W,1024,512,0,1\n";
    assert!(table.starts_with(expected) && table.ends_with("\n1,R,512,128,0,0\n"), "{table}");
}

#[test]
fn late_metadata_is_rejected() {
    let scratch = Scratch::new("g.csv");
    let data_request = request(0, Read, 1, 1, 0);
    let metadata = Request { metadata: true, ..data_request };
    let write_after = |count: u32| {
        let mut writer = create(&scratch.0, None).unwrap();
        (0..count).for_each(|_| writer.write(&data_request).unwrap());
        writer.write(&metadata).map_err(|error| error.to_string())
    };
    assert_eq!(write_after(65_535), Ok(()));
    let text = write_after(65_536).unwrap_err();
    assert!(text.contains("request 65536 is the first for metadata"), "{text}");
}

#[test]
fn unsupported_requests_are_rejected_or_dropped() {
    let scratch = Scratch::new("d.txt");
    let trim = request(0, Trim, 1, 1, 0);
    let mut strict = create(&scratch.0, None).unwrap();
    assert!(strict.write(&trim).unwrap_err().to_string().contains("--media-only"));
    let mut lenient =
        create_with_options(&scratch.0, WriteOptions { media_only: true, ..WriteOptions::default() })
            .unwrap();
    lenient.write(&trim).unwrap();
    assert_eq!(lenient.finish().unwrap(), 0);
    let csv = Scratch::new("d.csv");
    let mut writer = create(&csv.0, None).unwrap();
    assert!(writer.write(&request(0, Read, 1, 1, 3)).unwrap_err().to_string().contains("for device 3"));
    let message = |path: &str, format| create(path, format).map(|_| ()).unwrap_err().to_string();
    assert!(message("x.dat", None).contains("cannot detect the output format"));
    assert!(message("x.csv", Some("cvs")).contains("did you mean `csv`?"));
    assert!(message("/nowhere/x.csv", None).contains("cannot create"));
}
