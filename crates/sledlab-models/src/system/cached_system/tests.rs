//! Tests of a cache in front of devices that serve accesses in any order.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::cache::ReadDestage;

const BLOCKS: u64 = 200;

/// The accesses that the devices received: those that wait with their arrivals, all in order of arrival (`received`),
/// and the completed ones (`ended_requests`).
#[derive(Default)]
struct Log {
    waiting: Vec<(Time, QueuedRequest)>,
    received: Vec<QueuedRequest>,
    ended_requests: Vec<QueuedRequest>,
}

/// A system that serves one access after the other, each in a millisecond, in an order drawn from a seed.
#[derive(Clone, Default)]
struct ShufflingSystem {
    log: Arc<Mutex<Log>>,
    free_at: Time,
    seed: u64,
}

impl System for ShufflingSystem {
    fn capacity_blocks(&self) -> u64 {
        BLOCKS
    }

    fn arrive(&mut self, now: Time, request: QueuedRequest) {
        let mut log = self.log.lock().unwrap();
        if log.waiting.is_empty() {
            self.free_at = now + Span::from_ms(1.0);
        }
        log.waiting.push((now, request));
        log.received.push(request);
    }

    fn next_event(&self) -> Option<Time> {
        (!self.log.lock().unwrap().waiting.is_empty()).then_some(self.free_at)
    }

    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        let mut log = self.log.lock().unwrap();
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let chosen = (self.seed >> 33) as usize % log.waiting.len();
        let (arrived, request) = log.waiting.swap_remove(chosen);
        log.ended_requests.push(request);
        let timing = Timing { transfer: now.since(arrived), ..Timing::default() };
        let energy = RequestEnergy { access_uj: 1.0, ..RequestEnergy::default() };
        completed.push(Completion {
            request,
            start: arrived,
            completion: now,
            write_behind: Span::ZERO,
            timing,
            energy,
            device: Some(0),
        });
        self.free_at = now + Span::from_ms(1.0);
    }

    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool {
        advance_by_events(self, horizon, completed)
    }

    fn flush(&mut self, _now: Time, _request: QueuedRequest) -> bool {
        false
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }

    fn stations(&self) -> Vec<&Station> {
        Vec::new()
    }

    fn stations_mut(&mut self) -> Vec<&mut Station> {
        Vec::new()
    }

    fn queue_length(&self) -> usize {
        self.log.lock().unwrap().waiting.len()
    }

    fn longest_queue(&self) -> usize {
        0
    }

    fn open_ledgers(&mut self, _now: Time) {}

    fn close_ledgers(&mut self, _now: Time) {}

    fn background(&self) -> (RequestEnergy, Time) {
        (RequestEnergy::default(), Time::ZERO)
    }

    fn cache(&self) -> Option<CacheCounts> {
        None
    }

    fn hybrid(&self) -> Option<HybridCounts> {
        None
    }

    fn residency(&self) -> Vec<Residency> {
        Vec::new()
    }

    fn faults(&self) -> Option<FaultCounts> {
        None
    }

    fn positioning(&self, _now: Time, _read: &QueuedRequest) -> Span {
        Span::ZERO
    }

    fn durable(&mut self) -> Option<&mut dyn Durable> {
        None
    }
}

fn request(id: u64, at_us: u64, op: Op, lbn: u64, blocks: u32) -> QueuedRequest {
    QueuedRequest { id, arrival: Time::from_ns(at_us * 1000), lbn, blocks, op, ..QueuedRequest::default() }
}

fn cached_system(change: impl FnOnce(&mut CacheParams)) -> (CachedSystem, Arc<Mutex<Log>>) {
    let mut params = CacheParams { capacity_blocks: 16, line_blocks: 4, ..CacheParams::default() };
    change(&mut params);
    let backing = ShufflingSystem::default();
    let log = backing.log.clone();
    (CachedSystem::new(&params, Box::new(backing)).unwrap(), log)
}

