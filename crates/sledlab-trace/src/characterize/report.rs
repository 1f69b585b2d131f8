//! The result of a characterization.

use serde::Serialize;
use sledlab_core::stats::Distribution;

use super::gaps::ArrivalGaps;
use super::hours::Hour;
use super::reuse_distance::ReuseDistances;
use super::written_reuse::WrittenReuse;

/// Statistics of a workload. See [`super`] for the conventions.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Requests of all kinds.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Reads and writes by device, lowest device first.
    pub devices: Vec<DeviceCount>,
    /// Seconds from the first arrival to the last, of requests of any kind.
    pub span_s: f64,
    /// Reads and writes per second of the span; `None` when the span is zero.
    pub rate_per_s: Option<f64>,
    /// Share of reads; `None` without reads and writes.
    pub read_share: Option<f64>,
    /// Share of reads and writes for metadata, where the workload marks them; `None` without reads and writes.
    pub metadata_share: Option<f64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Sizes of requests.
    pub sizes: Sizes,
    /// The highest first block of a request; `None` without reads and writes.
    pub highest_start_block: Option<u64>,
    /// The block after the highest accessed block: the minimum capacity for the workload.
    pub end_block: u64,
    /// Bytes from the lowest accessed address to the highest.
    pub address_span_bytes: u64,
    /// Share of requests that begin and end at multiples of 4 KiB; `None` without reads and writes.
    pub aligned_4k_share: Option<f64>,
    /// Distinct data touched.
    pub working_set: WorkingSet,
    /// Share of the 4 KiB blocks written that had been written before in the workload; `None` without writes.
    pub overwrite_ratio: Option<f64>,
    /// Share of writes that start at one of the 50 addresses written most often; `None` without writes.
    pub hot_50_write_share: Option<f64>,
    /// How requests follow each other by address.
    pub sequentiality: Sequentiality,
    /// Times between arrivals.
    pub interarrival_ms: Interarrivals,
    /// Long gaps between arrivals: an upper bound of the idle periods of a device.
    pub arrival_gaps: ArrivalGaps,
    /// Variability of the number of arrivals in windows of several lengths.
    pub dispersion: Vec<Dispersion>,
    /// Reads and writes in each sixth of the span; good to 1/65,536 of the span.
    pub requests_per_sixth: [u64; 6],
    /// Hit ratios of caches that replace the least recently used block, smallest cache first.
    pub cache_hits: Vec<HitRatio>,
    /// Hit ratio of a cache of unlimited size. `None` without reads and writes, and for cache blocks other than 4 KiB.
    pub unlimited_hit_ratio: Option<f64>,
    /// Distances at which blocks are used again.
    pub reuse_distances: ReuseDistances,
    /// Reads that hit in caches which hold only written data.
    pub written_reuse: WrittenReuse,
    /// Each hour with reads or writes, counted from the first request.
    pub hours: Vec<Hour>,
}

/// Requests of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceCount {
    /// Device number in the trace.
    pub device: u16,
    /// Reads and writes of the device.
    pub requests: u64,
}

/// Sizes of requests.
#[derive(Clone, Debug, Serialize)]
pub struct Sizes {
    /// Sizes of reads and writes together.
    pub all: SizeSummary,
    /// Sizes of reads.
    pub read: SizeSummary,
    /// Sizes of writes.
    pub write: SizeSummary,
    /// Up to ten of the most frequent sizes, in descending order of frequency.
    pub commonest: Vec<CommonSize>,
}

/// Sizes of one kind of request; `None` without requests. Percentiles are the nearest rank, exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SizeSummary {
    /// Number of requests.
    pub requests: u64,
    /// Mean.
    pub mean_kb: Option<f64>,
    /// Squared coefficient of variation: variance / mean^2.
    pub scv: Option<f64>,
    /// Smallest.
    pub min_kb: Option<f64>,
    /// Median.
    pub p50_kb: Option<f64>,
    /// 90th percentile.
    pub p90_kb: Option<f64>,
    /// 99th percentile.
    pub p99_kb: Option<f64>,
    /// Largest.
    pub max_kb: Option<f64>,
    /// Share below 8 KB, the page of most file systems and databases.
    pub below_8kb_share: Option<f64>,
}

/// A size of requests of one kind, and its share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CommonSize {
    /// `R` or `W`.
    pub op: char,
    /// Size.
    pub kb: f64,
    /// Share of all reads and writes.
    pub share: f64,
}

/// Distinct data touched, in bytes. A block counts in full if any part of it is touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkingSet {
    /// 4 KiB blocks read.
    pub read_4k_bytes: u64,
    /// 4 KiB blocks written.
    pub written_4k_bytes: u64,
    /// 4 KiB blocks read or written.
    pub all_4k_bytes: u64,
    /// 512-byte blocks read.
    pub read_512_bytes: u64,
    /// 512-byte blocks written.
    pub written_512_bytes: u64,
    /// 512-byte blocks read or written.
    pub all_512_bytes: u64,
}

/// How requests follow each other by address, as shares of all reads and writes; `None` without reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sequentiality {
    /// Share of requests that start where the previous request of the device ended.
    pub one_stream_share: Option<f64>,
    /// Share of requests that start where one of the last 32 streams ended. Streams that end at the same block are one;
    /// the least recently used stream is forgotten; a request that continues no stream starts a new one.
    pub streams_32_share: Option<f64>,
    /// Share of requests that start where the previous request ended or exactly 16 KB further, the interleave of older
    /// file systems.
    pub with_16kb_gap_share: Option<f64>,
    /// Share of requests that start within 10,000 blocks of the start of the previous one, and are not sequential.
    pub local_share: Option<f64>,
    /// Share of requests that are reads and start where the previous request, also a read, ended: the two could be
    /// merged.
    pub mergeable_read_pairs_share: Option<f64>,
}

/// Times between arrivals of reads and writes, in ms; `None` with fewer than two requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interarrivals {
    /// Mean.
    pub mean: Option<f64>,
    /// Squared coefficient of variation: variance / mean^2; 1 for a Poisson process, `None` if the mean is 0.
    pub scv: Option<f64>,
    /// Median; percentiles are good to 0.05 %.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Longest.
    pub max: Option<f64>,
}

impl Interarrivals {
    pub(super) fn from_gaps(gaps: &Distribution) -> Self {
        if gaps.moments().count() == 0 {
            return Interarrivals::default();
        }
        let quantile = |q| Some(gaps.quantile_ns(q) as f64 / 1e6);
        let mean = gaps.moments().mean() / 1e6;
        Interarrivals {
            mean: Some(mean),
            scv: (mean > 0.0).then(|| gaps.moments().scv()),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: Some(gaps.moments().max() as f64 / 1e6),
        }
    }
}

/// Arrivals counted in windows of one length, beginning with the first read or write.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Dispersion {
    /// Length of the windows.
    pub window_s: u64,
    /// Variance of the counts over their mean, full windows only; 1 for a Poisson process, `None` with fewer than two
    /// windows.
    pub index: Option<f64>,
    /// The maximum number of requests in a window.
    pub busiest: u64,
}

/// The hit ratio of a simulated cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HitRatio {
    /// Size of the cache, MB of 2^20 bytes.
    pub cache_mb: u64,
    /// Share of block accesses, reads and writes, that hit; `None` without accesses. The cache starts empty.
    pub hit_ratio: Option<f64>,
}
