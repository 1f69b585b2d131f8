//! Hit ratios of caches under a workload, by replacement policy and cache size, without a device.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rangemap::{RangeMap, RangeSet};
use serde::Serialize;
use sledlab_core::hash::Set;
use sledlab_core::{Error, Op, Request, Result, Source};
use sledlab_models::replacement::{AccessResult, Choice, Use};

/// Wall-clock time between two calls of `watch` while the workers compute.
const WATCH_PERIOD: Duration = Duration::from_millis(20);

/// Number of uses after which a policy is checked for errors.
const POLL_USES: usize = 4096;

/// Minimum number of segments of a request that are counted as a range.
const LONG_RUN: u64 = 64;

/// The uses of segments by a workload, in order. Devices are separate address spaces: their segments lie one after
/// another. Memory use grows with the number of requests, not with their lengths.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    runs: Vec<Run>,
    /// Number of different segments.
    segments: usize,
}

/// The segments of a request, each of which the request uses once, in order.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    count: u32,
    device: u16,
    is_write: bool,
}

impl Run {
    fn from_request(request: &Request, segment_blocks: u64) -> Self {
        let (first, last) = (request.lbn / segment_blocks, (request.end() - 1) / segment_blocks);
        let count = (last - first + 1) as u32;
        Run { first, count, device: request.device, is_write: request.op == Op::Write }
    }

    fn keys(self) -> Range<u64> {
        self.first..self.first + u64::from(self.count)
    }
}

/// Moves the runs of each device behind those of the device before it; `ends` has the end of each device.
fn place_devices(runs: &mut [Run], ends: &[u64]) -> Result<()> {
    let mut starts = Vec::with_capacity(ends.len());
    let mut start = 0_u64;
    for end in ends {
        starts.push(start);
        start = start.checked_add(*end).ok_or_else(|| {
            Error::user("the devices of the trace are too large together").with_remedy("choose some of them")
        })?;
    }
    for run in runs {
        run.first += starts[usize::from(run.device)];
    }
    Ok(())
}

/// Counts different segments.
#[derive(Debug, Default)]
struct DistinctSegments {
    single: Set<u64>,
    ranges: RangeSet<u64>,
}

impl DistinctSegments {
    fn insert(&mut self, keys: Range<u64>) {
        if keys.end - keys.start < LONG_RUN {
            self.single.extend(keys);
        } else {
            self.ranges.insert(keys);
        }
    }

    fn count(&self) -> usize {
        let in_ranges: u64 = self.ranges.iter().map(|range| range.end - range.start).sum();
        self.single.iter().filter(|key| !self.ranges.contains(key)).count() + in_ranges as usize
    }
}

/// For every use, the number of the next use of the same segment.
#[derive(Debug, Default)]
struct Future {
    /// Parts of the runs, the last run first.
    parts: Vec<Part>,
    /// For each run, the first of its parts.
    part_offsets: Vec<usize>,
}

/// Segments of a run whose next uses follow each other.
#[derive(Clone, Copy, Debug)]
struct Part {
    end: u64,
    /// Number of the next use of the first segment; [`Use::NO_NEXT`] for parts whose segments are not used again.
    next: u64,
}

impl Future {
    /// The parts of a run.
    fn parts(&self, run: usize) -> &[Part] {
        let end = run.checked_sub(1).map_or(self.parts.len(), |previous| self.part_offsets[previous]);
        &self.parts[self.part_offsets[run]..end]
    }
}

