//! Settings of a replay: open or closed, speed-up and limits.

use sledlab_core::params::Params;
use sledlab_core::{BLOCK_BYTES, Error, Result, Span, Time};
pub use sledlab_trace::transform::OutsidePolicy;
use toml::Table;

/// The times at which requests are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// At the recorded times, independent of completions.
    Open,
    /// One at a time, each the recorded gap after the completion of the last. The gap is the time between both in the
    /// trace. So the reference simulator replays traces of the format `validate`.
    Gaps,
    /// When one of `outstanding` slots is free, a think time after its completion.
    Closed {
        /// Number of outstanding requests at any time.
        outstanding: u64,
        /// Time between a completion and the next request of that slot.
        think: Span,
    },
}

impl Mode {
    /// Reads `open`, `gaps`, `closed:8` or `closed:8:2ms`.
    pub fn parse(text: &str) -> Result<Self> {
        let mode_error = || {
            Error::user(format!("replay.mode: `{text}` is not a replay mode"))
                .with_remedy(
                    "write `open`, `gaps` (one outstanding, at the recorded gaps), `closed:8` (8 outstanding), or \
                     `closed:8:2ms` (and a think time)",
                )
        };
        let mut parts = text.split(':');
        let mode = parts.next().unwrap_or_default();
        match (mode, parts.next(), parts.next(), parts.next()) {
            ("open", None, None, None) => Ok(Mode::Open),
            ("gaps", None, None, None) => Ok(Mode::Gaps),
            ("closed", Some(outstanding), think, None) => {
                let outstanding = outstanding
                    .parse()
                    .ok()
                    .filter(|n| (1..=10_000_000).contains(n))
                    .ok_or_else(mode_error)?;
                let think = think.map_or(Ok(Span::ZERO), |text| parse_span(text).ok_or_else(mode_error))?;
                Ok(Mode::Closed { outstanding, think })
            }
            _ => Err(mode_error()),
        }
    }
}

/// Reads a duration with its unit: `2ms`, `0.5s`, `100us`, `7ns`.
fn parse_span(text: &str) -> Option<Span> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..unit].parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0)?;
    let seconds = match &text[unit..] {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    Some(Span::from_seconds(number * seconds))
}

sledlab_core::choices! {
    /// The requested part of the last block of a request.
    pub enum LastBlock {
        /// The part given by the trace or workload; the entire block if none is given.
        Given = "given",
        /// A random number of words (Lin, section 5.3).
        Random = "random",
    }
}

sledlab_core::params! {
    /// How requests are offered.
    pub struct ReplayParams {
        /// `open`, `gaps` (recorded gaps after completions), `closed:N` (N outstanding) or `closed:N:2ms` (think time).
        mode: String = "open";
        /// Divides the times between arrivals: 2 is twice as intense. Not for `closed`.
        speedup: f64 = 1.0, "", 1e-9..1e12;
        /// Operations at the start that are excluded from the statistics; caches and queues keep their state.
        warmup: u64 = 0_u64, "operations", 0..1e18;
        /// Requests, reads and writes, after which the replay ends; 0 for all.
        limit: u64 = 0_u64, "requests", 0..1e18;
        /// Operations, flushes and trims included, after which the replay ends; 0 for all.
        operations: u64 = 0_u64, "operations", 0..1e18;
        /// Simulated time after which no more requests are issued; 0 for no end.
        duration_s: f64 = 0.0, "s", 0.0..1e9;
        /// Handling of a request that reaches past the end of the device.
        outside: OutsidePolicy = OutsidePolicy::Reject;
        /// Requested part of the last block of a request: as `given` by the trace, or `random` words of 8 bytes.
        last_block: LastBlock = LastBlock::Given;
        /// Requested bytes of every block of a request for metadata; 512 for the blocks as given by the trace.
        metadata_block_bytes: u64 = 512_u64, "bytes", 1..512;
    }
}

/// The end of a replay: the earliest of several limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of reads and writes; `u64::MAX` for all.
    pub requests: u64,
    /// Number of operations; `u64::MAX` for all.
    pub operations: u64,
    /// Time after which no operation is issued.
    pub until: Time,
}

impl Limits {
    /// No limits: the replay ends with its source.
    pub const NONE: Limits = Limits { requests: u64::MAX, operations: u64::MAX, until: Time::MAX };
}

