//! Results of a run: the summary, the distribution, the time series.

use serde::{Serialize, Serializer};
use sledlab_trace::transform::FitCounts;
use std::sync::Arc;

use sledlab_core::stats::{Distribution, Sum};
use sledlab_core::{BLOCK_BYTES, Error, Result, Span};
use sledlab_models::cache::CacheCounts;
use sledlab_models::device::{FaultCounts, FlashCounts};
use sledlab_models::power::{Energy, Ledger, RequestEnergy};
use sledlab_models::system::{HybridCounts, Station, System};

use crate::VERSION;
use crate::bookkeeping::Counts;
use crate::correlation::correlated_requests;
use crate::recorder::Recorder;
use crate::replay::Mode;
use crate::timeline::TimelineBin;

/// Statistics of a time, in milliseconds. `T` is the type of each: `f64`, or `()` for the names alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeStats<T = f64> {
    /// Mean.
    pub mean: T,
    /// Population standard deviation; 0 for one request.
    pub std: T,
    /// Squared coefficient of variation, variance / mean^2; 0 for one request.
    pub scv: T,
    /// Median, within 0.05 % like all percentiles.
    pub p50: T,
    /// 90th percentile.
    pub p90: T,
    /// 95th percentile.
    pub p95: T,
    /// 99th percentile.
    pub p99: T,
    /// 99.9th percentile.
    pub p999: T,
    /// Largest.
    pub max: T,
}

/// Serializes missing statistics as an object whose values are all null, so that every summary has the same keys.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn serialize_optional_times<S: Serializer>(
    times: &Option<TimeStats>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match times {
        Some(times) => times.serialize(serializer),
        None => TimeStats::<()>::default().serialize(serializer),
    }
}

/// Response time of all requests: with the confidence interval of its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ResponseStats {
    /// Statistics of all requests.
    #[serde(flatten)]
    pub stats: TimeStats,
    /// Half width of the 95 % confidence interval of the mean, by batch means; `None` if the run is too short for an
    /// estimate: shorter than 100 times `correlated_requests`.
    pub ci95_half_width: Option<f64>,
    /// Number of successive requests that determine the mean response time as well as one independent request,
    /// estimated from the load.
    pub correlated_requests: f64,
}

/// Statistics of reads or of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OpStats {
    /// Requests that count.
    pub requests: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Response time; `None` without requests.
    #[serde(serialize_with = "serialize_optional_times")]
    pub response_time_ms: Option<TimeStats>,
    /// Mean energy spent on a request: seeks, accesses, and start-ups where the request was the first after one; `None`
    /// without requests.
    pub request_energy_uj: Option<f64>,
}

/// Mean and largest of a time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeanAndMax {
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

/// Mean of every part of a request's response time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PartMeans {
    /// Waiting to be selected, including start-up and overheads in parallel.
    pub queue: f64,
    /// The part of `queue` that was a start-up.
    pub startup: f64,
    /// Command overhead the mechanism waits for.
    pub overhead: f64,
    /// First positioning: the larger of x with settling and y with turnarounds, then rotation.
    pub positioning: f64,
    /// x without settling.
    pub seek_x: f64,
    /// Settling.
    pub settle: f64,
    /// y without turnarounds.
    pub seek_y: f64,
    /// Turnarounds.
    pub turnaround: f64,
    /// Waiting for the first sector of a disk.
    pub rotation: f64,
    /// From the end of the first positioning to completion.
    pub transfer: f64,
    /// The part of `transfer` spent on moves between rows.
    pub reposition: f64,
}

/// Length of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct QueueLength {
    /// Mean over the time that counts, of all waiting requests.
    pub mean: f64,
    /// Largest.
    pub max: u64,
}

/// Seconds in each state, over all stations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StateTime {
    /// Moving with inactive tips.
    pub seek: f64,
    /// Reading or writing.
    pub access: f64,
    /// Idle: ready without requests.
    pub idle: f64,
    /// Parked.
    pub inactive: f64,
    /// Starting up.
    pub startup: f64,
}

/// Requests that were merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MergedCounts {
    /// Requests served together with others as one.
    pub requests: u64,
    /// Number of accesses that served them.
    pub groups: u64,
}

