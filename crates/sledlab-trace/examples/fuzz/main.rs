//! Fuzzes every reader of traces and work records: `cargo run --release -p sledlab-trace --example fuzz [-- TARGET ...]`.
//!
//! A target is the name of a format, `sniff` (the format is to be recognised), `packed`
//! (compressed traces) or `work` (work records). Each runs for `FUZZ_SECONDS` (60) from `FUZZ_SEED` (the time of day).
//! Valid traces are damaged, and what leads to something not seen before is damaged further. An
//! input that breaks a promise is written to `fuzz/artifacts`; `FUZZ_SEED` repeats the run.

mod check;
mod mutate;
mod samples;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::RngExt;
use sledlab_trace::format;

/// Inputs kept for further damage.
const CORPUS: usize = 5_000;

/// The target that is no trace.
const WORK: &str = "work";

fn main() -> ExitCode {
    let known: Vec<&str> = format::names().chain(["sniff", "packed", WORK]).collect();
    let named: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = named.iter().find(|name| !known.contains(&name.as_str())) {
        eprintln!("unknown target `{unknown}`; known: {}", known.join(", "));
        return ExitCode::from(2);
    }
    let seconds = variable("FUZZ_SECONDS").unwrap_or(60);
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |passed| passed.as_secs());
    let seed = variable("FUZZ_SEED").unwrap_or(clock);
    println!("seed {seed}, {seconds} s a target");
    for target in known.iter().filter(|target| named.is_empty() || named.iter().any(|name| name == **target))
    {
        if !fuzz(target, Duration::from_secs(seconds), seed) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Traces to begin with, and the format they are read as.
fn start(target: &str) -> (Vec<Vec<u8>>, Option<&str>) {
    let every = || format::names().flat_map(samples::of);
    match target {
        WORK => (samples::work(), None),
        "sniff" => (every().collect(), None),
        "packed" => (every().flat_map(|sample| samples::packed(&sample)).collect(), None),
        format => (samples::of(format), Some(format)),
    }
}

/// False when a promise was broken.
fn fuzz(target: &str, time: Duration, seed: u64) -> bool {
    let (mut corpus, format) = start(target);
    let mut rng = sledlab_core::seed::stream(seed, target);
    let mut seen: HashSet<String> = HashSet::new();
    let began = Instant::now();
    let mut runs = 0_u64;
    while began.elapsed() < time {
        let mut pick = || rng.random_range(0..corpus.len());
        let (trace, other) = (pick(), pick());
        let input = mutate::mutate(&mut rng, &corpus[trace], &corpus[other]);
        let check = || if target == WORK { check::check_work(&input) } else { check::check(&input, format) };
        let Ok(signature) = catch_unwind(AssertUnwindSafe(check)) else {
            let kept = keep(target, &input);
            println!("{target}: broken after {runs} runs, seed {seed}; the input is in {}", kept.display());
            return false;
        };
        if seen.insert(signature) && corpus.len() < CORPUS {
            corpus.push(input);
        }
        runs += 1;
    }
    println!("{target}: {runs} runs, {} different outcomes", seen.len());
    true
}

fn keep(target: &str, input: &[u8]) -> PathBuf {
    let folder = PathBuf::from("fuzz/artifacts");
    let path = folder.join(format!("{target}-{:08x}", fingerprint(input)));
    if let Err(error) = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input)) {
        eprintln!("cannot keep the input: {error}");
    }
    path
}

fn fingerprint(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, byte| sum.rotate_left(5) ^ u32::from(*byte).wrapping_mul(0x9e37_79b9))
}
