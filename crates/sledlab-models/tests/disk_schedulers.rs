//! The rules for every scheduler, on disks, and that a disk's position index chooses as an exhaustive search does.

use std::collections::HashMap;

use proptest::prelude::*;
use rand::RngExt;
use sledlab_core::{Op, Span, Time, seed};
use sledlab_models::device::{self, Aim, Device, Queued, preset};
use sledlab_models::scheduler::{self, Choice, LIST, Scheduler};

/// A disk whose seek times follow a square root, an early disk with noise in its table of seek times, and a disk with a
/// buffer and buffered writes. The second one settles faster before writes than its curve says.
const DISKS: [&str; 3] = ["mobile-disk", "hp-c2490a", "atlas-10k"];

/// A scheduler that plans the whole queue, without an index.
const PLANNER: &str = "mst";

/// A scheduler that cannot order requests for disks: it enumerates the states that orders lead to, and as the states of
/// a disk contain the time, there is no end of them.
const SLEDS_ONLY: &str = "optimal";

fn disk(name: &str) -> Box<dyn Device> {
    let file = preset::from_table(&preset::text(name).unwrap().parse().unwrap()).unwrap();
    device::build(&file).unwrap()
}

fn choice(word: &str) -> Choice {
    let (name, params) = scheduler::parse(word).unwrap();
    Choice::new(&name, &params).unwrap()
}

/// Every scheduler for disks, each with the most requests in its queue.
fn schedulers() -> impl Iterator<Item = (&'static str, usize)> {
    let names = LIST.iter().map(|entry| entry.name).filter(|name| *name != SLEDS_ONLY);
    names.map(|name| (name, if name == PLANNER { 20 } else { 100 }))
}

/// Draws random requests, all over the disk or crowded on a few cylinders.
struct Draw {
    rng: seed::Stream,
    capacity: u64,
    crowded: bool,
    next: u64,
}

impl Draw {
    fn new(root: u64, device: &dyn Device, crowded: bool) -> Self {
        let capacity = device.mechanics().capacity_blocks();
        Draw { rng: seed::stream(root, "disk"), capacity, crowded, next: 0 }
    }

    fn request(&mut self, now: Time) -> Queued {
        let range =
            if self.crowded { self.capacity / 2..self.capacity / 2 + 8_000 } else { 0..self.capacity };
        let lbn = self.rng.random_range(range);
        let blocks = self.rng.random_range(1..=40_u32).min((self.capacity - lbn) as u32);
        let op = if self.rng.random_range(0..3) == 0 { Op::Write } else { Op::Read };
        let id = self.next;
        self.next += 1;
        Queued { id, arrival: now, queued: now, lbn, blocks, op, ..Queued::default() }
    }
}

/// Keeps `depth` requests queued, and serves the requests that the index and the exhaustive search both choose; between
/// two services any time may pass, in which the platters turn.
fn race(word: &str, name: &str, depth: usize, picks: usize, root: u64, crowded: bool) {
    let (mut device, choice) = (disk(name), choice(word));
    let mut index = choice.make(device.mechanics()).unwrap();
    let mut search = choice.make_exhaustive(device.mechanics()).unwrap();
    let mut draw = Draw::new(root, device.as_ref(), crowded);
    let (mut now, mut served) = (Time::ZERO, Vec::new());
    let (mut from_index, mut from_search) = (Vec::new(), Vec::new());
    for pick in 0..picks {
        // Towards the end the queue runs empty.
        while index.len() < depth.min(picks - pick) {
            let request = draw.request(now);
            index.push(request);
            search.push(request);
        }
        device.tell_time(now);
        index.pop(now, device.mechanics(), &mut from_index);
        search.pop(now, device.mechanics(), &mut from_search);
        let state = device.mechanics().state();
        assert_eq!(from_index, from_search, "pick {pick} by {word} on {name} in {state:?}");
        assert_eq!((from_index.len(), index.len()), (1, search.len()));
        now = device.issue(now, &from_index, &mut served).unwrap().until;
        if pick % 3 == 0 {
            now += Span::from_ns(draw.rng.random_range(0..30_000_000));
        }
        served.clear();
        from_index.clear();
        from_search.clear();
    }
    assert!(index.is_empty());
}