/// Garbage collection of all flash devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FlashStats {
    /// Pages that the host wrote.
    pub written_pages: u64,
    /// Pages moved by garbage collection.
    pub moved_pages: u64,
    /// Blocks erased.
    pub erased_blocks: u64,
    /// Pages programmed for each page that the host wrote; `None` without writes.
    pub write_amplification: Option<f64>,
    /// The same in the steady state of uniform random writes to the data that the devices hold at the end.
    pub steady_write_amplification: Option<f64>,
    /// Time for which dies moved pages and erased blocks, summed over the dies.
    pub collection_time_s: f64,
    /// Share of the time of the dies that this is.
    pub collection_share: f64,
}

/// Operations by kind, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Operations {
    /// Issued.
    pub issued: u64,
    /// Reads and writes issued.
    pub offered: u64,
    /// Reads completed.
    pub read: u64,
    /// Writes completed.
    pub write: u64,
    /// Trims completed.
    pub trim: u64,
    /// Flushes completed.
    pub flush: u64,
    /// Rejected because they are completely outside the device.
    pub rejected: u64,
    /// Moved to other addresses to fit the device.
    pub moved: u64,
    /// Cut short to fit the device.
    pub shortened: u64,
    /// Outstanding when the run was interrupted, or stopped in overload.
    pub dropped: u64,
}

/// The results of a run; identical bytes for the same configuration, seed and version.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Version of the summary's format: incremented whenever a field is removed or changes its meaning.
    pub schema: u32,
    /// Reads and writes that count.
    pub requests: u64,
    /// Reads and writes completed in the time that counts: those that arrived in the warm-up included.
    pub completed: u64,
    /// Simulated time that counts. It starts at time 0 or, with a warm-up, at the arrival of the first operation that
    /// counts. It ends when the last request is completed and background work is done, or with the last arrival if
    /// the run stopped in overload. Rates, means over time, times and energies by state cover the same time.
    pub elapsed_s: f64,
    /// Arrival to completion.
    pub response_time_ms: ResponseStats,
    /// Reads alone.
    pub read: OpStats,
    /// Writes alone.
    pub write: OpStats,
    /// Arrival to start.
    pub queue_time_ms: MeanAndMax,
    /// Start to completion.
    pub service_time_ms: MeanAndMax,
    /// First positioning.
    pub positioning_time_ms: MeanAndMax,
    /// Mean of every part of a request's response time.
    pub time_by_part_ms: PartMeans,
    /// Requests `completed` per second.
    pub throughput_iops: f64,
    /// Data of requests `completed`, in 10^6 bytes per second.
    pub throughput_mb_s: f64,
    /// Share of the time the mechanism was busy; the mean over stations.
    pub utilization: f64,
    /// Waiting requests.
    pub queue_length: QueueLength,
    /// Energy by state.
    pub energy_j: Energy,
    /// Mean energy charged to a request: seek, access and start-up. Idle and parked energy is charged to no request.
    pub request_energy_uj: f64,
    /// Seconds by state.
    pub state_time_s: StateTime,
    /// Active tips times the duration: tip-seconds, over all stations.
    pub tip_time_s: f64,
    /// Tips that stayed inactive because no request used their data, times the duration: tip-seconds.
    pub dark_tip_time_s: f64,
    /// Start-ups.
    pub startups: u64,
    /// Requests that were merged.
    pub merged: MergedCounts,
    /// Counters of the cache in front of the system, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheCounts>,
    /// Counters of hybrids, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hybrid: Option<HybridCounts>,
    /// Garbage collection, if there is flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashStats>,
    /// Failures and their effects, if the system can fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultCounts>,
    /// Whether the queue of an open replay kept growing while a device was busy nearly all the time: means of such a
    /// run depend on its length.
    pub saturated: bool,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// Operations by kind.
    pub operations: Operations,
    /// What the reader of the trace omitted, and what else a user should know about the trace, as sentences.
    pub trace_notes: Vec<String>,
    /// The complete experiment.
    pub config: serde_json::Value,
    /// Version of sledlab.
    pub version: &'static str,
    /// Root seed.
    pub seed: u64,
    /// Checksum of the completion times of all reads and writes, in 16 hexadecimal digits: equal on all platforms for
    /// the same experiment.
    pub checksum: String,
}

