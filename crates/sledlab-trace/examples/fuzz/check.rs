//! Promises that every reader must keep, whatever bytes it reads.

use std::io::{self, Read};

use sledlab_core::error::ErrorOrigin;
use sledlab_core::{Error, Op, Request, Result, Source};
use sledlab_trace::work::Work;
use sledlab_trace::{OpenOptions, open_reader};

/// Bytes in memory, read in pieces of a given size.
struct Pieces {
    bytes: Vec<u8>,
    next: usize,
    size: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.size.min(buffer.len()).min(self.bytes.len() - self.next);
        buffer[..count].copy_from_slice(&self.bytes[self.next..self.next + count]);
        self.next += count;
        Ok(count)
    }
}

fn read(bytes: &[u8], format: Option<&str>, sort_window: usize, size: usize) -> (Vec<Request>, Result<()>) {
    let mut requests = Vec::new();
    let reader = Box::new(Pieces { bytes: bytes.to_vec(), next: 0, size });
    // Tables are read by the names of their columns, or by numbers that mean the same for the valid sample.
    let by_number = format == Some("columns") && bytes.len() % 2 == 1;
    let columns = by_number.then_some("time=2,op=3,offset=5,length=1");
    let options = OpenOptions { format, columns, sort_window, ..OpenOptions::default() };
    let outcome = open_reader("t", reader, options).and_then(|mut trace| {
        loop {
            let old_len = requests.len();
            let count = trace.fill(&mut requests)?;
            assert_eq!(requests.len(), old_len + count, "the count is what was appended");
            if count == 0 {
                assert_eq!(trace.fill(&mut requests)?, 0, "the end stays the end");
                return Ok(());
            }
        }
    });
    (requests, outcome)
}

/// Reads `bytes` in several ways and panics if a reader violates an invariant. Returns a signature of the result, by
/// which inputs with a new result are recognized.
pub fn check(bytes: &[u8], format: Option<&str>) -> String {
    let (requests, outcome) = read(bytes, format, 0, usize::MAX);
    check_requests(&requests);
    if let Err(error) = &outcome {
        check_error(error);
    } else {
        assert!(!requests.is_empty(), "a trace without requests is an error");
    }
    // The sizes of the pieces make no difference, except to how much of a damaged archive is unpacked.
    let (repeated, repeated_outcome) = read(bytes, format, 0, 1 + bytes.len() % 97);
    assert_eq!(outcome.is_ok(), repeated_outcome.is_ok());
    if !outcome.as_ref().is_err_and(|error| error.to_string().contains("the file again")) {
        assert_eq!((&requests, &outcome), (&repeated, &repeated_outcome));
    }
    let (sorted_requests, sorted_outcome) = read(bytes, format, 4, usize::MAX);
    check_requests(&sorted_requests);
    if let Err(error) = &sorted_outcome {
        check_error(error);
    }
    let words = message_words(outcome.err());
    let kinds: String = requests.iter().take(4).map(|request| request.op.letter()).collect();
    format!("{kinds} {words}")
}

/// Like [`check`], for a work record.
pub fn check_work(bytes: &[u8]) -> String {
    let read = |size| Work::parse("w", Pieces { bytes: bytes.to_vec(), next: 0, size });
    let outcome = read(usize::MAX);
    let repeated = read(1 + bytes.len() % 97);
    assert_eq!(outcome.is_ok(), repeated.is_ok());
    let work = match outcome {
        Ok(work) => work,
        Err(error) => {
            check_error(&error);
            return message_words(Some(error));
        }
    };
    assert_eq!(Ok(&work), repeated.as_ref());
    assert!(!work.phases.is_empty(), "a record without phases is an error");
    check_work_indices(&work);
    let mut written_bytes = Vec::new();
    work.write(&mut written_bytes).expect("what was read can be written");
    let reread =
        Work::parse("written", io::Cursor::new(written_bytes.clone())).expect("what was written can be read");
    assert_eq!(reread, work, "what was written is what was read");
    let mut rewritten = Vec::new();
    reread.write(&mut rewritten).expect("it can be written again");
    assert_eq!(rewritten, written_bytes, "the same record is the same bytes");
    let steps = work.phases.iter().flat_map(|phase| &phase.steps);
    let orders = steps.flat_map(|step| &step.reads).take(4);
    format!("{:?}", orders.map(|access| access.order).collect::<Vec<_>>())
}

/// Checks that every index is within its list, and that all bytes sent are received.
fn check_work_indices(work: &Work) {
    for phase in &work.phases {
        assert_eq!(phase.steps.len(), work.nodes);
        assert_eq!(phase.bytes_sent().sum::<u64>(), phase.bytes_received().iter().sum::<u64>());
        for (node, step) in phase.steps.iter().enumerate() {
            assert!(step.sends.is_sorted_by(|a, b| a.0 < b.0), "ports in order: {step:?}");
            assert!(step.sends.iter().all(|(port, bytes)| *port <= work.client() && *bytes > 0));
            assert!(step.operations.iter().all(|(kind, count)| *kind < work.kinds.len() && *count > 0));
            for access in step.reads.iter().chain(&step.writes) {
                assert!((1..=work.files[access.file].bytes[node]).contains(&access.bytes), "{access:?}");
                assert!(access.per_block_of.is_none_or(|outer| work.files[outer].bytes[node] > 0));
            }
        }
        for collective in &phase.collectives {
            assert_eq!(collective.bytes.len(), collective.members.len());
            assert!(collective.root < collective.members.len());
            assert!(collective.members.is_sorted_by(|a, b| a < b));
            assert!(collective.members.iter().all(|node| *node < work.nodes));
        }
    }
}

/// A message without its numbers, as a signature.
fn message_words(error: Option<Error>) -> String {
    let message = error.map(|error| error.message().to_owned()).unwrap_or_default();
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn check_requests(requests: &[Request]) {
    assert!(requests.is_sorted_by_key(|request| request.arrival), "arrivals decrease");
    for request in requests {
        assert_eq!(request.blocks == 0, request.op == Op::Flush, "{request:?}");
        let end = request.lbn.checked_add(u64::from(request.blocks)).and_then(|end| end.checked_mul(512));
        assert!(end.is_some(), "{request:?}");
    }
}

fn check_error(error: &Error) {
    assert_eq!(error.origin(), ErrorOrigin::User, "{error}");
    assert!(error.remedy().is_some(), "no remedy: {error}");
    assert!(error.to_string().len() < 2000, "too long: {error}");
}
