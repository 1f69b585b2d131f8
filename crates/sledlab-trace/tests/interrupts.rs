//! Readers check for interrupts whatever the lines of a trace contain.

use std::cell::Cell;
use std::io::{Cursor, Read};

use sledlab_core::{Error, Source};
use sledlab_trace::{OpenOptions, interrupt, open_reader};

thread_local! {
    /// Checks until an interrupt; other tests of the program run in threads without one.
    static CHECKS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

fn check() -> Result<(), Error> {
    match CHECKS_LEFT.get() {
        Some(0) => Err(Error::interrupted()),
        Some(left) => {
            CHECKS_LEFT.set(Some(left - 1));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Lines without a request, by format.
const LINES: [(&str, &str, &str); 3] = [
    ("csv", "time_us,op,offset_bytes,length_bytes\n", "\n"),
    ("csv", "time_us,op,offset_bytes,length_bytes\n", "# a comment\n"),
    ("blkparse", "", "  8,0    1        1     0.000000000  1234  C   R 223490 + 8 [0]\n"),
];

#[test]
fn interrupt_ends_a_trace_without_requests() {
    interrupt::set_check(check);
    for (format, header, line) in LINES {
        let endless = Cursor::new(header).chain(Repeat { line, position: 0 });
        let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
        CHECKS_LEFT.set(Some(10));
        let outcome = open_reader("endless", Box::new(endless), options)
            .and_then(|mut trace| trace.fill(&mut Vec::new()));
        CHECKS_LEFT.set(None);
        assert!(outcome.is_err_and(|error| error.is_interrupt()), "{format} {line:?}");
    }
}

/// A line, repeated without end.
struct Repeat {
    line: &'static str,
    position: usize,
}

impl Read for Repeat {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let text = self.line.as_bytes();
        for byte in into.iter_mut() {
            *byte = text[self.position];
            self.position = (self.position + 1) % text.len();
        }
        Ok(into.len())
    }
}