/// A cumulative distribution: response times, and for each the share of requests at or below.
#[derive(Clone, Debug, Serialize)]
pub struct Cdf {
    /// Response times in ascending order.
    pub response_ms: Vec<f64>,
    /// Shares in ascending order up to 1.
    pub share: Vec<f64>,
}

/// Intermediate results of a run that has not ended.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// Reads and writes completed that count.
    pub requests: u64,
    /// Response times of these requests; `None` without requests.
    #[serde(serialize_with = "serialize_optional_times")]
    pub response_time_ms: Option<TimeStats>,
    /// The distribution of these response times.
    pub cdf: Cdf,
    /// Energy so far, without that of an idle period that has not ended.
    pub energy_j: f64,
    /// Checksum of all completion times so far.
    pub checksum: String,
}

impl Snapshot {
    pub(crate) fn new(recorder: &Recorder, system: &dyn System) -> Self {
        let all = merge_distributions(&recorder.response_times);
        Snapshot {
            requests: all.moments().count(),
            response_time_ms: optional_times(&all),
            cdf: Cdf::from_distribution(&all),
            energy_j: system.ledgers().iter().map(|(_, energy)| energy.total).sum(),
            checksum: recorder.checksum.to_string(),
        }
    }
}

/// The distribution of reads and writes together.
fn merge_distributions([reads, writes]: &[Distribution; 2]) -> Distribution {
    let mut merged = reads.clone();
    merged.merge(writes);
    merged
}

/// All results of a run except the per-request table.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The results.
    pub summary: Summary,
    /// Distribution of response times: all, reads, writes.
    pub cdf: [Cdf; 3],
    /// Time series.
    pub timeline: Vec<TimelineBin>,
    /// Wall-clock time from opening the source to the summary; never part of the results.
    pub wall_s: f64,
    /// Mean wall-clock time of a scheduling decision, in ns, if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_ns: Option<f64>,
}

const NS_PER_MS: f64 = 1e6;

/// Version of the format of a [`Summary`].
pub const SCHEMA: u32 = 2;

impl TimeStats {
    fn from_distribution(distribution: &Distribution) -> Self {
        let moments = distribution.moments();
        let quantile = |q| distribution.quantile_ns(q) as f64 / NS_PER_MS;
        TimeStats {
            mean: moments.mean() / NS_PER_MS,
            std: moments.std() / NS_PER_MS,
            scv: moments.scv(),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: moments.max() as f64 / NS_PER_MS,
        }
    }
}

impl MeanAndMax {
    fn from_sum(sum: &Sum) -> Self {
        MeanAndMax { mean: sum.mean() / NS_PER_MS, max: sum.max() as f64 / NS_PER_MS }
    }
}

impl Cdf {
    fn from_distribution(distribution: &Distribution) -> Self {
        let (response_ms, share) =
            distribution.cdf().into_iter().map(|(ns, share)| (ns as f64 / NS_PER_MS, share)).unzip();
        Cdf { response_ms, share }
    }
}

/// The values of the summary that neither the recorder nor the system contains.
pub(crate) struct Context {
    pub counts: Counts,
    pub fit_counts: Arc<FitCounts>,
    pub trace_notes: Vec<String>,
    pub mode: Mode,
    pub config: serde_json::Value,
    pub seed: u64,
}