/// Offers `requests` and runs until no event is left; `inspect` sees the cache before every arrival.
fn run_requests(
    cached: &mut CachedSystem,
    requests: &[QueuedRequest],
    mut inspect: impl FnMut(&CachedSystem, &QueuedRequest),
) -> Vec<Completion> {
    let mut completed = Vec::new();
    for request in requests {
        while let Some(time) = cached.next_event().filter(|time| *time < request.arrival) {
            cached.advance(time, &mut completed);
        }
        inspect(cached, request);
        if request.op != Op::Flush {
            cached.arrive(request.arrival, *request);
        } else if !cached.flush(request.arrival, *request) {
            completed.push(Completion::immediate(*request, request.arrival));
        }
    }
    while let Some(time) = cached.next_event() {
        cached.advance(time, &mut completed);
    }
    completed
}

fn response_us(completion: &Completion) -> f64 {
    completion.completion.since(completion.request.arrival).as_ms() * 1e3
}

/// Time of a hit of one block: 1 us and 512 bytes at 133 MB/s.
const HIT_US: f64 = 1.0 + 512.0 / 133.0;

#[test]
fn flush_of_volatile_cache_waits_for_devices() {
    for (volatile, expected_us) in [(true, 1_000.0), (false, 0.0)] {
        let (mut cached, log) = cached_system(|params| params.volatile = volatile);
        let requests = [
            request(0, 0, Op::Write, 8, 2),
            request(1, 100, Op::Flush, 0, 0),
            request(2, 200, Op::Write, 12, 1),
            request(3, 5_000, Op::Flush, 0, 0),
            request(4, 6_500, Op::Flush, 0, 0),
        ];
        let mut completions = run_requests(&mut cached, &requests, |_, _| {});
        completions.sort_by_key(|completion| completion.request.id);
        let us: Vec<f64> = completions
            .iter()
            .filter(|completion| completion.request.op == Op::Flush)
            .map(response_us)
            .collect();
        assert!((us[0] - expected_us).abs() < 1e-6, "{us:?}");
        assert!((us[1] - expected_us).abs() < 1e-6, "the other write is in flight from then on: {us:?}");
        assert!(us[2].abs() < 1e-6, "there is nothing left: {us:?}");
        assert_eq!(log.lock().unwrap().received.len(), 2);
    }
}

#[test]
fn flush_waits_for_waiting_writes_and_newest_versions() {
    let (mut cached, log) = cached_system(|params| params.volatile = true);
    let mut requests: Vec<QueuedRequest> = (0..5).map(|n| request(n, 0, Op::Write, 4 * n, 1)).collect();
    // The block is written again while its first version is being destaged.
    requests.push(request(5, 100, Op::Write, 0, 1));
    requests.push(request(6, 200, Op::Flush, 0, 0));
    let completions = run_requests(&mut cached, &requests, |_, _| {});
    let flushed =
        completions.iter().find(|completion| completion.request.op == Op::Flush).expect("the flush is done");
    let log = log.lock().unwrap();
    let writes_of = |lbn| log.ended_requests.iter().filter(|access| access.lbn == lbn).count();
    assert_eq!((writes_of(0), writes_of(16)), (2, 1));
    assert!(flushed.completion >= Time::from_ns(6_000_000), "six writes of a millisecond: {flushed:?}");
}

#[test]
fn demand_destage_writes_only_evicted_lines() {
    let (mut cached, log) = cached_system(|params| params.destage = Destage::Demand);
    let requests: Vec<QueuedRequest> = (0..6).map(|n| request(n, n * 50_000, Op::Write, 4 * n, 1)).collect();
    let completions = run_requests(&mut cached, &requests, |_, _| {});
    assert_eq!(completions.len(), 6);
    let written_blocks: Vec<u64> = log.lock().unwrap().received.iter().map(|access| access.lbn).collect();
    assert_eq!(written_blocks, [0, 4], "room for four lines");
    assert!((8..24).step_by(4).all(|block| cached.lines.is_unwritten(block)));
}

