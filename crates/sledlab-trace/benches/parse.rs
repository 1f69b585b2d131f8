//! Nanoseconds per request of the text readers, from memory.

use std::fmt::Write as _;
use std::io::Cursor;

use sledlab_core::Source;
use sledlab_trace::transform::{Fit, OutsidePolicy, TransformedSource};
use sledlab_trace::{OpenOptions, OpenedTrace, open_reader};

const REQUESTS: u64 = 1_000_000;

fn main() {
    divan::main();
}

/// Deterministic, uneven numbers, so that branches are as hard to guess as in a real trace.
fn scatter(i: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

fn disksim_ascii() -> String {
    (0..REQUESTS).fold(String::new(), |mut text, i| {
        let ns = i * 700_000 + scatter(i) % 600_000;
        let (ms, fraction_ns) = (ns / 1_000_000, ns % 1_000_000);
        let (lbn, blocks) = (scatter(i + 7) % 6_750_000, 1 + scatter(i + 3) % 24);
        let _ = writeln!(text, "{ms}.{fraction_ns:06} 0 {lbn} {blocks} {}", scatter(i + 5) % 2);
        text
    })
}

fn csv() -> String {
    (0..REQUESTS).fold("time_us,op,offset_bytes,length_bytes\n".to_owned(), |mut text, i| {
        let us = i * 700 + scatter(i) % 600;
        let offset = scatter(i + 7) % 6_750_000 * 512;
        let op = ["R", "W", "R", "F"][(scatter(i + 5) % 4) as usize];
        let length = 4096 * (1 + scatter(i + 3) % 32);
        let _ = writeln!(text, "{us},{op},{offset},{length}");
        text
    })
}

fn open_text(text: &'static [u8]) -> OpenedTrace {
    open_reader("memory", Box::new(Cursor::new(text)), OpenOptions::default()).expect("opens")
}

fn count(mut source: impl Source) -> usize {
    let mut requests = Vec::new();
    let mut total = 0;
    loop {
        requests.clear();
        match source.fill(&mut requests).expect("reads") {
            0 => return total,
            n => total += n,
        }
    }
}

#[divan::bench(args = ["disksim-ascii", "csv"])]
fn parse(bencher: divan::Bencher, format: &str) {
    let text = if format == "csv" { csv() } else { disksim_ascii() };
    let text: &'static [u8] = text.leak().as_bytes();
    bencher.counter(divan::counter::ItemsCount::new(REQUESTS)).bench(|| count(open_text(text)));
}

/// The time of checking that requests lie inside the device.
#[divan::bench]
fn parse_and_fit(bencher: divan::Bencher) {
    let text: &'static [u8] = disksim_ascii().leak().as_bytes();
    let fit = || Fit::new(OutsidePolicy::Reject, 6_760_000, None).expect("has blocks");
    bencher
        .counter(divan::counter::ItemsCount::new(REQUESTS))
        .bench(|| count(TransformedSource::new(open_text(text), fit())));
}