impl Summary {
    /// Computes the results of a run.
    ///
    /// # Errors
    /// A run without an operation that counts or interrupted before one was complete; a result that is not a finite
    /// number.
    pub(crate) fn new(recorder: &Recorder, system: &dyn System, context: Context) -> Result<Self> {
        let [reads, writes] = &recorder.response_times;
        let all = merge_distributions(&recorder.response_times);
        let requests = all.moments().count();
        if requests == 0 && context.counts.interrupted {
            return Err(Error::interrupted());
        }
        if requests == 0 {
            return Err(Error::user("nothing was simulated: no read or write was completed that counts")
                .with_remedy(
                    "check that the trace contains reads or writes, and that warm-up and limits do not exclude them",
                ));
        }
        let elapsed_s = recorder.end.since(recorder.start).as_seconds();
        let per_second = |amount: f64| if elapsed_s > 0.0 { amount / elapsed_s } else { 0.0 };
        let [read_bytes, write_bytes] = recorder.blocks.map(|blocks| blocks * BLOCK_BYTES);
        let (completed, completed_blocks) = recorder.completed();
        let ledgers = system.ledgers();
        let busy: Span = ledgers.iter().map(|(ledger, _)| ledger.busy_time()).sum();
        let longest_busy = ledgers.iter().map(|(ledger, _)| ledger.busy_time()).max().unwrap_or_default();
        let correlated_requests = correlated_requests(
            context.mode,
            per_second(longest_busy.as_seconds()),
            recorder.trend.arrival_dispersion(),
        );
        let mut energy_j = Energy::default();
        for (_, energy) in &ledgers {
            energy_j += *energy;
        }
        let energy_uj: f64 = recorder.energy.iter().map(|total| total.sum().total_uj()).sum();
        let summary = Summary {
            schema: SCHEMA,
            requests,
            completed,
            elapsed_s,
            response_time_ms: ResponseStats {
                stats: TimeStats::from_distribution(&all),
                ci95_half_width: recorder.batches.half_width_95(correlated_requests).map(|ns| ns / NS_PER_MS),
                correlated_requests,
            },
            read: op_stats(reads, read_bytes, recorder.energy[0].sum()),
            write: op_stats(writes, write_bytes, recorder.energy[1].sum()),
            queue_time_ms: MeanAndMax::from_sum(&recorder.queue),
            service_time_ms: MeanAndMax::from_sum(&recorder.service),
            positioning_time_ms: MeanAndMax::from_sum(&recorder.positioning),
            time_by_part_ms: part_means(recorder, requests),
            throughput_iops: per_second(completed as f64),
            throughput_mb_s: per_second((completed_blocks * BLOCK_BYTES) as f64 / 1e6),
            utilization: per_second(busy.as_seconds() / ledgers.len().max(1) as f64),
            queue_length: QueueLength {
                mean: per_second(recorder.waited_ns() as f64 / 1e9),
                max: system.longest_queue() as u64,
            },
            energy_j,
            request_energy_uj: energy_uj / requests as f64,
            state_time_s: state_time(&ledgers),
            tip_time_s: ledgers.iter().map(|(ledger, _)| ledger.tip_ns as f64 / 1e9).sum(),
            dark_tip_time_s: ledgers.iter().map(|(ledger, _)| ledger.dark_tip_ns as f64 / 1e9).sum(),
            startups: ledgers.iter().map(|(ledger, _)| ledger.startups).sum(),
            merged: merged_counts(system),
            cache: system.cache(),
            hybrid: system.hybrid(),
            flash: flash_stats(system, elapsed_s),
            faults: system.faults(),
            saturated: context.mode == Mode::Open && recorder.trend.is_overloaded(),
            interrupted: context.counts.interrupted,
            operations: operations(&context),
            trace_notes: context.trace_notes,
            config: context.config,
            version: VERSION,
            seed: context.seed,
            checksum: recorder.checksum.to_string(),
        };
        summary.check()
    }

    fn check(self) -> Result<Self> {
        let numbers = [
            self.response_time_ms.stats.mean,
            self.response_time_ms.stats.scv,
            self.throughput_iops,
            self.utilization,
            self.energy_j.total,
            self.queue_length.mean,
        ];
        if numbers.iter().all(|x| x.is_finite()) {
            Ok(self)
        } else {
            Err(Error::internal(format!("a result is not a finite number: {numbers:?}")))
        }
    }
}

fn op_stats(distribution: &Distribution, bytes: u64, energy: RequestEnergy) -> OpStats {
    let requests = distribution.moments().count();
    OpStats {
        requests,
        bytes,
        response_time_ms: optional_times(distribution),
        request_energy_uj: (requests > 0).then(|| energy.total_uj() / requests as f64),
    }
}