/// A cache of four lines with four dirty ones, whose oldest begins at block 0. A read of another line destages block 0
/// before or after it, and then the line is cached; an access takes 1 ms.
#[test]
fn read_of_full_cache_destages_once() {
    let destage = (Op::Write, 0);
    let fetch = (Op::Read, 40);
    for (read_destage, expected, possible_us, hits) in [
        (ReadDestage::None, vec![fetch, fetch], vec![1_000.0], 0),
        (ReadDestage::First, vec![destage, fetch], vec![2_000.0], 1),
        // The devices may serve the two waiting accesses in either order.
        (ReadDestage::After, vec![fetch, destage], vec![1_000.0, 2_000.0], 1),
    ] {
        let (mut cached, log) = cached_system(|params| {
            (params.destage, params.read_destage) = (Destage::Demand, read_destage);
        });
        let mut requests: Vec<_> = (0..4).map(|n| request(n, n, Op::Write, 4 * n, 1)).collect();
        requests.extend([request(4, 100, Op::Read, 40, 1), request(5, 10_000, Op::Read, 40, 1)]);
        let completions = run_requests(&mut cached, &requests, |_, _| {});
        let received: Vec<_> = log.lock().unwrap().received.iter().map(|a| (a.op, a.lbn)).collect();
        assert_eq!(received, expected);
        let read = completions.iter().find(|completion| completion.request.id == 4).unwrap();
        let is_possible = possible_us.iter().any(|us| (response_us(read) - us - HIT_US).abs() < 1e-2);
        assert!(is_possible, "{read_destage:?}: {}", response_us(read));
        let counts = cached.cache().unwrap();
        assert_eq!((counts.read_hits, counts.read_misses, counts.destages), (hits, 2 - hits, hits));
        assert_eq!(cached.lines.slots().len(), 4);
    }
}

#[test]
fn waiting_read_precedes_later_write_and_read() {
    let (mut cached, _) = cached_system(|params| {
        (params.destage, params.read_destage) = (Destage::Demand, ReadDestage::First);
    });
    let mut requests: Vec<_> = (0..4).map(|n| request(n, n, Op::Write, 4 * n, 1)).collect();
    requests.extend([
        request(4, 100, Op::Read, 40, 1),
        request(5, 200, Op::Write, 60, 1),
        request(6, 300, Op::Read, 80, 1),
        request(7, 400, Op::Read, 12, 1),
    ]);
    let completions = run_requests(&mut cached, &requests, |_, _| {});
    let completed: Vec<u64> = completions[4..].iter().map(|completion| completion.request.id).collect();
    assert_eq!(completed[0], 7, "a hit waits for nobody");
    assert_eq!(completed.len(), 4);
    assert_eq!(cached.cache().unwrap().destages, 3, "one for each new line");
}

#[test]
fn recent_blocks_are_cache_hits() {
    let (mut cached, log) = cached_system(|_| {});
    let requests = [
        request(0, 0, Op::Read, 5, 1),
        request(1, 2_000, Op::Read, 5, 1),
        request(2, 3_000, Op::Write, 8, 1),
        request(3, 4_000, Op::Read, 8, 1),
        request(4, 5_000, Op::Read, 8, 2),
    ];
    let completions = run_requests(&mut cached, &requests, |_, _| {});
    let us: Vec<f64> = completions.iter().map(response_us).collect();
    let expected = [1_000.0 + HIT_US, HIT_US, HIT_US, HIT_US];
    assert!(us.iter().zip(expected).all(|(us, expected)| (us - expected).abs() < 2e-3), "{us:?}");
    // Only the second block of the last read is missing in the cache.
    let received: Vec<_> = log.lock().unwrap().received.iter().map(|a| (a.op, a.lbn, a.blocks)).collect();
    assert_eq!(received, [(Op::Read, 5, 1), (Op::Read, 9, 1), (Op::Write, 8, 1)]);
    let counts = cached.cache().unwrap();
    assert_eq!((counts.read_hits, counts.read_misses, counts.write_hits, counts.write_waits), (2, 2, 1, 0));
    assert_eq!((counts.destages, counts.destaged_blocks, counts.fetched_blocks), (1, 1, 2));
    assert!((counts.background_j - 1e-6).abs() < 1e-12, "the destage belongs to no request");
}

