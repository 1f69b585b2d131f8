//! Requests that are written are read back unchanged.

use std::path::PathBuf;

use crate::trace_reader::{read_all, request};
use proptest::prelude::*;
use sledlab_core::Op::{Flush, Read, Trim, Write};
use sledlab_core::Request;
use sledlab_trace::writer::{WriteOptions, create, create_with_options};
use sledlab_trace::{OpenOptions, Start, open};

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
    let options = OpenOptions { format, start: Start::Zero, ..OpenOptions::default() };
    assert_eq!(read_all(open(&scratch.0, options).unwrap()).unwrap(), requests);
}

/// The same requests, some of them for metadata, using random parts of their last blocks.
fn with_partial_blocks(requests: &[Request], details: &[(bool, u8)]) -> Vec<Request> {
    let details = details.iter().cycle();
    let with = |(request, (metadata, unwanted)): (&Request, &(bool, u8))| {
        let unrequested_words = if request.op.is_media() { *unwanted } else { 0 };
        Request { metadata: *metadata, unrequested_words, ..*request }
    };
    requests.iter().zip(details).map(with).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn csv_with_metadata_round_trips(all in requests(4), details in prop::collection::vec((any::<bool>(), 0_u8..64), 1..50)) {
        let all = with_partial_blocks(&all, &details);
        check("e.csv", WriteOptions { device_column: true, ..WriteOptions::default() }, &all);
    }

    #[test]
    fn csv_round_trips(all in requests(4), packing in 0_usize..3) {
        let name = ["a.csv", "a.csv.gz", "a.csv.zst"][packing];
        check(name, WriteOptions { device_column: true, ..WriteOptions::default() }, &all);
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
    let part = Request { unrequested_words: 48, ..request(1_000, Read, 1, 1, 0) };
    assert_eq!(text(&[part]), "time_us,op,offset_bytes,length_bytes\n1,R,512,128\n");
    assert_eq!(text(&[]), "time_us,op,offset_bytes,length_bytes\n");
    let metadata = Request { metadata: true, ..request(2_000, Write, 2, 1, 0) };
    let result = text(&[part, metadata, part]);
    let expected =
        "time_us,op,offset_bytes,length_bytes,device,metadata\n1,R,512,128,0,0\n2,W,1024,512,0,1\n";
    assert!(result.starts_with(expected) && result.ends_with("\n1,R,512,128,0,0\n"), "{result}");
}

#[test]
fn late_metadata_is_rejected() {
    let scratch = Scratch::new("g.csv");
    let plain = request(0, Read, 1, 1, 0);
    let metadata = Request { metadata: true, ..plain };
    let after = |count: u32| {
        let mut writer = create(&scratch.0, None).unwrap();
        (0..count).for_each(|_| writer.write(&plain).unwrap());
        writer.write(&metadata).map_err(|error| error.to_string())
    };
    assert_eq!(after(65_535), Ok(()));
    let text = after(65_536).unwrap_err();
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
