//! Long requests: the same steps as short ones, in constant memory.

use proptest::prelude::*;
use sledlab_core::hash::{Map, Set};
use sledlab_core::{Op, Time};

use super::super::flow::{Access, Flow};
use super::super::health::Health;
use super::super::layout::{Layout, LockedStripes, blocks};
use super::super::plan::{MAX_STEPS, Plan, Step};
use super::super::raid5::Raid5;
use super::super::raid5_steps::Raid5Steps;
use super::super::stripe_locks::StripeLocks;
use super::{completion, request};
use crate::device::QueuedRequest;

const STRIPES: u64 = 60;

/// An array of `devices` with up to two failures, each with the number of stripes that are rebuilt after it.
fn array(devices: u64, unit_blocks: u64, failures: &[(usize, u64)]) -> Raid5 {
    let mut health = Health::new(STRIPES, 1, !failures.is_empty());
    for (device, rebuilt) in failures {
        health.fail(device % devices as usize, None);
        (0..*rebuilt).filter_map(|_| health.next()).collect::<Vec<_>>().iter().for_each(|(device, _)| {
            health.record_rebuilt_stripe(*device);
        });
    }
    Raid5 { devices, unit_blocks, stripes: STRIPES, health }
}

/// The plan of a request that is made of one stripe after another.
fn stripe_by_stripe(array: &Raid5, request: &QueuedRequest) -> Plan {
    let (mut plan, mut unplanned) = (Plan::default(), blocks(request));
    while let Some(touched) = array.touch(&mut unplanned, 1) {
        assert_eq!(touched.stripes.end - touched.stripes.start, 1);
        array.plan_stripes(request.op, &touched, unplanned.is_empty(), &mut plan);
        let is_lost = array.health.is_lost(touched.stripes.start) && array.touches_missing(&touched);
        plan.loses |= request.op == Op::Read && is_lost;
    }
    if array.health.fails {
        plan.read_first();
    }
    plan
}

fn failures() -> impl Strategy<Value = Vec<(usize, u64)>> {
    prop::collection::vec((0_usize..8, 0..STRIPES), 0..3)
        .prop_filter("different devices", |failed| failed.len() < 2 || failed[0].0 != failed[1].0)
}

