//! The loop of every fuzzer: damage inputs, check them, keep those with a new result, report those that break a
//! promise.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::RngExt;
use sledlab_core::seed::{self, Stream};

/// Inputs kept for further damage.
const MAX_CORPUS: usize = 5_000;

/// How long to fuzz, and from which seed.
pub struct Frame {
    seed: u64,
    time: Duration,
}

impl Frame {
    /// The settings from `FUZZ_SECONDS` (60) and `FUZZ_SEED` (the time of day); prints both.
    pub fn from_environment() -> Self {
        let seconds = parse_variable("FUZZ_SECONDS").unwrap_or(60);
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |elapsed| elapsed.as_secs());
        let seed = parse_variable("FUZZ_SEED").unwrap_or(clock);
        println!("seed {seed}, {seconds} s a target");
        Frame { seed, time: Duration::from_secs(seconds) }
    }

    /// Damages inputs, with pieces of others, and checks them. `check` panics if an invariant is violated, and returns
    /// a signature of the result, by which inputs with a new result are recognized. Returns false if an invariant was
    /// broken; the input is kept in `fuzz/artifacts`.
    pub fn fuzz(
        &self,
        target: &str,
        mut corpus: Vec<Vec<u8>>,
        mutate: impl Fn(&mut Stream, &[u8], &[u8]) -> Vec<u8>,
        check: impl Fn(&[u8]) -> String,
    ) -> bool {
        let mut rng = seed::stream(self.seed, target);
        let mut signatures: HashSet<String> = HashSet::new();
        let start = Instant::now();
        let mut runs = 0_u64;
        while start.elapsed() < self.time {
            let mut pick = || rng.random_range(0..corpus.len());
            let (sample, other) = (pick(), pick());
            let input = mutate(&mut rng, &corpus[sample], &corpus[other]);
            let Ok(signature) = catch_unwind(AssertUnwindSafe(|| check(&input))) else {
                let (seed, path) = (self.seed, save_artifact(target, &input));
                println!(
                    "{target}: broken after {runs} runs, seed {seed}; the input is in {}",
                    path.display()
                );
                return false;
            };
            if signatures.insert(signature) && corpus.len() < MAX_CORPUS {
                corpus.push(input);
            }
            runs += 1;
        }
        println!("{target}: {runs} runs, {} different outcomes", signatures.len());
        true
    }
}

fn parse_variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn save_artifact(target: &str, input: &[u8]) -> PathBuf {
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
