//! Merging compared with a model of the medium, block by block: under every parameter of merging and every scheduler, a
//! read finds the last write to each block that arrived before it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use sledlab_core::{Op, Request, Time};
use sledlab_models::device::preset::DeviceFile;
use sledlab_models::device::{Mechanics, QueuedRequest, mems::MemsParams};
use sledlab_models::merge::{MergeCounts, MergeParams};
use sledlab_models::scheduler::Scheduler;
use sledlab_models::system::{self, Completion, Setup, Start, System};
use sledlab_models::{power, scheduler};
use toml::Table;

fn station(scheduler: &str, merge: &str) -> Box<dyn System> {
    let (name, params) = scheduler::parse(scheduler).unwrap();
    station_with(&scheduler::Choice::new(&name, &params).unwrap(), merge)
}

fn station_with(scheduler: &scheduler::Choice, merge: &str) -> Box<dyn System> {
    // 50 blocks at once, as in the experiments of the papers.
    let params = MemsParams { active_tips: 3200, ..MemsParams::default() };
    let file = DeviceFile::nameless(params);
    let setup = Setup {
        scheduler,
        power: &power::Choice::from_device_timeout(0.0).unwrap(),
        merge: &MergeParams::parse(Some(merge), Table::new()).unwrap(),
        start: Start::Parked,
    };
    system::build(&file, setup).unwrap()
}

/// Runs `requests`; returns the completions in order.
fn run_requests(system: &mut dyn System, requests: &[Request]) -> Vec<Completion> {
    let mut completed = Vec::new();
    for (id, request) in requests.iter().enumerate() {
        advance(system, request.arrival, &mut completed);
        system.arrive(request.arrival, QueuedRequest::new(id as u64, request));
    }
    advance(system, Time::MAX, &mut completed);
    let end = completed.iter().map(|completion| completion.completion).max().unwrap_or(Time::ZERO);
    system.close_ledgers(end);
    completed
}

fn advance(system: &mut dyn System, horizon: Time, completed: &mut Vec<Completion>) {
    while let Some(now) = system.next_event().filter(|now| *now < horizon) {
        system.advance(now, completed);
    }
}

fn merge_counts(system: &dyn System) -> MergeCounts {
    system.stations()[0].merge_counts()
}

fn burst(requests: &[(u64, u64, u32, Op)]) -> Vec<Request> {
    requests
        .iter()
        .map(|&(us, lbn, blocks, op)| Request {
            arrival: Time::from_ns(us * 1000),
            lbn,
            blocks,
            op,
            ..Request::default()
        })
        .collect()
}

const R: Op = Op::Read;
const W: Op = Op::Write;

/// The counts of merged requests and groups among `requests`, which arrive while the device is busy with a request far
/// away.
fn count_merged(merge: &str, requests: &[(u64, u64, u32, Op)]) -> (u64, u64) {
    let mut all_requests = vec![(0, 5_000_000, 8, R)];
    all_requests.extend_from_slice(requests);
    let mut system = station("fcfs", merge);
    let completed = run_requests(system.as_mut(), &burst(&all_requests));
    assert_eq!(completed.len(), all_requests.len());
    let MergeCounts { requests, groups } = merge_counts(system.as_ref());
    (requests, groups)
}

#[test]
fn neighbors_become_pairs() {
    let merge = "pairs:among=neighbors";
    assert_eq!(count_merged(merge, &[(1, 0, 8, R), (2, 8, 8, R)]), (2, 1));
    assert_eq!(
        count_merged(merge, &[(1, 8, 8, R), (2, 0, 8, R)]),
        (0, 0),
        "the second starts where the first ends"
    );
    assert_eq!(count_merged(merge, &[(1, 0, 8, R), (2, 8, 8, W)]), (0, 0), "both are reads");
    assert_eq!(
        count_merged(merge, &[(1, 0, 8, R), (2, 900, 8, R), (3, 8, 8, R)]),
        (0, 0),
        "next to each other"
    );
    assert_eq!(count_merged(merge, &[(1, 0, 8, R), (2, 8, 8, R), (3, 16, 8, R)]), (2, 1), "pairs only");
}

#[test]
fn merged_blocks_are_limited_by_tips() {
    assert_eq!(count_merged("pairs", &[(1, 0, 25, R), (2, 25, 25, R)]), (2, 1));
    assert_eq!(count_merged("pairs", &[(1, 0, 25, R), (2, 25, 26, R)]), (0, 0));
    assert_eq!(
        count_merged("pairs:rows=2", &[(1, 0, 25, R), (2, 25, 26, R)]),
        (2, 1),
        "split where the row ends"
    );
}