fn random_request(array: &Raid5, (is_write, lbn, blocks): (bool, u64, u64)) -> QueuedRequest {
    let lbn = lbn % array.capacity_blocks();
    let blocks = blocks.min(array.capacity_blocks() - lbn) as u32;
    request(0, if is_write { Op::Write } else { Op::Read }, lbn, blocks)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whole_stripes_are_planned_like_single_stripes(
        devices in 3_u64..8, unit in 1_u64..5, failures in failures(),
        drawn in (any::<bool>(), 0_u64..2000, 1_u64..2000),
    ) {
        let array = array(devices, unit, &failures);
        let request = random_request(&array, drawn);
        let (plan, expected) = (array.plan(&request, &mut |_, _| 0), stripe_by_stripe(&array, &request));
        prop_assert!(plan.remaining.is_none());
        prop_assert_eq!(&plan.steps, &expected.steps);
        prop_assert_eq!((plan.recomputes, plan.loses), (expected.recomputes, expected.loses));
    }

    #[test]
    fn raid5_steps_equal_plan(
        devices in 3_u64..8, unit in 1_u64..5, failures in failures(),
        drawn in (any::<bool>(), 0_u64..2000, 1_u64..2000),
    ) {
        let array = array(devices, unit, &failures);
        let request = random_request(&array, drawn);
        let expected = stripe_by_stripe(&array, &request);
        let is_kind = |step: &Step| step.op == request.op;
        let steps: Vec<Step> = Raid5Steps::new(array.clone(), &request).collect();
        let same_kind: Vec<Step> = expected.steps.iter().filter(|step| is_kind(step)).cloned().collect();
        let with_needs = |needs: &[usize]| {
            same_kind.iter().map(|step| Step { needs: needs.to_vec(), ..step.clone() }).collect::<Vec<_>>()
        };
        prop_assert_eq!(steps, with_needs(&[]));
        let first = array.plan_first_part(&request);
        prop_assert_eq!((first.recomputes, first.loses), (expected.recomputes, expected.loses));
        if array.health.fails {
            // The reads come first, and every write needs all of them.
            let reads: Vec<Step> = expected.steps.iter().filter(|step| step.op == Op::Read).cloned().collect();
            let needs: Vec<usize> = if request.op == Op::Write { (0..reads.len()).collect() } else { Vec::new() };
            let same_kind = with_needs(&needs);
            let first_steps: Vec<Step> =
                if request.op == Op::Write { reads.into_iter().chain(same_kind).collect() } else { same_kind };
            prop_assert_eq!(first.steps, first_steps);
        }
    }

    #[test]
    fn long_claims_wait_like_single_stripes(
        claims in prop::collection::vec((0_u64..10, 1_u64..6, any::<bool>(), 0_usize..6), 1..40),
    ) {
        // Ranges of two thousand stripes for each one, or the first stripe of these only.
        let long = |from: u64, count: u64, is_shared| {
            let (from, end) = (from * 2000, (from + count) * 2000);
            LockedStripes { stripes: from..if count == 1 { from + 1 } else { end }, is_shared }
        };
        let single = |from: u64, count: u64, is_shared| LockedStripes { stripes: from..from + count, is_shared };
        let mut claim_queues = [ClaimQueue::new(&long), ClaimQueue::new(&single)];
        for (id, (from, count, is_shared, leaving_place)) in claims.into_iter().enumerate() {
            let unblocked_by_queue = claim_queues.each_mut().map(|queue| {
                queue.claim(id as u64, (from, count, is_shared));
                queue.leave(leaving_place);
                queue.unblocked_requests()
            });
            prop_assert_eq!(&unblocked_by_queue[0], &unblocked_by_queue[1]);
        }
    }
}

/// Requests with claims, of which those that wait for nothing may leave.
struct ClaimQueue<'a> {
    make: &'a dyn Fn(u64, u64, bool) -> LockedStripes,
    locks: StripeLocks,
    requests: Map<u64, (LockedStripes, usize)>,
}

impl<'a> ClaimQueue<'a> {
    fn new(make: &'a dyn Fn(u64, u64, bool) -> LockedStripes) -> Self {
        ClaimQueue { make, locks: StripeLocks::default(), requests: Map::default() }
    }

    fn unblocked_requests(&self) -> Vec<u64> {
        let unblocked = self.requests.iter().filter(|(_, (_, waits))| *waits == 0);
        let mut unblocked: Vec<u64> = unblocked.map(|(id, _)| *id).collect();
        unblocked.sort_unstable();
        unblocked
    }

    fn claim(&mut self, id: u64, (from, count, is_shared): (u64, u64, bool)) {
        let locked = (self.make)(from, count, is_shared);
        let waits = self.locks.claim(id, &locked);
        self.requests.insert(id, (locked, waits));
    }

    fn leave(&mut self, place: usize) {
        let Some(id) = self.unblocked_requests().get(place).copied() else { return };
        let (locked, _) = self.requests.remove(&id).unwrap();
        let mut freed = Vec::new();
        locked.single_stripes().for_each(|stripe| self.locks.release_stripe(id, stripe, &mut freed));
        self.locks.release_range(id, &mut freed);
        for id in freed {
            self.requests.get_mut(&id).unwrap().1 -= 1;
        }
    }
}

