//! Fuzzes every reader of traces and work records: `cargo run --release -p sledlab-trace --example fuzz [-- TARGET
//! ...]`.
//!
//! A target is the name of a format, `sniff` (the format is to be recognized), `packed` (compressed traces) or `work`
//! (work records). Each runs for `FUZZ_SECONDS` (60) from `FUZZ_SEED` (the time of day). Valid traces are damaged, and
//! inputs that lead to a new result are damaged further. An input that violates an invariant is written to
//! `fuzz/artifacts`; `FUZZ_SEED` repeats the run.

mod check;
mod frame;
mod mutate;
mod samples;

use std::process::ExitCode;

use frame::Frame;
use sledlab_trace::format;

/// The target of work records, which are no traces.
const WORK: &str = "work";

fn main() -> ExitCode {
    let targets: Vec<&str> = format::names().chain(["sniff", "packed", WORK]).collect();
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = chosen.iter().find(|name| !targets.contains(&name.as_str())) {
        eprintln!("unknown target `{unknown}`; known: {}", targets.join(", "));
        return ExitCode::from(2);
    }
    let frame = Frame::from_environment();
    for target in
        targets.iter().filter(|target| chosen.is_empty() || chosen.iter().any(|name| name == **target))
    {
        if !fuzz(&frame, target) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Traces to begin with, and the format as which they are read.
fn initial_corpus(target: &str) -> (Vec<Vec<u8>>, Option<&str>) {
    let all_samples = || format::names().flat_map(samples::for_format);
    match target {
        WORK => (samples::work(), None),
        "sniff" => (all_samples().collect(), None),
        "packed" => (all_samples().flat_map(|sample| samples::compress_all(&sample)).collect(), None),
        format => (samples::for_format(format), Some(format)),
    }
}

/// Fuzzes a target; returns false if an invariant was violated.
fn fuzz(frame: &Frame, target: &str) -> bool {
    let (corpus, format) = initial_corpus(target);
    let check =
        |input: &[u8]| if target == WORK { check::check_work(input) } else { check::check(input, format) };
    frame.fuzz(target, corpus, mutate::mutate, check)
}