#[test]
fn chains_close_gaps_and_grow_at_both_ends() {
    assert_eq!(count_merged("chains", &[(1, 0, 8, R), (2, 900, 8, R), (3, 16, 8, R), (4, 8, 8, R)]), (3, 1));
    assert_eq!(count_merged("chains", &[(1, 8, 8, R), (2, 0, 8, R), (3, 16, 8, R)]), (3, 1));
    assert_eq!(count_merged("chains", &[(1, 8, 8, R), (2, 0, 8, W)]), (0, 0));
    assert_eq!(count_merged("chains:operations=alike", &[(1, 8, 8, W), (2, 0, 8, W)]), (2, 1));
    assert_eq!(count_merged("chains:operations=any", &[(1, 8, 8, R), (2, 0, 8, W)]), (2, 1));
}

#[test]
fn no_merge_across_an_overlapping_write() {
    // The second read must find the write, so it waits until the write is served and cannot join the first read.
    assert_eq!(count_merged("chains", &[(1, 0, 8, R), (2, 8, 4, W), (3, 8, 8, R)]), (0, 0));
    // The write must not be served before the read of the blocks that it overwrites.
    assert_eq!(count_merged("chains:operations=any", &[(1, 0, 8, R), (2, 4, 8, W)]), (0, 0));
}

#[test]
fn merged_read_cost_is_shared_by_blocks() {
    let requests = burst(&[(0, 5_000_000, 8, R), (1, 0, 8, R), (2, 8, 16, R)]);
    let energies_uj = |merge: &str| {
        let mut system = station("fcfs", merge);
        let completed = run_requests(system.as_mut(), &requests);
        completed
            .iter()
            .filter(|completion| completion.request.id > 0)
            .map(|completion| completion.energy.total_uj())
            .collect::<Vec<_>>()
    };
    let (separate_uj, merged_uj) = (energies_uj("none"), energies_uj("pairs"));
    // At least the sled's 100 mW over one row less; the tips are on for as long as before.
    assert!(merged_uj.iter().sum::<f64>() < separate_uj.iter().sum::<f64>() - 0.1 * 128.57);
    assert!((merged_uj[1] / merged_uj[0] - 2.0).abs() < 1e-9);
}

/// Checks for FCFS that merged requests move forward to the first of their group, and all others keep their places.
fn assert_first_come_first_served(completed: &[Completion]) {
    let mut first_by_start: Vec<(Time, u64)> = Vec::new();
    for completion in completed {
        match first_by_start.iter_mut().find(|(start, _)| *start == completion.start) {
            Some((_, first)) => *first = (*first).min(completion.request.id),
            None => first_by_start.push((completion.start, completion.request.id)),
        }
    }
    first_by_start.sort_unstable();
    assert!(first_by_start.is_sorted_by_key(|(_, first)| *first), "{first_by_start:?}");
}

#[test]
fn waiting_write_keeps_its_queue_position() {
    // Four writes to one block, each to be served before the next, among reads that overlap no other request.
    let arrivals: Vec<_> = (0..44)
        .map(|at| if at % 11 == 1 { (at, 0, 8, W) } else { (at, 1_000_000 + 1000 * at, 8, R) })
        .collect();
    let mut system = station("fcfs", "chains:operations=any");
    let completed = run_requests(system.as_mut(), &burst(&arrivals));
    assert!(completed.iter().map(|completion| completion.request.id).eq(0..44));
    assert_eq!(merge_counts(system.as_ref()), MergeCounts::default());
}

/// Chooses the newest request, and records when each request that it chooses joined the queue.
struct NewestFirst {
    queue: Vec<QueuedRequest>,
    joined_ns: Arc<Mutex<Vec<u64>>>,
}

impl Scheduler for NewestFirst {
    fn push(&mut self, request: QueuedRequest) {
        self.queue.push(request);
    }