/// Serves all accesses of a flow, the last one first, and counts the blocks by device and kind; fails a device after
/// some accesses.
fn count_accesses(
    flow: &mut Flow,
    failure: Option<(usize, usize)>,
    ready: &mut Vec<Access>,
) -> (Map<(usize, char), u64>, bool) {
    let (mut blocks, mut served_steps, mut is_complete) = (Map::default(), 0, false);
    let mut seen_accesses = Set::default();
    while let Some((device, access)) = ready.pop() {
        // The accesses that the failed device drops are still among these.
        assert!(ready.len() < 2 * MAX_STEPS);
        if flow.owner(access.id).is_some() {
            assert!(seen_accesses.insert((device, access.op.letter(), access.lbn)));
            *blocks.entry((device, access.op.letter())).or_default() += u64::from(access.blocks);
        }
        is_complete |= flow.complete(&completion(access), ready).is_some();
        served_steps += 1;
        if let Some((failure_step, failing)) = failure
            && failure_step == served_steps
        {
            flow.fail(failing, &mut |_, _| 0, ready);
        }
        is_complete |= flow.has_completed();
    }
    (blocks, is_complete)
}

const LONG_STRIPES: u64 = 30_000;

fn long_array(has_lost: bool) -> Raid5 {
    let mut health = Health::new(LONG_STRIPES, 1, has_lost);
    if has_lost {
        health.fail(0, None);
        health.fail(1, None);
    }
    Raid5 { devices: 4, unit_blocks: 1, stripes: LONG_STRIPES, health }
}

#[test]
fn long_read_bounds_started_steps() {
    let array = long_array(false);
    let capacity_blocks = array.capacity_blocks();
    let (mut flow, mut ready) = (Flow::new(Box::new(array)), Vec::new());
    flow.arrive(request(0, Op::Read, 0, capacity_blocks as u32), &mut |_, _| 0, &mut ready);
    assert_eq!(ready.len(), MAX_STEPS);
    let (blocks, is_complete) = count_accesses(&mut flow, None, &mut ready);
    assert!(is_complete);
    assert_eq!((0..4).map(|device| blocks[&(device, 'R')]).collect::<Vec<_>>(), [LONG_STRIPES * 3 / 4; 4]);
}

#[test]
fn long_write_to_lost_stripes_bounds_started_steps() {
    let array = long_array(true);
    let capacity_blocks = array.capacity_blocks();
    let (mut flow, mut ready) = (Flow::new(Box::new(array)), Vec::new());
    flow.arrive(request(0, Op::Write, 0, capacity_blocks as u32), &mut |_, _| 0, &mut ready);
    assert_eq!(ready.len(), MAX_STEPS);
    // A third device fails: its remaining steps are omitted.
    let (blocks, is_complete) = count_accesses(&mut flow, Some((10_000, 2)), &mut ready);
    assert!(is_complete);
    assert_eq!(blocks[&(3, 'W')], LONG_STRIPES * 3 / 4);
    assert!(blocks[&(2, 'W')] < LONG_STRIPES * 3 / 4);
    assert_eq!(blocks.len(), 2);
}

#[test]
fn long_read_restarts_when_its_device_fails() {
    let health = Health::new(LONG_STRIPES, 1, true);
    let array = Raid5 { health, ..long_array(false) };
    let capacity_blocks = array.capacity_blocks();
    let (mut flow, mut ready) = (Flow::new(Box::new(array)), Vec::new());
    flow.arrive(request(0, Op::Read, 0, capacity_blocks as u32), &mut |_, _| 0, &mut ready);
    let mut completed = 0;
    for _ in 0..1000 {
        let (_, access) = ready.pop().unwrap();
        completed += usize::from(flow.complete(&completion(access), &mut ready).is_some());
    }
    flow.fail(2, &mut |_, _| 0, &mut ready);
    while let Some((_, access)) = ready.pop() {
        completed += usize::from(flow.complete(&completion(access), &mut ready).is_some());
    }
    let counts = flow.counts();
    assert_eq!((completed, counts.restarted_requests, counts.degraded_reads), (1, 1, 1));
    assert_eq!(flow.background().1, Time::ZERO);
}
