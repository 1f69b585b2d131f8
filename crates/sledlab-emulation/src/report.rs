//! What a server tells about itself: while it runs, and in the end.

use serde::Serialize;
use sledlab_core::Error;
use sledlab_sim::Outcome;

use crate::clock::Scale;
use crate::lateness::{Cause, Percentiles, Stalls, Within};
use crate::power::PowerFailure;

/// Requests by what they asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestCounts {
    /// Reads answered.
    pub reads: u64,
    /// Writes answered, of zeroes too.
    pub writes: u64,
    /// Flushes answered.
    pub flushes: u64,
    /// Trims answered.
    pub trims: u64,
    /// Writes among those that had to be durable before their reply (force unit access).
    pub fua: u64,
    /// Requests that did not begin or end at blocks.
    pub unaligned: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Requests that could not be served: no room, for example.
    pub errors: u64,
    /// Operations submitted to the model.
    pub operations: u64,
    /// Clients that have connected.
    pub connections: u64,
    /// Clients that have broken the protocol.
    pub violations: u64,
}

/// Arrivals that were stamped later than they came, since a reply had already left for the way to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shifted {
    /// How many.
    pub count: u64,
    /// By how much together, in nanoseconds of the model.
    pub sum_ns: u64,
    /// By how much at most.
    pub longest_ns: u64,
}

/// What it costs a reply to get to its client, beside what the model says: known before the clock starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HostWay {
    /// To and from the client with a read of 4 KiB, in microseconds.
    pub read_us: f64,
    /// What each further KiB adds.
    pub read_us_per_kib: f64,
    /// To and from the client with a write of 4 KiB, in microseconds.
    pub write_us: f64,
    /// What each further KiB adds.
    pub write_us_per_kib: f64,
}

impl HostWay {
    /// The same for all requests.
    pub fn fixed(us: f64) -> Self {
        HostWay { read_us: us, write_us: us, ..HostWay::default() }
    }

    /// How much earlier than planned a reply leaves, in nanoseconds: to a read or, if not `reads`, anything else.
    pub(crate) fn ns(&self, reads: bool, bytes: u32) -> u32 {
        let (us, per_kib) =
            if reads { (self.read_us, self.read_us_per_kib) } else { (self.write_us, self.write_us_per_kib) };
        let more_kib = (f64::from(bytes) - 4096.0).max(0.0) / 1024.0;
        ((us + per_kib * more_kib) * 1e3) as u32
    }
}

/// A server at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// Real time since the start, in seconds.
    pub real_s: f64,
    /// The model's time since the device was switched on, in seconds.
    pub model_s: f64,
    /// How often its power has failed.
    pub power_failures: u64,
    /// What was asked for so far.
    pub counts: RequestCounts,
    /// Requests whose replies have not left.
    pub under_way: u64,
    /// Requests that wait in the model to be selected.
    pub queue_length: u64,
    /// Most that did at any time.
    pub longest_queue: u64,
    /// Clients that are connected.
    pub connected: u64,
    /// Mean response time of the model, in milliseconds of the model.
    pub response_mean_ms: f64,
    /// Lateness in microseconds of real time; early replies are below zero.
    pub lateness_us: Percentiles,
    /// Replies within shares of their response time.
    pub within: Within,
    /// When the server was held up, without the list.
    pub stalls: Stalls,
    /// Whether real-time priority was granted.
    pub realtime: bool,
    /// The way to the host, as it is compensated.
    pub host: HostWay,
    /// Why the run has ended, if it has by itself.
    pub error: Option<String>,
}

/// A run, after its end.
#[derive(Clone, Debug, Serialize)]
pub struct ServerReport {
    /// What the model tells since the device was switched on, as `simulate` of the recording does; none where nothing
    /// was read or written.
    #[serde(skip)]
    pub outcome: Option<Outcome>,
    /// What the model has given up with; then it tells nothing more.
    #[serde(skip)]
    pub failure: Option<Error>,
    /// Stands for the per-request table since then; see [`RowsDigest`](crate::RowsDigest).
    pub digest_of_rows: u64,
    /// Power failures, in order.
    pub power_failures: Vec<PowerFailure>,
    /// What was asked for.
    pub counts: RequestCounts,
    /// Lateness in microseconds of real time; early replies are below zero.
    pub lateness_us: Percentiles,
    /// Replies within shares of their response time.
    pub within: Within,
    /// Replies by cause of their lateness.
    pub causes: Vec<(Cause, u64)>,
    /// Replies more than 5 ms late.
    pub beyond_5_ms: u64,
    /// The response time of the model that nine in ten replies exceed, in microseconds of real time.
    pub response_p10_us: f64,
    /// The mean of that time.
    pub response_mean_us: f64,
    /// When the server was held up.
    pub stalls: Stalls,
    /// Arrivals stamped later than they came.
    pub shifted: Shifted,
    /// Processor time of the server's thread, in seconds.
    pub cpu_s: f64,
    /// Real time from start to stop, in seconds.
    pub wall_s: f64,
    /// Time in which the server would have looked at the clock, but for its budget, in seconds.
    pub spin_limited_s: f64,
    /// Times it was sent to sleep since it had used too much.
    pub naps: u64,
    /// The way to the host, as it was compensated.
    pub host: HostWay,
    /// How long handing over a reply to a read of 4 KiB takes, as it was learnt, in microseconds.
    pub send_us: f64,
    /// How early sleep ended, as it was learnt, in microseconds.
    pub spin_us: f64,
    /// How many times slower than real the model's time went.
    pub scale: Scale,
    /// Whether answers came at once, and not from the model.
    pub untimed: bool,
    /// Whether real-time priority was granted.
    pub realtime: bool,
}
