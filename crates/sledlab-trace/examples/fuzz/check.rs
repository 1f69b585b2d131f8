//! What must hold for whatever bytes a reader is given.

use std::io::{self, Read};

use sledlab_core::error::Blame;
use sledlab_core::{Error, Op, Request, Result, Source};
use sledlab_trace::{OpenOptions, open_reader};

/// Bytes in memory, handed out in pieces.
struct Pieces {
    bytes: Vec<u8>,
    next: usize,
    size: usize,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.size.min(into.len()).min(self.bytes.len() - self.next);
        into[..count].copy_from_slice(&self.bytes[self.next..self.next + count]);
        self.next += count;
        Ok(count)
    }
}

fn read(bytes: &[u8], format: Option<&str>, sort_window: usize, size: usize) -> (Vec<Request>, Result<()>) {
    let mut requests = Vec::new();
    let reader = Box::new(Pieces { bytes: bytes.to_vec(), next: 0, size });
    let options = OpenOptions { format, sort_window, ..OpenOptions::default() };
    let outcome = open_reader("t", reader, options).and_then(|mut trace| {
        loop {
            let before = requests.len();
            let count = trace.fill(&mut requests)?;
            assert_eq!(requests.len(), before + count, "the count is what was appended");
            if count == 0 {
                assert_eq!(trace.fill(&mut requests)?, 0, "the end stays the end");
                return Ok(());
            }
        }
    });
    (requests, outcome)
}

/// Reads `bytes` in several ways and panics where a promise is broken. Returns a signature of
/// what happened, by which inputs that do something new are told.
pub fn check(bytes: &[u8], format: Option<&str>) -> String {
    let (requests, outcome) = read(bytes, format, 0, usize::MAX);
    in_order_and_possible(&requests);
    if let Err(error) = &outcome {
        helpful(error);
    } else {
        assert!(!requests.is_empty(), "a trace without requests is an error");
    }
    // How the bytes arrive makes no difference, but to how much of a damaged archive is unpacked.
    let (again, outcome_again) = read(bytes, format, 0, 1 + bytes.len() % 97);
    assert_eq!(outcome.is_ok(), outcome_again.is_ok());
    if !outcome.as_ref().is_err_and(|error| error.to_string().contains("the file again")) {
        assert_eq!((&requests, &outcome), (&again, &outcome_again));
    }
    let (sorted, outcome_sorted) = read(bytes, format, 4, usize::MAX);
    in_order_and_possible(&sorted);
    if let Err(error) = &outcome_sorted {
        helpful(error);
    }
    let message = outcome.err().map(|error| error.message().to_owned()).unwrap_or_default();
    let words: String = message.chars().filter(|c| !c.is_ascii_digit()).collect();
    let kinds: String = requests.iter().take(4).map(|request| request.op.letter()).collect();
    format!("{kinds} {words}")
}

fn in_order_and_possible(requests: &[Request]) {
    assert!(requests.is_sorted_by_key(|request| request.arrival), "arrivals decrease");
    for request in requests {
        assert_eq!(request.blocks == 0, request.op == Op::Flush, "{request:?}");
        let end = request.lbn.checked_add(u64::from(request.blocks)).and_then(|end| end.checked_mul(512));
        assert!(end.is_some(), "{request:?}");
    }
}

fn helpful(error: &Error) {
    assert_eq!(error.blame(), Blame::User, "{error}");
    assert!(error.remedy().is_some(), "no remedy: {error}");
    assert!(error.to_string().len() < 2000, "too long: {error}");
}