#[test]
fn destages_wait_for_idleness() {
    let (mut cached, log) = cached_system(|_| {});
    let requests = [request(0, 0, Op::Write, 8, 1), request(1, 15_000, Op::Write, 9, 1)];
    run_requests(&mut cached, &requests, |cached, _| assert!(cached.accesses.is_empty()));
    let ended_requests = &log.lock().unwrap().ended_requests;
    assert_eq!((ended_requests.len(), ended_requests[0].blocks), (1, 2), "neighbors go together");
    assert_eq!(cached.background().1, Time::from_ns(15_000_000 + 20_000_000 + 1_000_000));
}

#[test]
fn writes_wait_in_cache_full_of_dirty_blocks() {
    let (mut cached, _) = cached_system(|params| params.destage_idle_ms = 1e9);
    let requests: Vec<_> = (0..5).map(|n| request(n, n, Op::Write, 8 * n, 1)).collect();
    let completions = run_requests(&mut cached, &requests, |_, _| {});
    assert!(completions[..4].iter().all(|completion| response_us(completion) < HIT_US + 1e-2));
    assert!((response_us(&completions[4]) - 1_000.0 - HIT_US).abs() < 1e-2);
    assert_eq!(cached.cache().unwrap().write_waits, 1);
}

#[test]
fn readers_of_the_same_blocks_share_a_fetch() {
    let (mut cached, log) = cached_system(|_| {});
    let requests = [request(0, 0, Op::Read, 4, 4), request(1, 10, Op::Read, 6, 4)];
    let completions = run_requests(&mut cached, &requests, |_, _| {});
    let received: Vec<_> = log.lock().unwrap().received.iter().map(|a| (a.lbn, a.blocks)).collect();
    assert_eq!(received, [(4, 4), (8, 2)]);
    assert_eq!(completions.len(), 2);
}

#[test]
fn concurrent_writes_are_not_overwritten_by_fetches() {
    // The written line is evicted from the cache of one line before the fetch is complete, and the fetch must not
    // insert the old block.
    let (mut cached, _) = cached_system(|params| params.capacity_blocks = 4);
    cached.arrive(Time::ZERO, request(0, 0, Op::Read, 4, 2));
    cached.arrive(Time::from_ns(10), request(1, 0, Op::Write, 5, 1));
    let mut completed = Vec::new();
    while let Some(time) = cached.next_event() {
        cached.advance(time, &mut completed);
    }
    assert_eq!(cached.lines.missing_runs(BlockRun { first: 4, end: 6 }), [BlockRun { first: 4, end: 5 }]);
}

#[test]
fn waiting_write_invalidates_fetches() {
    // The second write waits until the first has been destaged; a fetch of its block begins in between.
    let (mut cached, _) = cached_system(|params| params.capacity_blocks = 4);
    for request in
        [request(0, 0, Op::Write, 0, 1), request(1, 1, Op::Write, 5, 1), request(2, 10, Op::Read, 5, 1)]
    {
        cached.arrive(request.arrival, request);
    }
    assert_eq!(cached.fetching.len(), 1);
    let mut completed = Vec::new();
    while !cached.room_queue.is_empty() {
        let time = cached.next_event().unwrap();
        cached.advance(time, &mut completed);
    }
    assert!(cached.fetching.is_empty(), "no read joins it any more");
}

#[test]
fn read_ahead_delays_no_request() {
    let (mut cached, log) = cached_system(|params| params.read_ahead_blocks = 6);
    let requests = [request(0, 0, Op::Read, 4, 2), request(1, 10_000, Op::Read, 6, 6)];
    let completions = run_requests(&mut cached, &requests, |_, _| {});
    let received: Vec<_> = log.lock().unwrap().received.iter().map(|a| (a.lbn, a.blocks)).collect();
    assert_eq!(received, [(4, 2), (6, 6)]);
    assert!(response_us(&completions[1]) < 50.0);
    assert_eq!(cached.cache().unwrap().read_ahead_blocks, 6);
}

