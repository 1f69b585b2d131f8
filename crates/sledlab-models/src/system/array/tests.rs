//! Tests of layouts with simple media: every device holds a number for every block.

mod long;

use std::collections::HashMap;

use proptest::prelude::*;
use sledlab_core::{Op, Span, Time};

use super::flow::{Access, Flow};
use super::layout::Layout;
use super::plan::{Plan, Step};
use crate::device::{QueuedRequest, ServedRequest, Timing};
use crate::power::RequestEnergy;
use crate::system::params::{SystemKind, SystemParams};

/// Blocks of a device: not a multiple of a unit.
const DEVICE_BLOCKS: u64 = 50;

const KINDS: [SystemKind; 4] =
    [SystemKind::Concatenation, SystemKind::Stripe, SystemKind::Mirror, SystemKind::Raid5];

fn layout(kind: SystemKind, devices: u64, unit_blocks: u64) -> Box<dyn Layout> {
    let params = SystemParams { kind, devices, unit_blocks, ..SystemParams::default() };
    super::layout(&params, DEVICE_BLOCKS).unwrap()
}

fn request(id: u64, op: Op, lbn: u64, blocks: u32) -> QueuedRequest {
    QueuedRequest { id, lbn, blocks, op, ..QueuedRequest::default() }
}

fn plan(layout: &dyn Layout, request: &QueuedRequest) -> Plan {
    layout.plan(request, &mut |_, _| 0)
}

/// Returns the device and the block there that a read of one block accesses.
fn place(layout: &dyn Layout, lbn: u64) -> (usize, u64) {
    let plan = plan(layout, &request(0, Op::Read, lbn, 1));
    let [Step { device, op: Op::Read, lbn, blocks: 1, .. }] = &plan.steps[..] else { panic!("{plan:?}") };
    (*device, *lbn)
}

/// The contents of the devices, with a simple controller that changes them.
struct Media {
    kind: SystemKind,
    devices: usize,
    unit_blocks: u64,
    /// The host block at each place, where the layout puts one.
    hosts: HashMap<(usize, u64), u64>,
    contents: HashMap<(usize, u64), u64>,
    /// The blocks that requests have read, and the host's data that they write.
    reads: HashMap<(u64, (usize, u64)), u64>,
    data: HashMap<u64, u64>,
}

impl Media {
    fn new(kind: SystemKind, devices: u64, unit_blocks: u64) -> Self {
        let layout = layout(kind, devices, unit_blocks);
        let hosts = (0..layout.capacity_blocks()).map(|lbn| (place(layout.as_ref(), lbn), lbn)).collect();
        let devices = devices as usize;
        let (contents, reads, data) = (HashMap::new(), HashMap::new(), HashMap::new());
        Media { kind, devices, unit_blocks, hosts, contents, reads, data }
    }

    fn layout(&self) -> Box<dyn Layout> {
        layout(self.kind, self.devices as u64, self.unit_blocks)
    }

    fn word(&self, place: (usize, u64)) -> u64 {
        self.contents.get(&place).copied().unwrap_or(0)
    }

    /// Executes an access for a request, like a controller that has only the blocks read for that request.
    fn access(&mut self, request: &QueuedRequest, (device, access): &Access) {
        for lbn in access.lbn..access.lbn + u64::from(access.blocks) {
            let place = (*device, lbn);
            if access.op == Op::Read {
                self.reads.insert((request.id, place), self.word(place));
                continue;
            }
            let host = if self.kind == SystemKind::Mirror { Some(&lbn) } else { self.hosts.get(&place) };
            let new = match host {
                Some(host) => {
                    let range = request.lbn..request.lbn + u64::from(request.blocks);
                    assert!(range.contains(host), "block {host} is not the request's to write");
                    self.data[&request.id] + host
                }
                None => self.parity(request, place),
            };
            self.contents.insert(place, new);
        }
    }

    /// New parity from the blocks read for a request and the data it writes.
    fn parity(&self, request: &QueuedRequest, place: (usize, u64)) -> u64 {
        let others = (0..self.devices).filter(|device| *device != place.0).map(|device| (device, place.1));
        let read = |place| self.reads.get(&(request.id, place)).copied();
        let new = |place| {
            let host = self.hosts[&place];
            (request.lbn..request.lbn + u64::from(request.blocks))
                .contains(&host)
                .then(|| self.data[&request.id] + host)
        };
        let (mut xor, mut changed) = (Some(0), read(place));
        for other in others {
            xor = xor.zip(new(other).or_else(|| read(other))).map(|(xor, other)| xor ^ other);
            if let Some(new) = new(other) {
                changed = changed.zip(read(other)).map(|(parity, old_data)| parity ^ old_data ^ new);
            }
        }
        xor.or(changed).expect("too few reads to compute the parity")
    }