#[test]
fn disks_have_indexes_for_times_and_distances() {
    for name in DISKS {
        let device = disk(name);
        for aim in [Aim::Time, Aim::Distance] {
            assert!(device.mechanics().position_index(&aim).is_some(), "{name}");
        }
    }
}

#[test]
fn index_and_search_agree() {
    // Some of the other schedulers use an index within a zone or a sweep.
    for (word, _) in schedulers().filter(|(word, _)| *word != PLANNER) {
        for name in DISKS {
            race(word, name, 60, 300, 1, false);
            race(word, name, 60, 300, 2, true);
        }
    }
}

#[test]
fn index_and_search_agree_jointly_too() {
    for word in ["sptf:batch=same-position", "sdf:batch=same-position"] {
        race(word, "atlas-10k", 60, 300, 3, true);
    }
}

#[test]
fn index_and_search_agree_at_depth() {
    for name in DISKS {
        for crowded in [false, true] {
            race("sptf", name, 3_000, 3_400, 4, crowded);
            race("sdf", name, 1_000, 1_400, 5, crowded);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn index_and_search_agree_on_any_queue(
        name in prop::sample::select(DISKS.to_vec()), depth in 1_usize..400, crowded: bool, root: u64,
    ) {
        race("sptf", name, depth, depth + 60, root, crowded);
        race("sdf", name, depth, depth + 60, root, crowded);
    }
}

/// Serves from `queue` until it is empty; before each decision up to two of `arrivals` join it, as far as the queue has
/// room for them.
fn serve(
    queue: &mut dyn Scheduler,
    device: &mut dyn Device,
    arrivals: &[Queued],
    room: usize,
) -> Vec<Queued> {
    let (mut order, mut batch, mut served) = (Vec::new(), Vec::new(), Vec::new());
    let (mut now, mut joined) = (Time::ZERO, 0);
    while joined < arrivals.len() || !queue.is_empty() {
        for _ in 0..2 {
            if joined < arrivals.len() && queue.len() < room {
                queue.push(Queued { arrival: now, queued: now, ..arrivals[joined] });
                joined += 1;
            }
        }
        device.tell_time(now);
        queue.pop(now, device.mechanics(), &mut batch);
        assert!(!batch.is_empty(), "nothing chosen: {:?}", queue.failure());
        now = device.issue(now, &batch, &mut served).unwrap().until;
        served.clear();
        order.append(&mut batch);
    }
    queue.pop(now, device.mechanics(), &mut batch);
    assert!(batch.is_empty(), "something chosen from no requests");
    order
}

#[test]
fn serves_every_request_once_and_the_same_way_again() {
    for (word, room) in schedulers() {
        for name in DISKS {
            let run = || {
                let mut device = disk(name);
                let mut draw = Draw::new(6, device.as_ref(), false);
                let arrivals: Vec<Queued> = (0..300).map(|_| draw.request(Time::ZERO)).collect();
                let mut queue = choice(word).make(device.mechanics()).unwrap();
                serve(queue.as_mut(), device.as_mut(), &arrivals, room)
            };
            let order = run();
            let mut numbers: Vec<u64> = order.iter().map(|request| request.id).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..300), "{word} on {name}");
            assert_eq!(order, run(), "{word} on {name}");
        }
    }
}

#[test]
fn serves_like_requests_in_order_of_arrival() {
    for (word, room) in schedulers() {
        let mut device = disk("atlas-10k");
        let mut draw = Draw::new(7, device.as_ref(), true);
        let places: Vec<Queued> = (0..7).map(|_| draw.request(Time::ZERO)).collect();
        let similar: Vec<Queued> =
            (0..300_u64).map(|id| Queued { id, ..places[(id * id % 13 % 7) as usize] }).collect();
        let mut queue = choice(word).make(device.mechanics()).unwrap();
        let mut latest = HashMap::new();
        for request in serve(queue.as_mut(), device.as_mut(), &similar, room) {
            let before = latest.insert(request.lbn, request.id);
            assert!(before < Some(request.id), "{word}: {request:?} after {before:?}");
        }
    }
}