/// A validated description of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    /// The times at which requests are issued.
    pub mode: Mode,
    /// Divisor of arrival times.
    pub speedup: f64,
    /// Number of operations at the start that are excluded from statistics.
    pub warmup: u64,
    /// The end of the replay.
    pub limits: Limits,
    /// The handling of a request beyond the end of the device.
    pub outside: OutsidePolicy,
    /// The requested part of the last block of requests.
    pub last_block: LastBlock,
    /// Requested bytes of every block of a request for metadata; [`BLOCK_BYTES`] for what the trace requests.
    pub metadata_block_bytes: u64,
}

impl Replay {
    /// Checks the table `[replay]`.
    pub fn from_params(params: &ReplayParams) -> Result<Self> {
        let mode = Mode::parse(&params.mode)?;
        if matches!(mode, Mode::Closed { .. }) && params.speedup.to_bits() != 1.0_f64.to_bits() {
            return Err(Error::user("replay.speedup has no meaning in a closed replay")
                .with_remedy("omit the speed-up, or change the number outstanding or the think time"));
        }
        let until = if params.duration_s > 0.0 {
            Time::ZERO + Span::from_seconds(params.duration_s)
        } else {
            Time::MAX
        };
        let or_unlimited = |limit: u64| if limit > 0 { limit } else { u64::MAX };
        let (requests, operations) = (or_unlimited(params.limit), or_unlimited(params.operations));
        let warmup = params.warmup;
        check_warmup(warmup, "operations", operations)?;
        Ok(Replay {
            mode,
            speedup: params.speedup,
            warmup,
            limits: Limits { requests, operations, until },
            outside: params.outside,
            last_block: params.last_block,
            metadata_block_bytes: params.metadata_block_bytes,
        })
    }

    /// Checks that the warm-up does not exclude all requests of a source without trims and flushes.
    ///
    /// # Errors
    /// A warm-up as long as the limit.
    pub fn check_limit_without_other_operations(&self) -> Result<()> {
        check_warmup(self.warmup, "limit", self.limits.requests)
    }

    /// Reads and checks the table `[replay]`.
    pub fn from_table(table: &Table) -> Result<Self> {
        Replay::from_params(&ReplayParams::from_table("replay", table)?)
    }
}

/// Refuses a warm-up of all operations before `limit`.
fn check_warmup(warmup: u64, key: &str, limit: u64) -> Result<()> {
    if warmup < limit {
        return Ok(());
    }
    Err(Error::user(format!("replay.warmup excludes all operations of replay.{key}"))
        .with_remedy("set a shorter warm-up or a larger limit"))
}

impl Default for Replay {
    fn default() -> Self {
        Replay {
            mode: Mode::Open,
            speedup: 1.0,
            warmup: 0,
            limits: Limits::NONE,
            outside: OutsidePolicy::Reject,
            last_block: LastBlock::Given,
            metadata_block_bytes: BLOCK_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_modes() {
        let closed = |outstanding, ns| Ok(Mode::Closed { outstanding, think: Span::from_ns(ns) });
        assert_eq!(Mode::parse("open"), Ok(Mode::Open));
        assert_eq!(Mode::parse("gaps"), Ok(Mode::Gaps));
        assert_eq!(Mode::parse("closed:8"), closed(8, 0));
        assert_eq!(Mode::parse("closed:8:2ms"), closed(8, 2_000_000));
        assert_eq!(Mode::parse("closed:1:0.5us"), closed(1, 500));
        for wrong in [
            "",
            "closed",
            "closed:0",
            "closed:8:2",
            "closed:8:-1ms",
            "open:2",
            "gaps:2",
            "closed:8:2ms:1",
            "closed:8:2m\u{e9}",
        ] {
            assert!(Mode::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn refuses_contradictions() {
        let error_message =
            |text: &str| Replay::from_table(&toml::from_str(text).unwrap()).unwrap_err().to_string();
        assert!(error_message("mode = 'closed:8'\nspeedup = 2").contains("speedup"));
        assert!(error_message("warmup = 10\noperations = 10").contains("replay.operations"));
        assert!(error_message("speedup = 0").contains("out of range"));
    }
}