    /// Whether parity, or every copy, agrees with the data.
    fn check_redundancy(&self) {
        for lbn in 0..DEVICE_BLOCKS {
            let words = (0..self.devices).map(|device| self.word((device, lbn)));
            match self.kind {
                SystemKind::Raid5 => assert_eq!(words.fold(0, |xor, block| xor ^ block), 0, "block {lbn}"),
                SystemKind::Mirror => assert!(words.into_iter().all(|block| block == self.word((0, lbn)))),
                _ => {}
            }
        }
    }
}

/// Requests as (write, first block, blocks), each within the first `capacity` blocks.
fn requests(drawn: &[(bool, u64, u32)], capacity: u64) -> Vec<QueuedRequest> {
    let to_request = |(id, (is_write, lbn, blocks)): (usize, &(bool, u64, u32))| {
        let lbn = lbn % capacity;
        let blocks = (*blocks).min((capacity - lbn) as u32);
        request(id as u64, if *is_write { Op::Write } else { Op::Read }, lbn, blocks)
    };
    drawn.iter().enumerate().map(to_request).collect()
}

fn completion(access: QueuedRequest) -> ServedRequest {
    let (timing, energy) = (Timing::default(), RequestEnergy { seek_uj: 1.0, ..RequestEnergy::default() });
    ServedRequest {
        request: access,
        start: Time::ZERO,
        completion: Time::ZERO,
        write_behind: Span::ZERO,
        timing,
        energy,
        device: Some(0),
    }
}

/// Runs requests, up to `outstanding` at once, their accesses in an order that `picks` decides; `check` sees the media
/// whenever a request is complete.
fn run_requests(
    media: &mut Media,
    requests: &[QueuedRequest],
    outstanding: usize,
    picks: &mut dyn Iterator<Item = usize>,
    check: &mut dyn FnMut(&Media, &QueuedRequest),
) {
    let mut flow = Flow::new(media.layout());
    let (mut ready, mut waiting, mut in_flight) = (Vec::new(), requests.iter(), 0);
    let mut owner: HashMap<u64, u64> = HashMap::new();
    let mut spent_by_request: HashMap<u64, f64> = HashMap::new();
    loop {
        while in_flight < outstanding
            && let Some(request) = waiting.next()
        {
            media.data.insert(request.id, 1000 * (request.id + 1));
            flow.arrive(*request, &mut |_, _| 0, &mut ready);
            in_flight += 1;
        }
        if ready.is_empty() {
            break;
        }
        let access: Access = ready.swap_remove(picks.next().unwrap_or(0) % ready.len());
        let id = flow.owner(access.1.id).expect("an access completes once").0;
        assert_eq!(owner.insert(access.1.id, id), None);
        *spent_by_request.entry(id).or_default() += 1.0;
        media.access(&requests[id as usize], &access);
        if let Some(finished) = flow.complete(&completion(access.1), &mut ready) {
            assert_eq!(finished.request, requests[finished.request.id as usize]);
            assert!(
                (finished.energy.seek_uj - spent_by_request[&id]).abs() < 1e-9,
                "every access is charged"
            );
            in_flight -= 1;
            check(media, &finished.request);
        }
    }
    assert!(in_flight == 0 && waiting.next().is_none() && flow.blocked_requests() == 0, "all is done");
}

fn random_requests(maximum: usize) -> impl Strategy<Value = Vec<(bool, u64, u32)>> {
    prop::collection::vec((any::<bool>(), 0_u64..1000, 1_u32..60), 1..maximum)
}

