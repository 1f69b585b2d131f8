//! How often a cache would hold what a workload uses: replacement policies by size, without a device (MT-10).

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use sledlab_core::{Op, Result, Source};
use sledlab_models::replacement::{Choice, Found, Use};

/// The uses of segments by a workload, in order.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Segment numbers; a request uses each of the segments that it touches once.
    keys: Vec<u64>,
    /// Whether each use is a write.
    writes: Vec<bool>,
}

/// Uses and hits of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hits {
    /// Segments used by reads.
    pub reads: u64,
    /// Those of them that the cache held.
    pub read_hits: u64,
    /// Segments used by writes.
    pub writes: u64,
    /// Those of them that the cache held.
    pub write_hits: u64,
}

impl Uses {
    /// Reads all of `source`, which uses segments of `segment_blocks` blocks. Trims and flushes use nothing.
    ///
    /// # Errors
    /// The source's own.
    pub fn of(source: &mut dyn Source, segment_blocks: u64) -> Result<Self> {
        let (mut uses, mut chunk) = (Uses::default(), Vec::new());
        while source.fill(&mut chunk)? > 0 {
            for request in chunk.drain(..).filter(|r| matches!(r.op, Op::Read | Op::Write) && r.blocks > 0) {
                let last = request.lbn + u64::from(request.blocks) - 1;
                for key in request.lbn / segment_blocks..=last / segment_blocks {
                    uses.keys.push(key);
                    uses.writes.push(request.op == Op::Write);
                }
            }
        }
        Ok(uses)
    }

    /// Number of different segments.
    pub fn segments(&self) -> usize {
        let mut keys = self.keys.clone();
        keys.sort_unstable();
        keys.dedup();
        keys.len()
    }

    /// For every use, the number of the next of the same segment.
    fn next_uses(&self) -> Vec<u64> {
        let mut next = vec![Use::NEVER; self.keys.len()];
        let mut seen = HashMap::new();
        for (number, key) in self.keys.iter().enumerate().rev() {
            next[number] = seen.insert(*key, number as u64).unwrap_or(Use::NEVER);
        }
        next
    }

    /// Hits of each policy in a cache of each of so many segments, in the order of `caches`; on all processors.
    ///
    /// # Errors
    /// A cache without room.
    pub fn hits(&self, caches: &[(Choice, usize)]) -> Result<Vec<Hits>> {
        let needs_future = caches.iter().any(|(choice, _)| choice.entry().facts.needs_future);
        let next = if needs_future { self.next_uses() } else { Vec::new() };
        let (begun, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(caches.len());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let number = begun.fetch_add(1, Ordering::Relaxed);
                        let Some((choice, room)) = caches.get(number) else { break };
                        let hits = self.hits_of(choice, *room, &next);
                        found.lock().unwrap_or_else(PoisonError::into_inner).push((number, hits));
                    }
                });
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, hits)| hits).collect()
    }

    fn hits_of(&self, choice: &Choice, room: usize, next: &[u64]) -> Result<Hits> {
        let mut policy = choice.make(room)?;
        let mut hits = Hits::default();
        for (number, (key, write)) in self.keys.iter().zip(&self.writes).enumerate() {
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
        Ok(hits)
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
        let uses = Uses::of(&mut InMemory::new(requests), 8).unwrap();
        assert_eq!((uses.keys.clone(), uses.segments()), (vec![0, 1, 1, 0, 1, 2], 3));
        assert_eq!(uses.next_uses(), [3, 2, 4, Use::NEVER, Use::NEVER, Use::NEVER]);
        let caches: Vec<_> = [("lru", 1), ("lru", 2), ("belady", 1), ("lru", 3)]
            .map(|(word, room)| (Choice::parse(word).unwrap(), room))
            .into();
        let found = uses.hits(&caches).unwrap();
        let hits: Vec<_> = found.iter().map(|hits| (hits.read_hits, hits.write_hits)).collect();
        assert_eq!(hits, [(0, 1), (2, 1), (0, 1), (2, 1)]);
        assert!(found.iter().all(|hits| (hits.reads, hits.writes) == (5, 1)));
        assert!(uses.hits(&[(Choice::parse("lru").unwrap(), 0)]).is_err());
    }
}