/// Whether an access is a fetch of blocks that were written since, so that the cache does not keep them.
fn is_stale(cached: &CachedSystem, number: u64) -> bool {
    let access = cached.accesses.get((number - cached.first_access) as usize);
    matches!(access, Some(Some(Access { kind: Kind::Fetch { is_current: false, .. }, .. })))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// No write is lost, the last write of every block reaches the devices after all earlier ones, and a block is never
    /// fetched while the devices hold an old version of it.
    #[test]
    fn latest_writes_reach_devices_in_order(
        drawn in prop::collection::vec((0_u64..6_000, any::<bool>(), 0_u64..60, 1_u32..24), 1..120),
        read_ahead_blocks in prop::sample::select(vec![0_u64, 7]),
        capacity_blocks in prop::sample::select(vec![7_u64, 16, 40]),
        line_blocks in prop::sample::select(vec![1_u64, 4, 7]),
        read_destage in prop::sample::select(vec![ReadDestage::None, ReadDestage::First, ReadDestage::After]),
    ) {
        let (mut cached, log) = cached_system(|params| {
            (params.read_ahead_blocks, params.capacity_blocks) = (read_ahead_blocks, capacity_blocks);
            (params.line_blocks, params.destage_idle_ms) = (line_blocks, 2.0);
            params.read_destage = read_destage;
        });
        let mut at_us = 0;
        let requests: Vec<_> = drawn.iter().enumerate().map(|(id, (gap_us, is_write, lbn, blocks))| {
            at_us += gap_us;
            request(id as u64, at_us, if *is_write { Op::Write } else { Op::Read }, *lbn, *blocks)
        }).collect();
        let blocks = |r: &QueuedRequest| r.lbn..r.lbn + u64::from(r.blocks);
        let mut checked = 0;
        let mut completed = Vec::new();
        let mut acknowledged: HashSet<u64> = HashSet::new();
        let mut writes_by_block: HashMap<u64, u64> = HashMap::new();
        let mut arrivals = requests.iter().peekable();
        loop {
            let event = cached.next_event();
            match arrivals.peek() {
                Some(next) if event.is_none_or(|at| at >= next.arrival) => {
                    cached.arrive(next.arrival, **next);
                    arrivals.next();
                }
                _ => match event {
                    Some(at) => cached.advance(at, &mut completed),
                    None => break,
                },
            }
            let log = log.lock().unwrap();
            for completion in completed.drain(..).filter(|completion| completion.request.op == Op::Write) {
                acknowledged.extend(blocks(&completion.request));
                prop_assert!(completion.start >= completion.request.arrival);
            }
            // At most one write of a block is in flight, and no fetch together with it.
            let mut blocks_in_write = HashSet::new();
            for (_, access) in log.waiting.iter().filter(|(_, access)| access.op == Op::Write) {
                for block in blocks(access) {
                    prop_assert!(blocks_in_write.insert(block), "two writes of block {block}");
                }
            }
            for access in &log.received[checked..] {
                for block in blocks(access) {
                    if access.op == Op::Write {
                        *writes_by_block.entry(block).or_default() += 1;
                    } else {
                        // A write that waited behind the read makes its fetch stale as soon as it begins.
                        if read_destage == ReadDestage::First && is_stale(&cached, access.id) {
                            continue;
                        }
                        let is_old = cached.lines.is_unwritten(block);
                        let is_written = blocks_in_write.contains(&block);
                        prop_assert!(!is_old && !is_written, "block {block} is read while it is old");
                    }
                }
            }
            checked = log.received.len();
        }
        prop_assert!(!cached.lines.is_dirty());
        prop_assert!(cached.reads.is_empty() && cached.room_queue.is_empty() && cached.accesses.is_empty());
        prop_assert!(acknowledged.iter().all(|block| writes_by_block.contains_key(block)));
    }
}
