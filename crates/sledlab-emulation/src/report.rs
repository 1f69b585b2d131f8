//! What a server reports about itself: its status while it runs, and a report in the end.

use serde::Serialize;
use sledlab_core::Error;
use sledlab_sim::Outcome;

use crate::clock::Scale;
use crate::lateness::{Cause, CountWithinShare, Percentiles, Stalls};
use crate::power::PowerFailure;

/// Counts of requests and clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestCounts {
    /// Reads answered.
    pub reads: u64,
    /// Writes answered, those of zeroes included.
    pub writes: u64,
    /// Flushes answered.
    pub flushes: u64,
    /// Trims answered.
    pub trims: u64,
    /// Of the writes, those that had to be durable before their reply (force unit access).
    pub fua: u64,
    /// Requests that did not begin and end at boundaries of blocks.
    pub unaligned: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Requests answered with an error, such as a full file system.
    pub errors: u64,
    /// Operations submitted to the model.
    pub operations: u64,
    /// Clients that have connected.
    pub connections: u64,
    /// Clients that have violated the protocol.
    pub violations: u64,
}

/// Arrivals that were stamped later than the requests came, since a reply had already left early for the way to the
/// host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShiftedArrivals {
    /// Number of arrivals stamped later.
    pub count: u64,
    /// Sum of the shifts, in nanoseconds of the model.
    pub sum_ns: u64,
    /// The longest shift, in nanoseconds of the model.
    pub longest_ns: u64,
}

/// Cost of the path to the host: time of a request and its reply in addition to the simulated time. Measured before the
/// clock starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HostPathCost {
    /// Both ways together of a read of 4 KiB, in microseconds.
    pub read_us: f64,
    /// What each further KiB of a read adds, in microseconds.
    pub read_us_per_kib: f64,
    /// Both ways together of a write of 4 KiB, in microseconds.
    pub write_us: f64,
    /// What each further KiB of a write adds, in microseconds.
    pub write_us_per_kib: f64,
}

impl HostPathCost {
    /// A way that takes `us` microseconds for every request.
    pub fn from_us(us: f64) -> Self {
        HostPathCost { read_us: us, write_us: us, ..HostPathCost::default() }
    }

    /// How much earlier than planned the reply to a request of `bytes` leaves, in nanoseconds: to a read or, if not
    /// `reads`, to any other request.
    pub(crate) fn ns(&self, reads: bool, bytes: u32) -> u32 {
        let (us, per_kib) =
            if reads { (self.read_us, self.read_us_per_kib) } else { (self.write_us, self.write_us_per_kib) };
        let more_kib = (f64::from(bytes) - 4096.0).max(0.0) / 1024.0;
        ((us + per_kib * more_kib) * 1e3) as u32
    }
}

/// The status of a server that runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// Real time since the start, in seconds.
    pub real_s: f64,
    /// The model's time since the device was switched on, in seconds.
    pub model_s: f64,
    /// How often the device's power has failed.
    pub power_failures: u64,
    /// Requests and clients so far.
    pub counts: RequestCounts,
    /// Requests whose replies have not left.
    pub in_flight: u64,
    /// Requests that wait in the model to be selected.
    pub queue_length: u64,
    /// The most requests that waited in the model at any time.
    pub longest_queue: u64,
    /// Clients that are connected.
    pub connected: u64,
    /// Mean response time of the model, in milliseconds of the model.
    pub response_mean_ms: f64,
    /// Lateness in microseconds of real time; early replies are below zero.
    pub lateness_us: Percentiles,
    /// Replies whose lateness is within shares of their response time.
    pub within: CountWithinShare,
    /// Stalls so far, without their list.
    pub stalls: Stalls,
    /// Whether real-time priority was granted.
    pub realtime: bool,
    /// The way to the host that replies make up for.
    pub host: HostPathCost,
    /// The error that has ended the run, if any.
    pub error: Option<String>,
}

/// The report of a run that has ended.
#[derive(Clone, Debug, Serialize)]
pub struct ServerReport {
    /// The model's outcome since the device was last switched on, the same that `simulate` gives for the recording;
    /// none where nothing was read or written.
    #[serde(skip)]
    pub outcome: Option<Outcome>,
    /// The error that has ended the model's work; there is no outcome then.
    #[serde(skip)]
    pub failure: Option<Error>,
    /// The digest of the per-request table since the device was last switched on; see
    /// [`RowsDigest`](crate::RowsDigest).
    pub digest_of_rows: u64,
    /// Power failures, in order of time.
    pub power_failures: Vec<PowerFailure>,
    /// Requests and clients of the whole run.
    pub counts: RequestCounts,
    /// Lateness in microseconds of real time; early replies are below zero.
    pub lateness_us: Percentiles,
    /// Replies whose lateness is within shares of their response time.
    pub within: CountWithinShare,
    /// Replies by cause of their lateness.
    pub causes: Vec<(Cause, u64)>,
    /// Replies more than 5 ms late.
    pub beyond_5_ms: u64,
    /// The response time of the model that nine in ten replies exceed, in microseconds of real time.
    pub response_p10_us: f64,
    /// The mean response time of the model, in microseconds of real time.
    pub response_mean_us: f64,
    /// Stalls of the server.
    pub stalls: Stalls,
    /// Arrivals stamped later than the requests came.
    pub shifted: ShiftedArrivals,
    /// Processor time of the server's thread, in seconds.
    pub cpu_s: f64,
    /// Real time from start to stop, in seconds.
    pub wall_s: f64,
    /// Real time in which the server would have polled the clock, but for its processor budget, in seconds.
    pub spin_limited_s: f64,
    /// Naps that the server took because its processor budget was overdrawn.
    pub naps: u64,
    /// The way to the host that replies made up for.
    pub host: HostPathCost,
    /// How long handing over the reply to a read of 4 KiB takes, as the pacer has learnt it, in microseconds.
    pub send_us: f64,
    /// How early sleep ended, as the pacer has learnt it, in microseconds.
    pub spin_us: f64,
    /// How many times slower than real time the model's time passed.
    pub scale: Scale,
    /// Whether requests were answered at once, without a model.
    pub untimed: bool,
    /// Whether real-time priority was granted.
    pub realtime: bool,
}
