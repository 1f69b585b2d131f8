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
    uses.visit(Some(&future), &mut || Ok(()), |each| next_uses.push((each.access.key, each.access.next)))
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
    assert_eq!(uses.future(&mut || Ok(())).unwrap().part_count(), 4);
}

#[test]
fn equal_addresses_of_devices_are_different_segments() {
    let requests: Vec<Request> =
        (0..8).map(|n| Request { device: n % 4, ..request(Op::Read, u64::from(n / 4) * 8, 8) }).collect();
    let uses = Uses::from_source(&mut MemorySource::new(requests), 8, &mut || Ok(())).unwrap();
    assert_eq!(uses.segments(), 8);
    let caches: Vec<_> = ["lru", "belady"].map(|word| (Choice::parse(word).unwrap(), 8)).into();
    assert!(uses.hits(&caches, false, &mut || Ok(())).unwrap().iter().all(|hits| hits.reads.hits == 0));
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
    let result = uses.hits(&caches, false, watch).unwrap();
    let hits: Vec<_> = result.iter().map(|hits| (hits.reads.hits, hits.writes.hits)).collect();
    assert_eq!(hits, [(0, 1), (2, 1), (0, 1), (2, 1)]);
    assert!(result.iter().all(|hits| (hits.reads.uses, hits.writes.uses) == (5, 1)));
    assert!(uses.hits(&[(Choice::parse("lru").unwrap(), 0)], false, watch).is_err());
}

