//! Statistics of a workload: rate, reads, sizes, addresses, bursts, reuse.
//!
//! One pass, in memory that grows with the data touched and not with the number of
//! requests: a bit for each 512 bytes read and each written, in pages of 256 KiB,
//! and a counter for each address at which a write has started. Long requests take ranges
//! instead of bits, so that memory and time do not grow with the length of a request.
//!
//! Unless stated otherwise, statistics count reads and writes only, KB is 1024 bytes, and shares are of all reads and
//! writes. Devices are treated separately: a request continues, overlaps or repeats only requests to its
//! own device. A statistic of requests that the workload does not have is `None`.

mod burstiness;
mod footprint;
mod gaps;
mod hours;
mod pages;
mod report;
mod reuse;
mod reuse_distance;
mod sequentiality;
mod sizes;
mod written_reuse;

use sledlab_core::hash::Map;
use sledlab_core::stats::Distribution;
use sledlab_core::{BLOCK_BYTES, Error, Op, Request, Result, Source, Time};

use burstiness::{ArrivalTimeline, Window};
use footprint::{Footprint, Touched};
use gaps::GapCollector;
pub use gaps::{ArrivalGaps, LongGaps};
use hours::{AddressSpan, HourCollector};
pub use hours::{CylinderMap, Hour};
pub use report::{
    CommonSize, DeviceCount, Dispersion, HitRatio, Interarrivals, Report, Sequentiality, SizeSummary, Sizes,
    WorkingSet,
};
use reuse::Reuse;
pub use reuse_distance::{DistanceBin, DistanceShares, ReuseDistances};
pub use written_reuse::{WrittenCacheHits, WrittenReuse};

/// Blocks in 4 KiB, the unit of the working set and of alignment.
const BLOCKS_PER_4K: u64 = 4096 / BLOCK_BYTES;

/// Windows in which arrivals are counted for the index of dispersion, seconds.
const WINDOWS_S: [u64; 4] = [1, 10, 60, 3600];

/// Number of addresses, those written most often, whose share of writes is reported.
const HOT_ADDRESSES: usize = 50;

/// Settings of a characterization.
#[derive(Clone, Debug)]
pub struct CharacterOptions {
    /// Unit of the simulated caches in bytes, a multiple of 512.
    pub cache_block_bytes: u64,
    /// Sizes of the simulated caches in MB of 2^20 bytes, smallest first.
    pub cache_sizes_mb: Vec<u64>,
    /// The device of which cylinders are counted.
    pub cylinder_map: Option<CylinderMap>,
}

impl Default for CharacterOptions {
    /// Blocks of 4 KiB; 64, 256 and 512 MB, the cache sizes of Wang 2005.
    fn default() -> Self {
        CharacterOptions { cache_block_bytes: 4096, cache_sizes_mb: vec![64, 256, 512], cylinder_map: None }
    }
}

/// Collects the statistics of a workload, request by request.
///
/// ```
/// use sledlab_trace::{characterize::Characterization, synthetic};
/// let mut source = synthetic::build("mems-check", &toml::Table::new(), 7, 6_750_000).unwrap();
/// let mut characterization = Characterization::default();
/// let mut requests = Vec::new();
/// while source.fill(&mut requests).unwrap() > 0 {}
/// for request in &requests {
///     characterization.record(request);
/// }
/// assert_eq!(characterization.finish().requests, 10_000);
/// ```
#[derive(Clone, Debug)]
pub struct Characterization {
    trims: u64,
    flushes: u64,
    /// First and last arrival of any request.
    span: Option<(Time, Time)>,
    media_requests: u64,
    metadata: u64,
    aligned: u64,
    highest_start_block: Option<u64>,
    address_span: AddressSpan,
    last_media_arrival: Option<Time>,
    gaps: Distribution,
    long_gaps: GapCollector,
    windows: [Window; WINDOWS_S.len()],
    timeline: ArrivalTimeline,
    sizes: sizes::SizeCollector,
    sequentiality: sequentiality::SequentialityCollector,
    footprint: Footprint,
    /// What the requests being recorded have touched.
    touched: Vec<Touched>,
    reuse: Reuse,
    hours: HourCollector,
    /// For each address, how many writes started there.
    write_starts: Map<u64, u32>,
}

