//! Hit ratios of caches under a workload: replacement policies by cache size, without a device (MT-10).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde::Serialize;
use sledlab_core::hash::{Map, Set};
use sledlab_core::{Error, Op, Result, Source};
use sledlab_models::replacement::{Choice, Found, Use};

/// Real time between two calls of `watch` while the workers compute.
const WATCH_EVERY: Duration = Duration::from_millis(20);

/// Uses after which a policy is checked for having given up.
const LOOK_EVERY: usize = 4096;

/// The uses of segments by a workload, in order.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Segment numbers; a request uses each of the segments that it touches once.
    keys: Vec<u64>,
    /// Whether each use is a write.
    writes: Vec<bool>,
    /// Number of different segments.
    segments: usize,
}

/// Uses and hits of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hits {
    /// Segments used by reads.
    pub reads: u64,
    /// Segments used by reads that the cache held.
    pub read_hits: u64,
    /// Segments used by writes.
    pub writes: u64,
    /// Segments used by writes that the cache held.
    pub write_hits: u64,
}

impl Uses {
    /// Reads all of `source`, with segments of `segment_blocks` blocks. Trims and flushes use no segment.
    ///
    /// # Errors
    /// The source's own, and those that `watch` returns, which is called before every chunk.
    pub fn of(
        source: &mut dyn Source,
        segment_blocks: u64,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Self> {
        let (mut uses, mut chunk, mut different) = (Uses::default(), Vec::new(), Set::default());
        while watch().and_then(|()| source.fill(&mut chunk))? > 0 {
            for request in chunk.drain(..).filter(|r| matches!(r.op, Op::Read | Op::Write) && r.blocks > 0) {
                let last = request.lbn + u64::from(request.blocks) - 1;
                for key in request.lbn / segment_blocks..=last / segment_blocks {
                    different.insert(key);
                    uses.keys.push(key);
                    uses.writes.push(request.op == Op::Write);
                }
            }
        }
        Ok(Uses { segments: different.len(), ..uses })
    }

    /// Number of different segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// For every use, the number of the next use of the same segment.
    fn next_uses(&self, watch: &mut dyn FnMut() -> Result<()>) -> Result<Vec<u64>> {
        let mut next = vec![Use::NEVER; self.keys.len()];
        let mut seen = Map::default();
        for (number, key) in self.keys.iter().enumerate().rev() {
            watch()?;
            next[number] = seen.insert(*key, number as u64).unwrap_or(Use::NEVER);
        }
        Ok(next)
    }

    /// Hits of each policy in a cache of so many segments, in the order of `caches`. Policies run on all processors,
    /// except those from outside, which run on the calling thread.
    ///
    /// # Errors
    /// A cache without room, a policy that gives up, and what `watch` returns, which is called again and again, on the
    /// calling thread alone.
    pub fn hits(
        &self,
        caches: &[(Choice, usize)],
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<Hits>> {
        let needs_future = caches.iter().any(|(choice, _)| choice.needs_future());
        let next = if needs_future { self.next_uses(watch)? } else { Vec::new() };
        let (custom, listed): (Vec<_>, Vec<_>) =
            caches.iter().enumerate().partition(|(_, (choice, _))| choice.is_custom());
        let mut found = self.hits_on_all_processors(&listed, &next, watch)?;
        for (number, (choice, room)) in custom {
            found.push((number, self.hits_of(choice, *room, &next, &mut *watch)));
        }
        found.sort_unstable_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, hits)| hits).collect()
    }

    /// Hits of numbered caches, each sent as soon as it is known.
    fn hits_on_all_processors(
        &self,
        caches: &[(usize, &(Choice, usize))],
        next: &[u64],
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<(usize, Result<Hits>)>> {
        let (begun, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let stopped = || if stop.load(Ordering::Relaxed) { Err(Error::interrupted()) } else { Ok(()) };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(caches.len());
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                scope.spawn(|| {
                    let sender = sender;
                    while let turn = begun.fetch_add(1, Ordering::Relaxed)
                        && let Some((number, (choice, room))) = caches.get(turn)
                        && sender.send((*number, self.hits_of(choice, *room, next, stopped))).is_ok()
                    {
                    }
                });
            }
            drop(sender);
            let mut found = Vec::with_capacity(caches.len());
            loop {
                match receiver.recv_timeout(WATCH_EVERY) {
                    Ok(one) => found.push(one),
                    Err(RecvTimeoutError::Disconnected) => return Ok(found),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                // Workers see `stop` soon and end; the scope waits for all of them.
                watch().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            }
        })
    }

    /// Hits of one cache; ends with the error that `watch` returns, which is called at every use.
    fn hits_of(
        &self,
        choice: &Choice,
        room: usize,
        next: &[u64],
        mut watch: impl FnMut() -> Result<()>,
    ) -> Result<Hits> {
        let mut policy = choice.make(room)?;
        let mut hits = Hits::default();
        for (number, (key, write)) in self.keys.iter().zip(&self.writes).enumerate() {
            watch()?;
            if number.is_multiple_of(LOOK_EVERY)
                && let Some(error) = policy.failure()
            {
                return Err(error);
            }
            let next = next.get(number).copied().unwrap_or(Use::NEVER);
            let hit = u64::from(policy.access(Use { key: *key, next }) == Found::Hit);
            if *write {
                hits.writes += 1;
                hits.write_hits += hit;
            } else {
                hits.reads += 1;
                hits.read_hits += hit;
            }
        }
        policy.failure().map_or(Ok(hits), Err)
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::Request;
    use sledlab_core::source::InMemory;

    use super::*;

    fn request(op: Op, lbn: u64, blocks: u32) -> Request {
        Request { op, lbn, blocks, ..Request::default() }
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
        let uses = Uses::of(&mut InMemory::new(requests), 8, watch).unwrap();
        assert_eq!((uses.keys.clone(), uses.segments()), (vec![0, 1, 1, 0, 1, 2], 3));
        assert_eq!(uses.next_uses(watch).unwrap(), [3, 2, 4, Use::NEVER, Use::NEVER, Use::NEVER]);
        let caches: Vec<_> = [("lru", 1), ("lru", 2), ("belady", 1), ("lru", 3)]
            .map(|(word, room)| (Choice::parse(word).unwrap(), room))
            .into();
        let found = uses.hits(&caches, watch).unwrap();
        let hits: Vec<_> = found.iter().map(|hits| (hits.read_hits, hits.write_hits)).collect();
        assert_eq!(hits, [(0, 1), (2, 1), (0, 1), (2, 1)]);
        assert!(found.iter().all(|hits| (hits.reads, hits.writes) == (5, 1)));
        assert!(uses.hits(&[(Choice::parse("lru").unwrap(), 0)], watch).is_err());
    }

    #[test]
    fn whoever_watches_ends_it_soon() {
        let requests: Vec<Request> =
            (0..2_000_000).map(|n| request(Op::Read, n * 7_919 % 1_000_003, 1)).collect();
        let mut stop = || Err(Error::interrupted());
        assert!(Uses::of(&mut InMemory::new(requests.clone()), 1, &mut stop).unwrap_err().is_interrupt());
        let uses = Uses::of(&mut InMemory::new(requests), 1, &mut || Ok(())).unwrap();
        let caches = vec![(Choice::parse("arc").unwrap(), 500_000); 1_000];
        let begun = std::time::Instant::now();
        let mut looks = 0;
        let mut late = || {
            looks += 1;
            if looks < 3 { Ok(()) } else { Err(Error::interrupted()) }
        };
        assert!(uses.hits(&caches, &mut late).unwrap_err().is_interrupt());
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}
