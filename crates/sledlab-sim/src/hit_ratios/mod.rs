//! Hit ratios of caches under a workload, by replacement policy and cache size, without a device.

mod future;
mod recency;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rand::RngExt;
use rangemap::RangeSet;
use serde::Serialize;
use sledlab_core::hash::{Map, Set};
use sledlab_core::{Error, Op, Request, Result, Source};
use sledlab_models::replacement::{AccessResult, Choice, Use};

use self::future::{Future, Part};
use self::recency::LastUseCaches;

/// Wall-clock time between two calls of `watch` while the workers compute.
const WATCH_PERIOD: Duration = Duration::from_millis(20);

/// Number of uses after which `watch` is called, and a policy is checked for errors.
const POLL_USES: u32 = 256;

/// Minimum number of segments of a request that are counted as a range.
const LONG_RUN: u64 = 64;

/// The uses of segments by a workload, in order. Devices are separate address spaces: their segments lie one after
/// another. Memory use grows with the number of requests, not with their lengths.
#[derive(Clone, Debug)]
pub struct Uses {
    runs: Vec<Run>,
    /// Blocks of a segment.
    segment_blocks: u64,
    /// Number of different segments.
    segments: usize,
    /// Whether a read that misses inserts its segments. Otherwise only writes use the cache: reads find segments in it,
    /// without a use.
    admits_reads: bool,
}

/// The blocks of a request, which uses each of their segments once, in order.
#[derive(Clone, Copy, Debug)]
struct Run {
    lbn: u64,
    blocks: u32,
    device: u16,
    is_write: bool,
}

impl Run {
    fn from_request(request: &Request) -> Self {
        let is_write = request.op == Op::Write;
        Run { lbn: request.lbn, blocks: request.blocks, device: request.device, is_write }
    }

    fn end(self) -> u64 {
        self.lbn + u64::from(self.blocks)
    }

    /// The segments.
    fn keys(self, segment_blocks: u64) -> Range<u64> {
        self.lbn / segment_blocks..(self.end() - 1) / segment_blocks + 1
    }
}

/// Moves the runs of each device behind those of the device before it; `ends` has the end of each device.
fn place_devices(runs: &mut [Run], ends: &[u64], segment_blocks: u64) -> Result<()> {
    let mut starts = Vec::with_capacity(ends.len());
    let mut start = 0_u64;
    for end in ends {
        starts.push(start);
        start = end
            .checked_next_multiple_of(segment_blocks)
            .and_then(|size| start.checked_add(size))
            .ok_or_else(|| {
                Error::user("the devices of the trace are too large together")
                    .with_remedy("choose some of them")
            })?;
    }
    for run in runs {
        run.lbn += starts[usize::from(run.device)];
    }
    Ok(())
}

/// Counts different segments.
#[derive(Debug, Default)]
struct DistinctSegments {
    /// A bit for each of 64 segments, by the number of the first divided by 64.
    words: Map<u64, u64>,
    ranges: RangeSet<u64>,
}

impl DistinctSegments {
    fn insert(&mut self, keys: Range<u64>) {
        if keys.end - keys.start < LONG_RUN {
            for key in keys {
                *self.words.entry(key / 64).or_default() |= 1 << (key % 64);
            }
        } else {
            self.ranges.insert(keys);
        }
    }

    fn count(&self) -> usize {
        let in_ranges: u64 = self.ranges.iter().map(|range| range.end - range.start).sum();
        let mut count = in_ranges as usize;
        for (word, bits) in &self.words {
            let mut bits = *bits;
            while bits != 0 {
                let key = word * 64 + u64::from(bits.trailing_zeros());
                count += usize::from(!self.ranges.contains(&key));
                bits &= bits - 1;
            }
        }
        count
    }
}

/// The use of a segment by a request.
#[derive(Clone, Copy, Debug)]
struct SegmentUse {
    access: Use,
    /// Blocks of the segment that the request reads or writes.
    blocks: u32,
    is_write: bool,
    /// Whether the request uses the cache, and does not only look whether the cache holds the segment.
    is_admitted: bool,
    /// Whether it is the last segment of the request.
    ends_request: bool,
}