impl Default for Characterization {
    fn default() -> Self {
        Self::with_options(&CharacterOptions::default())
    }
}

impl Characterization {
    /// Returns a characterization with user-defined caches.
    ///
    /// # Errors
    /// The cache block is not a multiple of 512 bytes, or a cache is empty, too large or not larger than the one
    /// before.
    pub fn new(options: &CharacterOptions) -> Result<Self> {
        let sizes = &options.cache_sizes_mb;
        let unit = options.cache_block_bytes;
        if unit == 0 || !unit.is_multiple_of(BLOCK_BYTES) || unit > 1 << 20 {
            return Err(Error::user(format!("cache blocks of {unit} bytes are not supported"))
                .with_remedy("choose a multiple of 512 up to 1048576"));
        }
        if !sizes.is_sorted_by(|a, b| a < b) || sizes.first() == Some(&0) || sizes.last() > Some(&(1 << 20)) {
            return Err(Error::user(format!("cache sizes of {sizes:?} MB are not supported"))
                .with_remedy("choose sizes from 1 to 1048576 MB, in ascending order, each once"));
        }
        Ok(Self::with_options(options))
    }

    fn with_options(options: &CharacterOptions) -> Self {
        Characterization {
            trims: 0,
            flushes: 0,
            span: None,
            media_requests: 0,
            metadata: 0,
            aligned: 0,
            highest_start_block: None,
            address_span: AddressSpan::default(),
            last_media_arrival: None,
            gaps: Distribution::default(),
            long_gaps: GapCollector::default(),
            windows: WINDOWS_S.map(Window::new),
            timeline: ArrivalTimeline::default(),
            sizes: sizes::SizeCollector::default(),
            sequentiality: sequentiality::SequentialityCollector::default(),
            footprint: Footprint::default(),
            touched: Vec::new(),
            reuse: Reuse::new(options),
            hours: HourCollector::new(options.cylinder_map.clone()),
            write_starts: Map::default(),
        }
    }

    /// Takes the next request; arrivals must not decrease.
    pub fn record(&mut self, request: &Request) {
        self.record_all(std::slice::from_ref(request));
    }

    /// Takes the next requests; arrivals must not decrease.
    ///
    /// Each of the large structures is used in a loop of its own, so that processors overlap their accesses to memory.
    pub fn record_all(&mut self, requests: &[Request]) {
        for request in requests {
            let start = self.span.map_or(request.arrival, |(start, _)| start);
            self.span = Some((start, request.arrival));
            match request.op {
                Op::Trim => self.trims += 1,
                Op::Flush => self.flushes += 1,
                Op::Read | Op::Write => self.record_media(request, start),
            }
        }
        let media = || requests.iter().filter(|request| request.op.is_media());
        for request in media().filter(|request| request.op == Op::Write) {
            *self.write_starts.entry(key(request.device, request.lbn)).or_default() += 1;
        }
        self.touched.clear();
        self.touched.extend(media().map(|request| self.footprint.record(request)));
        for (request, touched) in media().zip(&self.touched) {
            let places = self.footprint.places_in_reuse(*touched);
            self.reuse.record(request, touched.is_written, places);
        }
    }

    fn record_media(&mut self, request: &Request, start: Time) {
        self.media_requests += 1;
        self.metadata += u64::from(request.metadata);
        self.aligned += u64::from((request.lbn | u64::from(request.blocks)).is_multiple_of(BLOCKS_PER_4K));
        self.highest_start_block = self.highest_start_block.max(Some(request.lbn));
        self.address_span.record(request);
        if let Some(last) = self.last_media_arrival.replace(request.arrival) {
            let gap_ns = request.arrival.since(last).as_ns();
            self.gaps.record(gap_ns);
            self.long_gaps.record(gap_ns);
        }
        self.timeline.record(request.arrival.since(start).as_ns());
        for window in &mut self.windows {
            window.record(request.arrival);
        }
        self.sizes.record(request.op, request.blocks);
        self.sequentiality.record(request);
        self.hours.record(request, start);
    }