/// Returns the statistics of a distribution; `None` if it is empty.
fn optional_times(distribution: &Distribution) -> Option<TimeStats> {
    (distribution.moments().count() > 0).then(|| TimeStats::from_distribution(distribution))
}

fn part_means(recorder: &Recorder, requests: u64) -> PartMeans {
    let parts = &recorder.parts;
    let mean = |sum: u64| sum as f64 / requests as f64 / NS_PER_MS;
    PartMeans {
        queue: recorder.queue.mean() / NS_PER_MS,
        startup: mean(parts.startup),
        overhead: mean(parts.overhead),
        positioning: recorder.positioning.mean() / NS_PER_MS,
        seek_x: mean(parts.seek_x),
        settle: mean(parts.settle),
        seek_y: mean(parts.seek_y),
        turnaround: mean(parts.turnaround),
        rotation: mean(parts.rotation),
        transfer: mean(parts.transfer),
        reposition: mean(parts.reposition),
    }
}

fn state_time(ledgers: &[(&Ledger, Energy)]) -> StateTime {
    let sum = |state: fn(&Ledger) -> Span| {
        ledgers.iter().map(|(ledger, _)| state(ledger)).sum::<Span>().as_seconds()
    };
    StateTime {
        seek: sum(|ledger| ledger.seek),
        access: sum(|ledger| ledger.access),
        idle: sum(|ledger| ledger.idle),
        inactive: sum(|ledger| ledger.inactive),
        startup: sum(|ledger| ledger.startup),
    }
}

fn merged_counts(system: &dyn System) -> MergedCounts {
    system.stations().into_iter().fold(MergedCounts::default(), |sum, station| MergedCounts {
        requests: sum.requests + station.merge_counts().requests,
        groups: sum.groups + station.merge_counts().groups,
    })
}

fn flash_stats(system: &dyn System, elapsed_s: f64) -> Option<FlashStats> {
    let devices: Vec<_> = system.stations().into_iter().filter_map(Station::flash).collect();
    let sum = |count: fn(&FlashCounts) -> u64| devices.iter().map(count).sum::<u64>();
    let (written_pages, moved_pages) = (sum(|counts| counts.written_pages), sum(|counts| counts.moved_pages));
    let per_written_page = |pages: f64| (written_pages > 0).then(|| pages / written_pages as f64);
    let steady_pages: f64 =
        devices.iter().map(|counts| counts.written_pages as f64 * counts.steady_write_amplification).sum();
    let collection_time_s = devices.iter().map(|counts| counts.collection_time).sum::<Span>().as_seconds();
    let die_time_s = elapsed_s * sum(|counts| u64::from(counts.dies)) as f64;
    (!devices.is_empty()).then(|| FlashStats {
        written_pages,
        moved_pages,
        erased_blocks: sum(|counts| counts.erased_blocks),
        write_amplification: per_written_page((written_pages + moved_pages) as f64),
        steady_write_amplification: per_written_page(steady_pages),
        collection_time_s,
        collection_share: if die_time_s > 0.0 { collection_time_s / die_time_s } else { 0.0 },
    })
}

fn operations(context: &Context) -> Operations {
    let counts = &context.counts;
    Operations {
        issued: counts.issued,
        offered: counts.offered,
        read: counts.reads,
        write: counts.writes,
        trim: counts.trims,
        flush: counts.flushes,
        rejected: context.fit_counts.dropped_count(),
        moved: context.fit_counts.moved_count(),
        shortened: context.fit_counts.shortened_count(),
        dropped: counts.dropped,
    }
}

impl Outcome {
    pub(crate) fn new(summary: Summary, recorder: &Recorder, wall_s: f64, decision_ns: Option<f64>) -> Self {
        let [reads, writes] = &recorder.response_times;
        Outcome {
            summary,
            cdf: [
                Cdf::from_distribution(&merge_distributions(&recorder.response_times)),
                Cdf::from_distribution(reads),
                Cdf::from_distribution(writes),
            ],
            timeline: recorder.timeline.bins(recorder.start, recorder.end),
            wall_s,
            decision_ns,
        }
    }
}