/// Uses, requests and blocks, and hits of each, of reads or of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindHits {
    /// Segments used.
    pub uses: u64,
    /// Segments used that were in the cache.
    pub hits: u64,
    /// Requests.
    pub requests: u64,
    /// Requests of which all segments were in the cache.
    pub request_hits: u64,
    /// Blocks read or written.
    pub blocks: u64,
    /// Blocks in segments that were in the cache.
    pub block_hits: u64,
}

/// Uses and hits of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hits {
    /// Those of reads.
    pub reads: KindHits,
    /// Those of writes.
    pub writes: KindHits,
    /// Segments that a write-back cache destages, those that are dirty at the end included. `None` if they were not
    /// counted.
    pub destages: Option<u64>,
}

/// Counts uses and hits of one cache.
#[derive(Debug)]
struct Tally {
    hits: Hits,
    /// Whether all segments of the request so far were hits.
    is_request_hit: bool,
    /// Dirty segments; `None` if destages are not counted.
    dirty: Option<Set<u64>>,
}

impl Tally {
    fn new(counts_destages: bool) -> Self {
        Tally { hits: Hits::default(), is_request_hit: true, dirty: counts_destages.then(Set::default) }
    }

    #[inline]
    fn count(&mut self, each: &SegmentUse, result: AccessResult) {
        let is_hit = result == AccessResult::Hit;
        let counts = if each.is_write { &mut self.hits.writes } else { &mut self.hits.reads };
        counts.uses += 1;
        counts.hits += u64::from(is_hit);
        counts.blocks += u64::from(each.blocks);
        counts.block_hits += u64::from(is_hit) * u64::from(each.blocks);
        self.is_request_hit &= is_hit;
        if each.ends_request {
            counts.requests += 1;
            counts.request_hits += u64::from(self.is_request_hit);
            self.is_request_hit = true;
        }
        if let Some(dirty) = &mut self.dirty {
            if each.is_write && dirty.insert(each.access.key) {
                *self.hits.destages.get_or_insert(0) += 1;
            }
            if let AccessResult::Miss { victim: Some(victim) } = result {
                dirty.remove(&victim);
            }
        }
    }

    fn hits(mut self) -> Hits {
        if self.dirty.is_some() {
            self.hits.destages.get_or_insert(0);
        }
        self.hits
    }
}

/// Caches that a worker computes together.
#[derive(Debug)]
enum Task<'a> {
    /// One cache, given by its number, policy and capacity.
    Cache(usize, &'a Choice, usize),
    /// All caches that evict by last use, given by their capacities, in ascending order, with their numbers.
    LastUse(Vec<(usize, usize)>),
}

/// The number of each cache of a task with its hits.
type NumberedHits = Vec<(usize, Result<Hits>)>;

/// The tasks of caches: those that evict by last use are computed together if there are several.
fn tasks(caches: &[(Choice, usize)]) -> Vec<Task<'_>> {
    let evicts_by_last_use =
        |(choice, capacity): &(Choice, usize)| choice.evicts_by_last_use() && *capacity > 0;
    let mut last_use: Vec<(usize, usize)> = caches
        .iter()
        .enumerate()
        .filter(|(_, cache)| evicts_by_last_use(cache))
        .map(|(number, (_, capacity))| (*capacity, number))
        .collect();
    last_use.sort_unstable();
    let is_joint = last_use.len() > 1;
    let joint_task = is_joint.then_some(Task::LastUse(last_use));
    let single_tasks = caches
        .iter()
        .enumerate()
        .filter(|(_, cache)| !(is_joint && evicts_by_last_use(cache)))
        .map(|(number, (choice, capacity))| Task::Cache(number, choice, *capacity));
    joint_task.into_iter().chain(single_tasks).collect()
}

