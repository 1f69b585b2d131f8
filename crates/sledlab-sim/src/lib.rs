//! Event loop, replay, recorder, results and experiments: the crate to import from Rust.
//!
//! ```
//! use sledlab_sim::{Experiment, Hooks};
//!
//! let mut experiment = Experiment::new();
//! experiment.set("device.preset", "mems-g2")?;
//! experiment.set("workload.kind", "uniform")?;
//! experiment.set("replay.limit", "1000")?;
//! let outcome = experiment.run(Hooks::default())?;
//! assert_eq!(outcome.summary.requests, 1000);
//! # Ok::<(), sledlab_core::Error>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

mod bookkeeping;
mod catalog;
pub mod cluster;
mod correlation;
mod decision_cost;
mod engine;
mod experiment;
mod feed;
mod flush;
mod hit_ratios;
mod incremental_run;
mod live;
mod measured_requests;
mod memory;
mod outcome;
mod poll_interval;
mod queue_trend;
mod recorder;
mod replay;
mod rows;
mod seek_map;
mod stopwatch;
mod timeline;

pub use bookkeeping::Counts;
pub use catalog::catalog;
pub use correlation::correlated_requests;
pub use engine::{Progress, ProgressSink, simulate};
pub use experiment::file_names::resolve_file_name;
pub use experiment::keys::parse as parse_toml;
pub use experiment::{Experiment, Hooks, SystemSetup};
pub use hit_ratios::{Hits, KindHits, Uses};
pub use incremental_run::IncrementalRun;
pub use live::{Answer, LiveRun, version};
pub use measured_requests::replay_measured_requests;
pub use outcome::{Cdf, Outcome, Snapshot, Summary, TimeStats};
pub use poll_interval::PollInterval;
pub use recorder::{Recorder, RowSink};
pub use replay::{Limits, Mode, OutsidePolicy, Replay};
pub use rows::Rows;
pub use seek_map::seek_map;
pub use timeline::{Timeline, TimelineBin};

/// The version in results.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
