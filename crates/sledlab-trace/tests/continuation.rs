//! Traces that continue one another share device numbers and a clock, and are sorted into files by device.

use std::fs;
use std::io::Cursor;

use sledlab_core::{Request, Source};
use sledlab_trace::spill::{RECORD_BYTES, Spill};
use sledlab_trace::{Continuation, OpenOptions, open_reader};

fn open_day(text: &str, continuation: &Continuation, sort_window: usize) -> impl Source + use<> {
    let format = Some("alibaba");
    let options =
        OpenOptions { format, continuation: Some(continuation), sort_window, ..OpenOptions::default() };
    open_reader("day", Box::new(Cursor::new(text.as_bytes().to_vec())), options).unwrap()
}

fn read(text: &str, continuation: &Continuation, sort_window: usize) -> Vec<(u16, u64)> {
    let mut source = open_day(text, continuation, sort_window);
    let mut requests: Vec<Request> = Vec::new();
    while source.fill(&mut requests).unwrap() > 0 {}
    requests.iter().map(|request| (request.device, request.arrival.as_ns())).collect()
}

const FIRST: &str = "12,R,0,4096,1000\n138,W,0,512,1001\n";
const SECOND: &str = "7,R,0,4096,1002\n12,W,0,512,1005\n";

#[test]
fn devices_and_times_continue_across_files() {
    for sort_window in [0, 5] {
        let continuation = Continuation::default();
        assert_eq!(read(FIRST, &continuation, sort_window), [(0, 0), (1, 1000)]);
        assert_eq!(read(SECOND, &continuation, sort_window), [(2, 2000), (0, 5000)]);
        let names: Vec<String> =
            continuation.names().iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        assert_eq!(names, ["12", "138", "7"]);
        assert_eq!(continuation.base_ns(), Some(1_000_000));
    }
}

#[test]
fn time_origin_may_precede_trace() {
    assert_eq!(read(FIRST, &Continuation::with_base_ns(400_000), 0), [(0, 600_000), (1, 601_000)]);
}

#[test]
fn request_before_time_origin_is_rejected() {
    for sort_window in [0, 5] {
        let continuation = Continuation::default();
        read(SECOND, &continuation, sort_window);
        let error =
            open_day(FIRST, &continuation, sort_window).fill(&mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("before the first of the traces that share its clock"), "{error}");
    }
}

#[test]
fn requests_are_written_to_their_device_file() {
    let directory = std::env::temp_dir().join(format!("sledlab-spill-{}", std::process::id()));
    fs::create_dir(&directory).unwrap();
    let continuation = Continuation::default();
    let mut spill = Spill::create(&directory, 2).unwrap();
    let mut chunk = Vec::new();
    for text in [FIRST, SECOND] {
        let mut source = open_day(text, &continuation, 0);
        while spill.write_chunk(&mut source, &mut chunk).unwrap() > 0 {}
    }
    let error =
        spill.write_chunk(&mut open_day(FIRST, &continuation, 0), &mut chunk).unwrap_err().to_string();
    assert!(error.contains("before the end of the trace that it continues"), "{error}");
    assert_eq!(spill.finish().unwrap(), 4);
    let [even, odd] = ["0", "1"].map(|name| fs::read(directory.join(name)).unwrap());
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!((even.len(), odd.len()), (3 * RECORD_BYTES, RECORD_BYTES));
    let [arrival, lbn] = [0, 8].map(|at| u64::from_le_bytes(odd[at..at + 8].try_into().unwrap()));
    assert_eq!((arrival, lbn, &odd[16..]), (1000, 0, &[1, 0, 0, 0, 1, 0, 1, 0][..]));
    let devices = even.as_chunks::<RECORD_BYTES>().0.iter().map(|record| record[20]);
    assert_eq!(devices.collect::<Vec<u8>>(), [0, 2, 0]);
}