impl Uses {
    /// Reads all of `source`, with segments of `segment_blocks` blocks. Trims and flushes use no segment.
    ///
    /// # Errors
    /// The errors of the source, and those of `watch`, which is called before every chunk.
    pub fn from_source(
        source: &mut dyn Source,
        segment_blocks: u64,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let (mut runs, mut chunk, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        while watch().and_then(|()| source.fill(&mut chunk))? > 0 {
            for request in chunk.drain(..).filter(|r| r.op.is_media() && r.blocks > 0) {
                let run = Run::from_request(&request);
                let device = usize::from(run.device);
                if device >= ends.len() {
                    ends.resize(device + 1, 0);
                }
                ends[device] = run.end().max(ends[device]);
                runs.push(run);
            }
        }
        if ends.len() > 1 {
            place_devices(&mut runs, &ends, segment_blocks)?;
        }
        Ok(Uses::from_runs(runs, segment_blocks))
    }

    fn from_runs(runs: Vec<Run>, segment_blocks: u64) -> Self {
        let mut distinct = DistinctSegments::default();
        for run in &runs {
            distinct.insert(run.keys(segment_blocks));
        }
        Uses { runs, segment_blocks, segments: distinct.count(), admits_reads: true }
    }

    /// Returns the same uses of caches which only writes enter. Reads hit in them, but do not change them.
    #[must_use]
    pub fn admitting_only_writes(self) -> Self {
        Uses { admits_reads: false, ..self }
    }

    /// Returns the number of different segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// Returns the number of uses of segments.
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|run| run.keys(self.segment_blocks)).map(|keys| keys.end - keys.start).sum()
    }

    /// Returns `count` samples of segments: a hash of its number decides in which sample a segment is, if any. Each
    /// sample has all uses of the share `rate` of the segments, each use as a request (SHARDS: Waldspurger et al. 2015,
    /// FAST). Samples of other seeds are independent of these.
    ///
    /// # Errors
    /// The errors of `watch`.
    pub fn samples(
        &self,
        count: usize,
        rate: f64,
        seed: u64,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<Self>> {
        let salt: u64 = sledlab_core::seed::stream(seed, "segments").random();
        let mut sampled_runs = vec![Vec::new(); count];
        self.visit(None, watch, |each| {
            // The upper 53 bits of the hash, as a float below 1.
            let share = (mix(each.access.key ^ salt) >> 11) as f64 / (1_u64 << 53) as f64;
            if let Some(runs) = sampled_runs.get_mut((share / rate) as usize) {
                let lbn = each.access.key * self.segment_blocks;
                runs.push(Run { lbn, blocks: each.blocks, device: 0, is_write: each.is_write });
            }
        })?;
        let sample =
            |runs| Uses { admits_reads: self.admits_reads, ..Uses::from_runs(runs, self.segment_blocks) };
        Ok(sampled_runs.into_iter().map(sample).collect())
    }

    /// Calls `visit` for every use, in order, and `watch` from time to time; stops at an error of `watch`. The next uses
    /// are those of `future`, if known.
    fn visit(
        &self,
        future: Option<&Future>,
        watch: &mut dyn FnMut() -> Result<()>,
        mut visit: impl FnMut(&SegmentUse),
    ) -> Result<()> {
        let mut uses_before_poll = 0;
        for (number, run) in self.runs.iter().enumerate() {
            let keys = run.keys(self.segment_blocks);
            let unknown = [Part { end: keys.end, next: Use::NO_NEXT }];
            let (mut key, mut lbn) = (keys.start, run.lbn);
            let mut segment_end = key * self.segment_blocks;
            for part in future.map_or(&unknown[..], |future| future.parts(number)) {
                let begin = key;
                while key < part.end {
                    if uses_before_poll == 0 {
                        uses_before_poll = POLL_USES;
                        watch()?;
                    }
                    uses_before_poll -= 1;
                    // The last segment may end beyond the largest address.
                    segment_end = segment_end.saturating_add(self.segment_blocks);
                    let end = run.end().min(segment_end);
                    let is_used = part.next != Use::NO_NEXT;
                    let next = if is_used { part.next + (key - begin) } else { Use::NO_NEXT };
                    visit(&SegmentUse {
                        access: Use { key, next },
                        blocks: (end - lbn) as u32,
                        is_write: run.is_write,
                        is_admitted: run.is_write || self.admits_reads,
                        ends_request: key + 1 == keys.end,
                    });
                    key += 1;
                    lbn = end;
                }
            }
        }
        Ok(())
    }

    /// Returns the hits of each policy in caches of the given numbers of segments, in the order of `caches`. Policies
    /// run on all processors, except those from outside the crate, which run on the calling thread.
    ///
    /// # Errors
    /// A cache too small for a segment, an error of a policy, a policy that requires knowledge of the future of a cache
    /// which only writes enter, and an error of `watch`, which is called repeatedly, on the calling thread only.
    pub fn hits(
        &self,
        caches: &[(Choice, usize)],
        counts_destages: bool,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<Hits>> {
        let needs_future = caches.iter().find(|(choice, _)| choice.needs_future());
        if let Some((choice, _)) = needs_future
            && !self.admits_reads
        {
            let message = format!("{} is no bound for a cache which only writes enter", choice.name());
            return Err(Error::user(message).with_remedy("omit this policy, or let reads enter the cache"));
        }
        let future = if needs_future.is_some() { Some(self.future(watch)?) } else { None };
        let (custom, listed): (Vec<_>, Vec<_>) = tasks(caches)
            .into_iter()
            .partition(|task| matches!(task, Task::Cache(_, choice, _) if choice.is_custom()));
        let compute = |task: &Task<'_>, watch: &mut dyn FnMut() -> Result<()>| {
            self.compute(task, future.as_ref(), counts_destages, watch)
        };
        let mut numbered_hits = compute_on_all_processors(&listed, &compute, watch)?;
        for task in custom {
            numbered_hits.extend(compute(&task, watch));
        }
        numbered_hits.sort_unstable_by_key(|(number, _)| *number);
        numbered_hits.into_iter().map(|(_, hits)| hits).collect()
    }

    fn compute(
        &self,
        task: &Task<'_>,
        future: Option<&Future>,
        counts_destages: bool,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> NumberedHits {
        match task {
            Task::Cache(number, choice, capacity) => {
                vec![(*number, self.cache_hits(choice, *capacity, future, counts_destages, watch))]
            }
            Task::LastUse(caches) => {
                let capacities: Vec<usize> = caches.iter().map(|(capacity, _)| *capacity).collect();
                match self.last_use_hits(&capacities, counts_destages, watch) {
                    Ok(hits) => {
                        caches.iter().zip(hits).map(|((_, number), hits)| (*number, Ok(hits))).collect()
                    }
                    Err(error) => vec![(caches[0].1, Err(error))],
                }
            }
        }
    }

    /// Returns the hits of one cache; stops at an error of `watch`.
    fn cache_hits(
        &self,
        choice: &Choice,
        capacity: usize,
        future: Option<&Future>,
        counts_destages: bool,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Hits> {
        let policy = RefCell::new(choice.make(capacity)?);
        let mut tally = Tally::new(counts_destages);
        let mut check = || watch().and_then(|()| policy.borrow_mut().failure().map_or(Ok(()), Err));
        self.visit(future, &mut check, |each| {
            let mut policy = policy.borrow_mut();
            let access_result = if each.is_admitted {
                policy.access(each.access)
            } else if policy.holds(each.access.key) {
                AccessResult::Hit
            } else {
                AccessResult::Miss { victim: None }
            };
            tally.count(each, access_result);
        })?;
        check()?;
        Ok(tally.hits())
    }

    /// Returns the hits of caches that evict by last use, in one pass; their `capacities` ascend.
    fn last_use_hits(
        &self,
        capacities: &[usize],
        counts_destages: bool,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<Hits>> {
        let mut caches = LastUseCaches::new(capacities);
        self.visit(None, watch, |each| caches.access(each))?;
        Ok(caches.hits(counts_destages))
    }
}

/// Computes the hits of caches on all processors. `watch` is called repeatedly, on the calling thread.
fn compute_on_all_processors(
    tasks: &[Task<'_>],
    compute: &(impl Fn(&Task<'_>, &mut dyn FnMut() -> Result<()>) -> NumberedHits + Sync),
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<NumberedHits> {
    let (next_task, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let check_stop = || if stop.load(Ordering::Relaxed) { Err(Error::interrupted()) } else { Ok(()) };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(tasks.len());
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while let Some(task) = tasks.get(next_task.fetch_add(1, Ordering::Relaxed))
                    && sender.send(compute(task, &mut || check_stop())).is_ok()
                {}
            });
        }
        drop(sender);
        let mut numbered_hits = Vec::new();
        loop {
            match receiver.recv_timeout(WATCH_PERIOD) {
                Ok(hits) => numbered_hits.extend(hits),
                Err(RecvTimeoutError::Disconnected) => return Ok(numbered_hits),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // Workers poll `stop` and end soon; the scope waits for all of them.
            watch().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        }
    })
}

/// Returns a hash of a number, the finalizer of splitmix64 (Steele, Lea and Flood 2014).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