#[test]
fn interrupt_ends_the_computation_soon() {
    let requests: Vec<Request> =
        (0..2_000_000).map(|n| request(Op::Read, n * 7_919 % 1_000_003, 1)).collect();
    let mut stop = || Err(Error::interrupted());
    assert!(
        Uses::from_source(&mut MemorySource::new(requests.clone()), 1, &mut stop).unwrap_err().is_interrupt()
    );
    let uses = Uses::from_source(&mut MemorySource::new(requests), 1, &mut || Ok(())).unwrap();
    let caches = vec![(Choice::parse("arc").unwrap(), 500_000); 1_000];
    let start = std::time::Instant::now();
    let mut polls = 0;
    let mut late_interrupt = || {
        polls += 1;
        if polls < 3 { Ok(()) } else { Err(Error::interrupted()) }
    };
    assert!(uses.hits(&caches, false, &mut late_interrupt).unwrap_err().is_interrupt());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Requests as their kind, first block and number of blocks.
fn uses_of(requests: &[(bool, u64, u32)], segment_blocks: u64) -> Uses {
    let op = |is_write| if is_write { Op::Write } else { Op::Read };
    let requests: Vec<_> =
        requests.iter().map(|(is_write, lbn, blocks)| request(op(*is_write), *lbn, *blocks)).collect();
    Uses::from_source(&mut MemorySource::new(requests), segment_blocks, &mut || Ok(())).unwrap()
}

/// Hits of LRU, simulated in the simplest way: the segments of the cache in order of their last uses, and whether each is
/// dirty. Reads that are not admitted only look into the cache.
fn plain_lru_hits(
    requests: &[(bool, u64, u32)],
    segment_blocks: u64,
    capacity: usize,
    admits_reads: bool,
) -> Hits {
    let mut cached: Vec<(u64, bool)> = Vec::new();
    let (mut hits, mut destages) = (Hits::default(), 0);
    for (is_write, lbn, blocks) in requests {
        let counts = if *is_write { &mut hits.writes } else { &mut hits.reads };
        let end = lbn + u64::from(*blocks);
        let mut is_request_hit = true;
        for key in lbn / segment_blocks..=(end - 1) / segment_blocks {
            let used_blocks = (*lbn..end).filter(|block| block / segment_blocks == key).count() as u64;
            let place = cached.iter().position(|(cached_key, _)| *cached_key == key);
            if *is_write || admits_reads {
                let was_dirty = place.is_some_and(|place| cached.remove(place).1);
                cached.push((key, was_dirty || *is_write));
                destages += u64::from(*is_write && !was_dirty);
                if cached.len() > capacity {
                    cached.remove(0);
                }
            }
            is_request_hit &= place.is_some();
            counts.uses += 1;
            counts.hits += u64::from(place.is_some());
            counts.blocks += used_blocks;
            counts.block_hits += if place.is_some() { used_blocks } else { 0 };
        }
        counts.requests += 1;
        counts.request_hits += u64::from(is_request_hit);
    }
    Hits { destages: Some(destages), ..hits }
}

proptest! {
    #[test]
    fn one_pass_equals_lru_of_each_size(
        requests in prop::collection::vec((any::<bool>(), 0_u64..300, 1_u32..40), 0..200),
        segment_blocks in 1_u64..20,
        capacities in prop::collection::vec(1_usize..60, 2..8),
        admits_reads in any::<bool>(),
    ) {
        let uses = uses_of(&requests, segment_blocks);
        let uses = if admits_reads { uses } else { uses.admitting_only_writes() };
        let lru = Choice::parse("lru").unwrap();
        let caches: Vec<_> = capacities.iter().map(|capacity| (lru.clone(), *capacity)).collect();
        let joint_hits = uses.hits(&caches, true, &mut || Ok(())).unwrap();
        for (cache, hits) in caches.into_iter().zip(joint_hits) {
            let plain_hits = plain_lru_hits(&requests, segment_blocks, cache.1, admits_reads);
            prop_assert_eq!(hits, plain_hits, "{} segments", cache.1);
            prop_assert_eq!(uses.hits(&[cache], true, &mut || Ok(())).unwrap(), [hits]);
        }
    }

    #[test]
    fn samples_have_all_uses_of_their_segments(
        requests in prop::collection::vec((any::<bool>(), 0_u64..3000, 1_u32..40), 1..200),
        seed in any::<u64>(),
        admits_reads in any::<bool>(),
    ) {
        let uses = uses_of(&requests, 8);
        let uses = if admits_reads { uses } else { uses.admitting_only_writes() };
        let samples = uses.samples(4, 0.25, seed, &mut || Ok(())).unwrap();
        prop_assert_eq!(samples.iter().map(Uses::segments).sum::<usize>(), uses.segments());
        prop_assert_eq!(samples.iter().map(Uses::count).sum::<u64>(), uses.count());
        let caches = [(Choice::parse("fifo").unwrap(), 4000)];
        let hits = |uses: &Uses| uses.hits(&caches, true, &mut || Ok(())).unwrap()[0];
        let (all, parts): (Hits, Vec<Hits>) = (hits(&uses), samples.iter().map(hits).collect());
        // In a cache of all segments, hits are those of each segment alone.
        let sum = |count: fn(&Hits) -> u64| parts.iter().map(count).sum::<u64>();
        prop_assert_eq!(sum(|hits| hits.reads.hits), all.reads.hits);
        prop_assert_eq!(sum(|hits| hits.writes.block_hits), all.writes.block_hits);
        prop_assert_eq!(sum(|hits| hits.destages.unwrap()), all.destages.unwrap());
    }
}

#[test]
fn renumbered_positions_keep_their_order() {
    // More uses than positions, of few and of many segments, so that positions are renumbered several times.
    let cycle = |first: u64, segments: u64| (0..300_000).map(move |n| (false, first + n * 7 % segments, 1));
    let requests: Vec<_> = cycle(0, 1000).chain(cycle(1000, 30_011)).collect();
    let uses = uses_of(&requests, 1);
    let caches = [999, 1000, 30_010, 30_011].map(|capacity| (Choice::parse("lru").unwrap(), capacity));
    let joint_hits = uses.hits(&caches, false, &mut || Ok(())).unwrap();
    let hits: Vec<_> = joint_hits.iter().map(|hits| hits.reads.hits).collect();
    assert_eq!(hits, [0, 299_000, 299_000, 299_000 + 300_000 - 30_011]);
}

#[test]
fn sample_has_its_share_of_segments() {
    let requests: Vec<_> = (0..100_000).map(|number| (false, number, 1)).collect();
    let uses = uses_of(&requests, 1);
    let [first, second] = &uses.samples(2, 0.1, 1, &mut || Ok(())).unwrap()[..] else { unreachable!() };
    let other = &uses.samples(1, 0.1, 2, &mut || Ok(())).unwrap()[0];
    for sample in [first, second, other] {
        // Within 5 standard deviations, of 95 each.
        assert!(sample.segments().abs_diff(10_000) < 475, "{}", sample.segments());
    }
    assert_ne!(first.segments(), other.segments());
}

#[test]
fn only_writes_enter_without_reads() {
    let requests = [(false, 0, 1), (true, 0, 1), (true, 1, 1), (false, 0, 1), (true, 2, 1), (false, 0, 1)];
    let uses = uses_of(&requests, 1).admitting_only_writes();
    let cache = |word| (Choice::parse(word).unwrap(), 2);
    // The second read of segment 0 hits, and does not delay its eviction.
    for hits in uses.hits(&[cache("lru"), cache("arc"), cache("fifo")], true, &mut || Ok(())).unwrap() {
        assert_eq!((hits.reads.uses, hits.reads.hits), (3, 1));
        assert_eq!((hits.writes.hits, hits.destages), (0, Some(3)));
    }
    let error = uses.hits(&[cache("belady")], false, &mut || Ok(())).unwrap_err();
    assert!(error.to_string().contains("belady is no bound"));
}

#[test]
fn empty_workload_has_no_uses() {
    let uses = uses_of(&[], 8);
    assert_eq!((uses.segments(), uses.count()), (0, 0));
    let caches = ["lru", "lru", "belady"].map(|word| (Choice::parse(word).unwrap(), 1));
    let hits = uses.hits(&caches, true, &mut || Ok(())).unwrap();
    assert_eq!(hits, [Hits { destages: Some(0), ..Hits::default() }; 3]);
    assert_eq!(uses.samples(3, 0.1, 1, &mut || Ok(())).unwrap().len(), 3);
}