    fn pop(&mut self, _now: Time, _mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let newest = self.queue.pop();
        self.joined_ns.lock().unwrap().extend(newest.map(|request| request.queue_time.as_ns()));
        batch.extend(newest);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn remove(&mut self, request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        self.queue.retain(|other| other.id != request.id);
        true
    }
}

#[test]
fn request_that_must_wait_keeps_its_age() {
    let joined_ns = Arc::new(Mutex::new(Vec::new()));
    let record = joined_ns.clone();
    let newest_first = scheduler::Choice::custom("newest-first", Table::new(), move |_| {
        Ok(Box::new(NewestFirst { queue: Vec::new(), joined_ns: record.clone() }))
    });
    let mut system = station_with(&newest_first, "chains");
    // Both wait for the start-up. The read is chosen first, but the write before it must be served first.
    run_requests(system.as_mut(), &burst(&[(0, 0, 8, W), (1, 4, 8, R)]));
    assert_eq!(*joined_ns.lock().unwrap(), [1_000, 1_000]);
}

#[test]
fn removed_request_changes_no_choice() {
    let device = crate::index_comparison::device("");
    let mechanics = device.mechanics();
    // Four requests far away, which are removed, and some at two positions nearby.
    let lbns =
        [3_375_000, 3_375_040, 6_000_000, 3_600_000, 6_000_010, 3_600_010, 6_000_020, 3_375_020, 6_000_030];
    // First come, first served passes over requests that it could not remove.
    for name in scheduler::LIST.iter().map(|entry| entry.name).filter(|name| *name != "fcfs") {
        for word in [format!("{name}:batch=none"), format!("{name}:batch=same-position")] {
            let order = |with_removed: bool| {
                let mut queue = crate::index_comparison::choice(&word).make(mechanics).unwrap();
                let requests =
                    || (0..).zip(lbns).map(|(id, lbn)| QueuedRequest { id, lbn, ..QueuedRequest::default() });
                let is_removed = |request: &QueuedRequest| request.lbn >= 6_000_000;
                requests()
                    .filter(|request| with_removed || !is_removed(request))
                    .for_each(|request| queue.push(request));
                for request in requests().filter(|request| with_removed && is_removed(request)) {
                    assert!(queue.remove(&request, mechanics), "{word}");
                }
                let mut chosen = Vec::new();
                while !queue.is_empty() {
                    queue.pop(Time::ZERO, mechanics, &mut chosen);
                }
                chosen
            };
            assert_eq!(order(true), order(false), "{word}");
        }
    }
}

/// Requests for few blocks, many of them adjacent or overlapping.
fn requests() -> impl Strategy<Value = Vec<Request>> {
    let request = (0_u64..400, 0_u64..12, 0_u64..3, 1_u32..24, any::<bool>());
    prop::collection::vec(request, 2..60).prop_map(|drawn| {
        let mut now = 0;
        let tuples: Vec<_> = drawn
            .into_iter()
            .map(|(gap_us, place, shift, blocks, is_write)| {
                now += gap_us;
                (now, place * 8 + shift * 4, blocks, if is_write { W } else { R })
            })
            .collect();
        burst(&tuples)
    })
}

/// For each block, the number of the request that wrote it last.
type Medium = HashMap<u64, u64>;

fn apply(medium: &mut Medium, request: &QueuedRequest) -> Vec<Option<u64>> {
    let blocks = request.lbn..request.lbn + u64::from(request.blocks);
    if request.op == W {
        medium.extend(blocks.map(|lbn| (lbn, request.id)));
        return Vec::new();
    }
    blocks.map(|lbn| medium.get(&lbn).copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_read_sees_the_last_write_before_it(
        requests in requests(),
        among in prop::sample::select(vec!["neighbors", "queue"]),
        kind in prop::sample::select(vec!["pairs", "chains"]),
        operations in prop::sample::select(vec!["reads", "alike", "any"]),
        rows in 1_u64..3,
        scheduler in prop::sample::select(
            scheduler::LIST.iter().map(|entry| entry.name).filter(|name| *name != "optimal").collect::<Vec<_>>()
        ),
        is_joint in any::<bool>(),
        is_reversed in any::<bool>(),
    ) {
        let merge = format!("{kind}:among={among}:operations={operations}:rows={rows}");
        let batch = if is_joint { ":batch=same-position" } else { "" };
        let mut system = station(&format!("{scheduler}{batch}"), &merge);
        let mut completed = run_requests(system.as_mut(), &requests);
        prop_assert_eq!(completed.len(), requests.len());
        if scheduler == "fcfs" && !is_joint {
            assert_first_come_first_served(&completed);
        }
        // Requests served as one may be done in any order among themselves.
        let direction = if is_reversed { -1 } else { 1 };
        completed.sort_by_key(|completion| (completion.start, direction * completion.request.id as i64));
        let (mut medium, mut read_versions) = (Medium::new(), HashMap::new());
        for completion in &completed {
            prop_assert_eq!(completion.request.lbn, requests[completion.request.id as usize].lbn);
            read_versions.insert(completion.request.id, apply(&mut medium, &completion.request));
        }
        let mut in_order = Medium::new();
        for (id, request) in requests.iter().enumerate() {
            let request = QueuedRequest::new(id as u64, request);
            let expected = apply(&mut in_order, &request);
            let version = &read_versions[&request.id];
            prop_assert_eq!(version, &expected, "request {} under {} with {}", id, scheduler, merge);
        }
        prop_assert_eq!(medium, in_order);
        let ledgers = system.ledgers();
        let (ledger, energy) = &ledgers[0];
        let charged_j: f64 = completed.iter().map(|completion| completion.energy.total_uj()).sum::<f64>() * 1e-6;
        let spent_j = energy.seek + energy.access + energy.startup;
        prop_assert!((charged_j - spent_j).abs() <= 1e-9 * spent_j);
        prop_assert!((energy.total - spent_j - energy.idle - energy.inactive).abs() <= 1e-9 * energy.total);
        let end = completed.iter().map(|completion| completion.completion).max().unwrap_or(Time::ZERO);
        prop_assert_eq!(ledger.total_time(), end.since(Time::ZERO));
    }
}
