//! Disks, random requests for them, and a comparison of a scheduler that uses the position index of a disk with the
//! same scheduler and an exhaustive search.

use rand::RngExt;
use sledlab_core::{Op, Span, Time, seed};
use sledlab_models::device::{self, Device, QueuedRequest, preset};

use crate::index_comparison::{choice, remove_and_return};

/// A disk whose seek times follow a square root, an early disk with noise in its table of seek times, and a disk with a
/// buffer and buffered writes. The second disk settles faster before writes than in its curve.
pub const DISKS: [&str; 3] = ["mobile-disk", "hp-c2490a", "atlas-10k"];

pub fn disk(name: &str) -> Box<dyn Device> {
    let file = preset::from_table(&preset::text(name).unwrap().parse().unwrap()).unwrap();
    device::build(&file).unwrap()
}

/// Draws random requests, all over the disk or crowded on a few cylinders.
pub struct RequestGenerator {
    rng: seed::Stream,
    capacity: u64,
    is_crowded: bool,
    next: u64,
}

impl RequestGenerator {
    pub fn new(root: u64, device: &dyn Device, is_crowded: bool) -> Self {
        let capacity = device.mechanics().capacity_blocks();
        RequestGenerator { rng: seed::stream(root, "disk"), capacity, is_crowded, next: 0 }
    }

    pub fn request(&mut self, now: Time) -> QueuedRequest {
        let range =
            if self.is_crowded { self.capacity / 2..self.capacity / 2 + 8_000 } else { 0..self.capacity };
        let lbn = self.rng.random_range(range);
        let blocks = self.rng.random_range(1..=40_u32).min((self.capacity - lbn) as u32);
        let op = if self.rng.random_range(0..3) == 0 { Op::Write } else { Op::Read };
        let id = self.next;
        self.next += 1;
        QueuedRequest { id, arrival: now, queue_time: now, lbn, blocks, op, ..QueuedRequest::default() }
    }
}

/// Keeps `depth` requests queued, and serves the requests that the index and the exhaustive search both choose; between
/// two services any time may pass, in which the platters turn.
pub fn compare_index_with_search(
    word: &str,
    name: &str,
    depth: usize,
    picks: usize,
    root: u64,
    is_crowded: bool,
) {
    let (mut device, choice) = (disk(name), choice(word));
    let mut index = choice.make(device.mechanics()).unwrap();
    let mut search = choice.make_exhaustive(device.mechanics()).unwrap();
    let mut generator = RequestGenerator::new(root, device.as_ref(), is_crowded);
    let (mut now, mut served) = (Time::ZERO, Vec::new());
    let (mut from_index, mut from_search) = (Vec::new(), Vec::new());
    for pick in 0..picks {
        // Towards the end the queue runs empty.
        let mut last = None;
        while index.len() < depth.min(picks - pick) {
            let request = generator.request(now);
            index.push(request);
            search.push(request);
            last = Some(request);
        }
        device.set_time(now);
        if pick % 3 == 1 && index.len() > 1 {
            remove_and_return([index.as_mut(), search.as_mut()], last, now, device.mechanics());
        }
        index.pop(now, device.mechanics(), &mut from_index);
        search.pop(now, device.mechanics(), &mut from_search);
        let state = device.mechanics().state();
        assert_eq!(from_index, from_search, "pick {pick} by {word} on {name} in {state:?}");
        assert_eq!((from_index.len(), index.len()), (1, search.len()));
        now = device.issue(now, &from_index, &mut served).unwrap().until;
        if pick % 3 == 0 {
            now += Span::from_ns(generator.rng.random_range(0..30_000_000));
        }
        served.clear();
        from_index.clear();
        from_search.clear();
    }
    assert!(index.is_empty());
}
