//! Status of a running server, and the report of a server that has ended.

use serde::Serialize;
use sledlab_core::Error;
use sledlab_sim::Outcome;

use crate::power::PowerFailure;
use crate::timing::clock::Scale;
use crate::timing::lateness::{Cause, CountWithinShare, Percentiles, Stalls};

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

/// Arrivals that were stamped later than the requests arrived, because a reply had already been sent early to
/// compensate for the host path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShiftedArrivals {
    /// Number of arrivals stamped later.
    pub count: u64,
    /// Sum of the shifts, in nanoseconds of simulated time.
    pub sum_ns: u64,
    /// The longest shift, in nanoseconds of simulated time.
    pub longest_ns: u64,
}

/// Cost of the path to the host: time of a request and its reply in addition to the simulated time. Measured before the
/// clock starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HostPathCost {
    /// Round-trip time of a read of 4 KiB, in microseconds.
    pub read_us: f64,
    /// Additional time for each further KiB of a read, in microseconds.
    pub read_us_per_kib: f64,
    /// Round-trip time of a write of 4 KiB, in microseconds.
    pub write_us: f64,
    /// Additional time for each further KiB of a write, in microseconds.
    pub write_us_per_kib: f64,
}

impl HostPathCost {
    /// Returns a path that takes `us` microseconds for every request.
    pub fn from_us(us: f64) -> Self {
        HostPathCost { read_us: us, write_us: us, ..HostPathCost::default() }
    }

    /// Returns how much earlier than planned the reply to a request of `bytes` bytes is sent, in nanoseconds: to a read
    /// or, if not `reads`, to any other request.
    pub(crate) fn ns(&self, is_read: bool, bytes: u32) -> u32 {
        let (us, per_kib) = if is_read {
            (self.read_us, self.read_us_per_kib)
        } else {
            (self.write_us, self.write_us_per_kib)
        };
        let further_kib = (f64::from(bytes) - 4096.0).max(0.0) / 1024.0;
        ((us + per_kib * further_kib) * 1e3) as u32
    }
}

/// The status of a server that runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// Wall-clock time since the start, in seconds.
    pub real_s: f64,
    /// Simulated time since the device was switched on, in seconds.
    pub model_s: f64,
    /// Number of power failures of the device.
    pub power_failures: u64,
    /// Requests and clients so far.
    pub counts: RequestCounts,
    /// Requests whose replies have not been sent.
    pub in_flight: u64,
    /// Requests that wait in the model to be selected.
    pub queue_length: u64,
    /// Maximum number of requests that waited in the model.
    pub longest_queue: u64,
    /// Clients that are connected.
    pub connected: u64,
    /// Mean response time of the model, in milliseconds of simulated time; `None` if no reply took time in the model.
    pub response_mean_ms: Option<f64>,
    /// Lateness in microseconds of wall-clock time; early replies are below zero.
    pub lateness_us: Percentiles,
    /// Replies whose lateness is within shares of their response time.
    pub within: CountWithinShare,
    /// Stalls so far, without their list.
    pub stalls: Stalls,
    /// Whether real-time priority was granted.
    pub realtime: bool,
    /// Cost of the host path for which replies are sent early.
    pub host: HostPathCost,
    /// The error that has ended the run, if any.
    pub error: Option<String>,
}

/// The report of a run that has ended.
#[derive(Clone, Debug, Serialize)]
pub struct ServerReport {
    /// The model's outcome since the device was last switched on, equal to that of `simulate` for the recording; none
    /// if nothing was read or written.
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
    /// Requests and clients of the entire run.
    pub counts: RequestCounts,
    /// Lateness in microseconds of wall-clock time; early replies are below zero.
    pub lateness_us: Percentiles,
    /// Replies whose lateness is within shares of their response time.
    pub within: CountWithinShare,
    /// Replies by cause of their lateness.
    pub causes: Vec<(Cause, u64)>,
    /// Replies more than 5 ms late.
    pub beyond_5_ms: u64,
    /// Response time of the model that 90 % of replies exceed, in microseconds of wall-clock time; `None` if no reply
    /// took time in the model.
    pub response_p10_us: Option<f64>,
    /// Mean response time of the model, in microseconds of wall-clock time; `None` if no reply took time in the model.
    pub response_mean_us: Option<f64>,
    /// Stalls of the server.
    pub stalls: Stalls,
    /// Arrivals stamped later than the requests came.
    pub shifted: ShiftedArrivals,
    /// Processor time of the server's thread, in seconds.
    pub cpu_s: f64,
    /// Wall-clock time from start to stop, in seconds.
    pub wall_s: f64,
    /// Wall-clock time in which the processor budget prevented polling the clock, in seconds.
    pub spin_limited_s: f64,
    /// Number of pauses of the server because its processor budget was overdrawn.
    pub naps: u64,
    /// Cost of the host path for which replies were sent early.
    pub host: HostPathCost,
    /// Time to send the reply to a read of 4 KiB, as estimated by the pacer, in microseconds.
    pub send_us: f64,
    /// How early sleep ended, as estimated by the pacer, in microseconds.
    pub spin_us: f64,
    /// Ratio of wall-clock time to simulated time.
    pub scale: Scale,
    /// Whether requests were answered at once, without a model.
    pub untimed: bool,
    /// Whether real-time priority was granted.
    pub realtime: bool,
}