proptest! {
    #[test]
    fn host_and_device_blocks_map_one_to_one(kind in 0_usize..4, devices in 3_u64..8, unit in 1_u64..=DEVICE_BLOCKS) {
        let layout = layout(KINDS[kind], devices, unit);
        let mut seen_places = std::collections::HashSet::new();
        for lbn in 0..layout.capacity_blocks() {
            let (device, device_block) = place(layout.as_ref(), lbn);
            prop_assert!(device < devices as usize && device_block < DEVICE_BLOCKS);
            prop_assert!(seen_places.insert((device, device_block)), "two blocks at one place");
        }
        let whole_units = DEVICE_BLOCKS / unit * unit;
        let expected = match KINDS[kind] {
            SystemKind::Stripe => devices * whole_units,
            SystemKind::Raid5 => (devices - 1) * whole_units,
            SystemKind::Mirror => DEVICE_BLOCKS,
            _ => devices * DEVICE_BLOCKS,
        };
        prop_assert_eq!(layout.capacity_blocks(), expected);
    }

    #[test]
    fn parts_cover_a_read_once(
        kind in 0_usize..4, devices in 3_u64..8, unit in 1_u64..20, draw in (Just(false), 0_u64..1000, 1_u32..200),
    ) {
        let layout = layout(KINDS[kind], devices, unit);
        let read = requests(&[draw], layout.capacity_blocks())[0];
        let plan = plan(layout.as_ref(), &read);
        let mut places: Vec<_> = plan
            .steps
            .iter()
            .flat_map(|step| (step.lbn..step.lbn + step.blocks).map(|lbn| (step.device, lbn)))
            .collect();
        let mut expected: Vec<_> =
            (read.lbn..read.lbn + u64::from(read.blocks)).map(|lbn| place(layout.as_ref(), lbn)).collect();
        let last = *expected.last().unwrap();
        places.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(places, expected);
        // Consecutive blocks on one device are one access, and the access with the last block is marked.
        for (i, a) in plan.steps.iter().enumerate() {
            prop_assert!(plan.steps.iter().all(|b| a.device != b.device || a.lbn + a.blocks != b.lbn));
            prop_assert_eq!(a.ends_request, (a.device, a.lbn + a.blocks - 1) == last, "step {}", i);
            prop_assert_eq!(a.requested_blocks, a.blocks);
        }
    }

    #[test]
    fn a_block_reads_as_last_written(
        kind in 0_usize..4, devices in 3_u64..8, unit in 1_u64..20, drawn in random_requests(30),
        picks in prop::collection::vec(any::<usize>(), 0..500),
    ) {
        let mut media = Media::new(KINDS[kind], devices, unit);
        let requests = requests(&drawn, media.layout().capacity_blocks());
        let mut last: HashMap<u64, u64> = HashMap::new();
        let places: HashMap<u64, (usize, u64)> = media.hosts.iter().map(|(place, lbn)| (*lbn, *place)).collect();
        run_requests(&mut media, &requests, 1, &mut picks.into_iter(), &mut |media, finished| {
            for lbn in finished.lbn..finished.lbn + u64::from(finished.blocks) {
                if finished.op == Op::Write {
                    last.insert(lbn, 1000 * (finished.id + 1) + lbn);
                } else {
                    let read = media.reads[&(finished.id, places[&lbn])];
                    assert_eq!(read, last.get(&lbn).copied().unwrap_or(0));
                }
            }
            media.check_redundancy();
        });
        for (lbn, place) in places {
            prop_assert_eq!(media.word(place), last.get(&lbn).copied().unwrap_or(0));
        }
    }

    #[test]
    fn parity_survives_concurrent_requests(
        devices in 3_u64..8, unit in 1_u64..20, outstanding in 2_usize..12, drawn in random_requests(60),
        picks in prop::collection::vec(any::<usize>(), 0..2000),
    ) {
        let mut media = Media::new(SystemKind::Raid5, devices, unit);
        let requests = requests(&drawn, media.layout().capacity_blocks());
        run_requests(&mut media, &requests, outstanding, &mut picks.into_iter(), &mut |_, _| {});
        media.check_redundancy();
    }
}

fn steps(devices: u64, lbn: u64, blocks: u32) -> Vec<(usize, char, u64, u64, Vec<usize>)> {
    let plan = plan(layout(SystemKind::Raid5, devices, 10).as_ref(), &request(0, Op::Write, lbn, blocks));
    plan.steps.into_iter().map(|s| (s.device, s.op.letter(), s.lbn, s.blocks, s.needs)).collect()
}

#[test]
fn a_small_write_reads_what_it_replaces() {
    // Second unit of the first stripe of five devices: parity on device 4, data on 0 to 3.
    let expected =
        [(1, 'R', 3, 2, vec![]), (4, 'R', 3, 2, vec![]), (1, 'W', 3, 2, vec![0]), (4, 'W', 3, 2, vec![0, 1])];
    assert_eq!(steps(5, 13, 2), expected);
}

#[test]
fn half_stripe_write_reads_the_other_half() {
    let expected = [
        (2, 'R', 0, 10, vec![]),
        (3, 'R', 0, 10, vec![]),
        (0, 'W', 0, 10, vec![]),
        (1, 'W', 0, 10, vec![]),
        (4, 'W', 0, 10, vec![0, 1]),
    ];
    assert_eq!(steps(5, 0, 20), expected);
}

#[test]
fn a_write_of_whole_stripes_reads_nothing() {
    let result = steps(5, 0, 80);
    let expected: Vec<_> = (0..5).map(|device| (device, 'W', 0, 20, vec![])).collect();
    assert_eq!(result, expected);
}

#[test]
fn parity_rotates_to_the_left() {
    let layout = layout(SystemKind::Raid5, 4, 10);
    let devices = |stripe: u64| [0, 1, 2].map(|unit| place(layout.as_ref(), (stripe * 3 + unit) * 10).0);
    assert_eq!([0, 1, 2, 3].map(devices), [[0, 1, 2], [3, 0, 1], [2, 3, 0], [1, 2, 3]]);
}