    /// The statistics of the requests so far.
    pub fn finish(&self) -> Report {
        let sizes = self.sizes.summarize();
        let span_ns = self.span.map_or(0, |(first, last)| last.since(first).as_ns());
        let span_s = span_ns as f64 / 1e9;
        let share = |count: u64| ratio(count, self.media_requests);
        let working_set = self.footprint.working_set();
        let distinct_4k = working_set.all_4k_bytes / (BLOCKS_PER_4K * BLOCK_BYTES);
        Report {
            requests: self.media_requests + self.trims + self.flushes,
            reads: sizes.read.requests,
            writes: sizes.write.requests,
            trims: self.trims,
            flushes: self.flushes,
            devices: self.sequentiality.devices(),
            span_s,
            rate_per_s: (span_ns > 0).then(|| self.media_requests as f64 / span_s),
            read_share: share(sizes.read.requests),
            metadata_share: share(self.metadata),
            bytes_read: self.sizes.bytes(Op::Read),
            bytes_written: self.sizes.bytes(Op::Write),
            sizes,
            highest_start_block: self.highest_start_block,
            end_block: self.address_span.end_block(),
            address_span_bytes: self.address_span.bytes(),
            aligned_4k_share: share(self.aligned),
            working_set,
            overwrite_ratio: self.footprint.overwrite_ratio(),
            hot_50_write_share: self.hot_write_share(),
            sequentiality: self.sequentiality.summarize(self.media_requests),
            interarrival_ms: Interarrivals::from_gaps(&self.gaps),
            arrival_gaps: self.long_gaps.summarize(),
            dispersion: self.windows.iter().map(Window::summarize).collect(),
            requests_per_sixth: self.timeline.parts(span_ns),
            cache_hits: self.reuse.hit_ratios(),
            unlimited_hit_ratio: self.reuse.unlimited_hit_ratio(distinct_4k),
            reuse_distances: self.reuse.reuse_distances(distinct_4k, self.footprint.units_first_read()),
            written_reuse: self.reuse.written_reuse(),
            hours: self.hours.summarize(),
        }
    }

    /// The share of writes at the addresses written most often.
    fn hot_write_share(&self) -> Option<f64> {
        let mut counts: Vec<u32> = self.write_starts.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let sum_counts = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum();
        ratio(sum_counts(&counts[..counts.len().min(HOT_ADDRESSES)]), sum_counts(&counts))
    }
}

/// Characterizes all remaining requests of a source.
///
/// # Errors
/// The source's own, and invalid options.
pub fn characterize(source: &mut dyn Source, options: &CharacterOptions) -> Result<Report> {
    characterize_with_progress(source, options, &mut || Ok(()))
}

/// Like [`characterize`]; `watch` is called once for every request.
///
/// # Errors
/// The errors of [`characterize`] and of `watch`.
pub fn characterize_with_progress(
    source: &mut dyn Source,
    options: &CharacterOptions,
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<Report> {
    let mut characterization = Characterization::new(options)?;
    let mut chunk = Vec::new();
    while source.fill(&mut chunk)? > 0 {
        for _ in &chunk {
            watch()?;
        }
        characterization.record_all(&chunk);
        chunk.clear();
    }
    Ok(characterization.finish())
}

/// A key for block or page `number` of `device`. Keys are distinct as long as a device has fewer than 2^48 blocks,
/// which is 144 PB.
fn key(device: u16, number: u64) -> u64 {
    number ^ (u64::from(device) << 48)
}

/// Returns `part / total`; `None` if `total` is 0.
fn ratio(part: u64, total: u64) -> Option<f64> {
    (total > 0).then(|| part as f64 / total as f64)
}

#[cfg(test)]
mod tests;