/// Uses and hits of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hits {
    /// Segments used by reads.
    pub reads: u64,
    /// Segments used by reads that were in the cache.
    pub read_hits: u64,
    /// Segments used by writes.
    pub writes: u64,
    /// Segments used by writes that were in the cache.
    pub write_hits: u64,
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
                let run = Run::from_request(&request, segment_blocks);
                let device = usize::from(run.device);
                if device >= ends.len() {
                    ends.resize(device + 1, 0);
                }
                ends[device] = run.keys().end.max(ends[device]);
                runs.push(run);
            }
        }
        place_devices(&mut runs, &ends)?;
        let mut distinct = DistinctSegments::default();
        for run in &runs {
            distinct.insert(run.keys());
        }
        Ok(Uses { runs, segments: distinct.count() })
    }

    /// Returns the number of different segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// Returns the next uses of all uses, computed from the last run to the first.
    fn future(&self, watch: &mut dyn FnMut() -> Result<()>) -> Result<Future> {
        let mut future = Future { parts: Vec::new(), part_offsets: Vec::with_capacity(self.runs.len()) };
        // By segment: the number of its next use minus the number of the segment, which is the same for all segments of
        // a run.
        let mut next: RangeMap<u64, u64> = RangeMap::new();
        let mut number: u64 = self.runs.iter().map(|run| u64::from(run.count)).sum();
        for run in self.runs.iter().rev() {
            watch()?;
            let keys = run.keys();
            number -= u64::from(run.count);
            future.part_offsets.push(future.parts.len());
            let mut at = keys.start;
            for (range, offset) in next.overlapping(&keys) {
                if range.start > at {
                    future.parts.push(Part { end: range.start, next: Use::NO_NEXT });
                }
                at = at.max(range.start);
                let end = range.end.min(keys.end);
                future.parts.push(Part { end, next: at.wrapping_add(*offset) });
                at = end;
            }
            if at < keys.end {
                future.parts.push(Part { end: keys.end, next: Use::NO_NEXT });
            }
            next.insert(keys, number.wrapping_sub(run.first));
        }
        future.part_offsets.reverse();
        Ok(future)
    }

    /// Calls `visit` for every use, in order, with a flag for writes. The next uses are those of `future`, if known.
    fn visit(&self, future: Option<&Future>, mut visit: impl FnMut(Use, bool) -> Result<()>) -> Result<()> {
        for (number, run) in self.runs.iter().enumerate() {
            let unknown = [Part { end: run.keys().end, next: Use::NO_NEXT }];
            let mut key = run.first;
            for part in future.map_or(&unknown[..], |future| future.parts(number)) {
                let begin = key;
                while key < part.end {
                    let is_used = part.next != Use::NO_NEXT;
                    let next = if is_used { part.next + (key - begin) } else { Use::NO_NEXT };
                    visit(Use { key, next }, run.is_write)?;
                    key += 1;
                }
            }
        }
        Ok(())
    }

    /// Returns the hits of each policy in caches of the given numbers of segments, in the order of `caches`. Policies
    /// run on all processors, except those from outside the crate, which run on the calling thread.
    ///
    /// # Errors
    /// A cache too small for a segment, an error of a policy, and an error of `watch`, which is called repeatedly, on
    /// the calling thread only.
    pub fn hits(
        &self,
        caches: &[(Choice, usize)],
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<Hits>> {
        let needs_future = caches.iter().any(|(choice, _)| choice.needs_future());
        let future = if needs_future { Some(self.future(watch)?) } else { None };
        let (custom, listed): (Vec<_>, Vec<_>) =
            caches.iter().enumerate().partition(|(_, (choice, _))| choice.is_custom());
        let mut numbered_hits = self.hits_on_all_processors(&listed, future.as_ref(), watch)?;
        for (number, (choice, capacity)) in custom {
            numbered_hits.push((number, self.cache_hits(choice, *capacity, future.as_ref(), &mut *watch)));
        }
        numbered_hits.sort_unstable_by_key(|(number, _)| *number);
        numbered_hits.into_iter().map(|(_, hits)| hits).collect()
    }

    /// Computes the hits of numbered caches, and sends each as soon as it is known.
    fn hits_on_all_processors(
        &self,
        caches: &[(usize, &(Choice, usize))],
        future: Option<&Future>,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<(usize, Result<Hits>)>> {
        let (next_cache, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let check_stop = || if stop.load(Ordering::Relaxed) { Err(Error::interrupted()) } else { Ok(()) };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(caches.len());
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                scope.spawn(|| {
                    let sender = sender;
                    while let index = next_cache.fetch_add(1, Ordering::Relaxed)
                        && let Some((number, (choice, capacity))) = caches.get(index)
                        && sender
                            .send((*number, self.cache_hits(choice, *capacity, future, check_stop)))
                            .is_ok()
                    {}
                });
            }
            drop(sender);
            let mut numbered_hits = Vec::with_capacity(caches.len());
            loop {
                match receiver.recv_timeout(WATCH_PERIOD) {
                    Ok(hits) => numbered_hits.push(hits),
                    Err(RecvTimeoutError::Disconnected) => return Ok(numbered_hits),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                // Workers poll `stop` and end soon; the scope waits for all of them.
                watch().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            }
        })
    }

    /// Returns the hits of one cache; stops at an error of `watch`, which is called at every use.
    fn cache_hits(
        &self,
        choice: &Choice,
        capacity: usize,
        future: Option<&Future>,
        mut watch: impl FnMut() -> Result<()>,
    ) -> Result<Hits> {
        let mut policy = choice.make(capacity)?;
        let mut hits = Hits::default();
        let mut number = 0_usize;
        self.visit(future, |access, is_write| {
            watch()?;
            if number.is_multiple_of(POLL_USES)
                && let Some(error) = policy.failure()
            {
                return Err(error);
            }
            number += 1;
            let hits_now = u64::from(policy.access(access) == AccessResult::Hit);
            if is_write {
                hits.writes += 1;
                hits.write_hits += hits_now;
            } else {
                hits.reads += 1;
                hits.read_hits += hits_now;
            }
            Ok(())
        })?;
        policy.failure().map_or(Ok(hits), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use sledlab_core::source::MemorySource;

    use super::*;

    fn request(op: Op, lbn: u64, blocks: u32) -> Request {
        Request { op, lbn, blocks, ..Request::default() }
    }

    /// Returns the segment of every use, and the number of the next use of that segment.
    fn next_uses(uses: &Uses) -> Vec<(u64, u64)> {
        let future = uses.future(&mut || Ok(())).unwrap();
        let mut next_uses = Vec::new();
        uses.visit(Some(&future), |Use { key, next }, _| {
            next_uses.push((key, next));
            Ok(())
        })
        .unwrap();
        next_uses
    }

    proptest! {
        #[test]
        fn next_uses_agree_with_a_search(requests in prop::collection::vec((0_u64..300, 1_u32..200), 1..30)) {
            let requests: Vec<Request> =
                requests.into_iter().map(|(lbn, blocks)| request(Op::Read, lbn, blocks)).collect();
            let uses = Uses::from_source(&mut MemorySource::new(requests), 2, &mut || Ok(())).unwrap();
            let next_uses = next_uses(&uses);
            let mut next: HashMap<u64, u64> = HashMap::new();
            for (number, (key, next_use)) in next_uses.iter().enumerate().rev() {
                prop_assert_eq!(next.insert(*key, number as u64).unwrap_or(Use::NO_NEXT), *next_use);
            }
            prop_assert_eq!(next.len(), uses.segments());
        }
    }

    #[test]
    fn long_requests_need_little_memory() {
        let requests = vec![request(Op::Read, 1, u32::MAX); 4];
        let uses = Uses::from_source(&mut MemorySource::new(requests), 1, &mut || Ok(())).unwrap();
        assert_eq!((uses.segments(), uses.runs.len()), (u32::MAX as usize, 4));
        assert_eq!(uses.future(&mut || Ok(())).unwrap().parts.len(), 4);
    }

    #[test]
    fn equal_addresses_of_devices_are_different_segments() {
        let requests: Vec<Request> =
            (0..8).map(|n| Request { device: n % 4, ..request(Op::Read, u64::from(n / 4) * 8, 8) }).collect();
        let uses = Uses::from_source(&mut MemorySource::new(requests), 8, &mut || Ok(())).unwrap();
        assert_eq!(uses.segments(), 8);
        let caches: Vec<_> = ["lru", "belady"].map(|word| (Choice::parse(word).unwrap(), 8)).into();
        assert!(uses.hits(&caches, &mut || Ok(())).unwrap().iter().all(|hits| hits.read_hits == 0));
    }

    #[test]
    fn every_segment_of_a_request_is_used_once() {
        let requests = vec![
            request(Op::Read, 6, 4),
            request(Op::Write, 9, 1),
            request(Op::Trim, 0, 8),
            request(Op::Read, 0, 24),
        ];
        let watch = &mut || Ok(());
        let uses = Uses::from_source(&mut MemorySource::new(requests), 8, watch).unwrap();
        assert_eq!(uses.segments(), 3);
        let next = [3, 2, 4, Use::NO_NEXT, Use::NO_NEXT, Use::NO_NEXT];
        assert_eq!(next_uses(&uses), [0, 1, 1, 0, 1, 2].into_iter().zip(next).collect::<Vec<_>>());
        let caches: Vec<_> = [("lru", 1), ("lru", 2), ("belady", 1), ("lru", 3)]
            .map(|(word, capacity)| (Choice::parse(word).unwrap(), capacity))
            .into();
        let result = uses.hits(&caches, watch).unwrap();
        let hits: Vec<_> = result.iter().map(|hits| (hits.read_hits, hits.write_hits)).collect();
        assert_eq!(hits, [(0, 1), (2, 1), (0, 1), (2, 1)]);
        assert!(result.iter().all(|hits| (hits.reads, hits.writes) == (5, 1)));
        assert!(uses.hits(&[(Choice::parse("lru").unwrap(), 0)], watch).is_err());
    }

    #[test]
    fn interrupt_ends_the_computation_soon() {
        let requests: Vec<Request> =
            (0..2_000_000).map(|n| request(Op::Read, n * 7_919 % 1_000_003, 1)).collect();
        let mut stop = || Err(Error::interrupted());
        assert!(
            Uses::from_source(&mut MemorySource::new(requests.clone()), 1, &mut stop)
                .unwrap_err()
                .is_interrupt()
        );
        let uses = Uses::from_source(&mut MemorySource::new(requests), 1, &mut || Ok(())).unwrap();
        let caches = vec![(Choice::parse("arc").unwrap(), 500_000); 1_000];
        let start = std::time::Instant::now();
        let mut polls = 0;
        let mut late_interrupt = || {
            polls += 1;
            if polls < 3 { Ok(()) } else { Err(Error::interrupted()) }
        };
        assert!(uses.hits(&caches, &mut late_interrupt).unwrap_err().is_interrupt());
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
