//! What every scheduler in the list promises.

mod leaving;
mod optimality;
mod orders;
mod racing;
mod starvation;

use std::collections::HashMap;

use racing::{Course, Draw, choice, device, race};
use sledlab_core::error::Blame;
use sledlab_core::{Span, Time};
use sledlab_models::device::{Device, Queued};
use sledlab_models::scheduler::{LIST, Scheduler};

const BATCHES: [&str; 2] = ["none", "same-position"];

/// Those for small queues, and the most requests they order.
const SMALL: [(&str, usize); 2] = [("mst", 1_000), ("optimal", 12)];

/// Every scheduler, one request at a time and jointly, with the most requests it orders.
fn words() -> impl Iterator<Item = (String, usize)> {
    LIST.iter().flat_map(|entry| {
        let most = SMALL.iter().find(|(name, _)| *name == entry.name).map_or(usize::MAX, |(_, most)| *most);
        BATCHES.map(|batch| (format!("{}:batch={batch}", entry.name), most))
    })
}

/// Serves from `queue` until it is empty; before each decision up to two of `arrivals` join it, as far as
/// there is room for them.
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
        let waiting = queue.len();
        queue.pop(now, device.mechanics(), &mut batch);
        assert!(!batch.is_empty(), "nothing chosen from {waiting} requests: {:?}", queue.failure());
        assert_eq!(queue.len(), waiting - batch.len());
        now = device.issue(now, &batch, &mut served).unwrap().until;
        served.clear();
        order.append(&mut batch);
    }
    queue.pop(now, device.mechanics(), &mut batch);
    assert!(batch.is_empty() && queue.is_empty(), "something chosen from no requests");
    order
}

/// Requests for a few places, many of them alike.
fn similar(count: usize) -> Vec<Queued> {
    let mut draw = Draw::new(1, device("").as_ref(), true);
    let places: Vec<Queued> = (0..7).map(|_| draw.request(Time::ZERO)).collect();
    let pick = |id: u64| places[(id * id % 13 % 7) as usize];
    (0..count as u64).map(|id| Queued { id, ..pick(id) }).collect()
}

#[test]
fn serves_every_request_once() {
    for (word, most) in words() {
        let mut device = device("");
        let mut draw = Draw::new(2, device.as_ref(), false);
        let arrivals: Vec<Queued> = (0..600).map(|_| draw.request(Time::ZERO)).collect();
        let mut queue = choice(&word).make(device.mechanics()).unwrap();
        let order = serve(queue.as_mut(), device.as_mut(), &arrivals, most.min(200));
        let mut numbers: Vec<u64> = order.iter().map(|request| request.id).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..600), "{word}");
        for request in order {
            let asked = arrivals[request.id as usize];
            assert_eq!((request.lbn, request.blocks), (asked.lbn, asked.blocks), "{word}");
        }
    }
}

#[test]
fn makes_the_same_choices_again() {
    for (word, most) in words() {
        let run = || {
            let mut device = device("layout = 'streaming'");
            let mut draw = Draw::new(3, device.as_ref(), true);
            let arrivals: Vec<Queued> = (0..300).map(|_| draw.request(Time::ZERO)).collect();
            let mut queue = choice(&word).make(device.mechanics()).unwrap();
            serve(queue.as_mut(), device.as_mut(), &arrivals, most.min(100))
        };
        assert_eq!(run(), run(), "{word}");
    }
}

#[test]
fn serves_like_requests_in_order_of_arrival() {
    for (word, most) in words() {
        for profile in ["", "selection = 'disksim'"] {
            let mut device = device(profile);
            let mut queue = choice(&word).make(device.mechanics()).unwrap();
            let order = serve(queue.as_mut(), device.as_mut(), &similar(400), most.min(120));
            let mut latest = HashMap::new();
            for request in order {
                let before = latest.insert(request.lbn, request.id);
                assert!(before < Some(request.id), "{word}: {request:?} after {before:?}");
            }
        }
    }
}

#[test]
fn survives_long_queues_or_refuses_them() {
    for (word, most) in words() {
        for depth in [0, 1, 100_000] {
            let mut device = device("");
            let mut draw = Draw::new(4, device.as_ref(), false);
            let mut queue = choice(&word).make(device.mechanics()).unwrap();
            (0..depth).for_each(|_| queue.push(draw.request(Time::ZERO)));
            let (mut batch, mut served) = (Vec::new(), Vec::new());
            for _ in 0..20 {
                let waiting = queue.len();
                queue.pop(Time::ZERO + Span::from_ms(1.0), device.mechanics(), &mut batch);
                assert_eq!(batch.is_empty(), waiting == 0 || waiting > most, "{word} with {waiting}");
                if !batch.is_empty() {
                    device.issue(Time::ZERO, &batch, &mut served).unwrap();
                }
                batch.clear();
            }
            let failure = queue.failure();
            assert_eq!(failure.is_some(), depth > most, "{word} with {depth}: {failure:?}");
            if let Some(error) = failure {
                assert_eq!(error.blame(), Blame::User);
                assert!(error.message().contains(&format!("{depth} requests wait")), "{error}");
                assert!(error.remedy().is_some(), "{error}");
                assert!(
                    !LIST.iter().any(|entry| word.starts_with(entry.name) && entry.facts.in_race),
                    "{word}"
                );
            }
        }
    }
}

/// Those that may have an index; the others plan too slowly for thousands of decisions.
fn racers() -> impl Iterator<Item = String> {
    words().filter(|(_, most)| *most == usize::MAX).map(|(word, _)| word)
}

#[test]
fn index_and_scan_agree_for_every_layout_and_direction() {
    for word in racers() {
        for layout in ["row-first", "streaming", "y-sequential"] {
            for direction in ["free", "parity", "up"] {
                for rest in ["", "parking = 'centre'\nidle_motion = 'disksim-drift'"] {
                    let text = format!("layout = '{layout}'\ndirection = '{direction}'\n{rest}");
                    for crowded in [false, true] {
                        race(&word, &Course { text: &text, depth: 60, picks: 160, root: 5, crowded });
                    }
                }
            }
        }
    }
}

#[test]
fn index_and_scan_agree_on_other_devices() {
    let sleds = "sleds = 3\nsled_motion = 'together'\nsled_map = 'round-robin'\nstripe_blocks = 4";
    let unsettled = "settle_constants = 0\nspring_factor = 0";
    for word in racers() {
        for text in [sleds, unsettled, "kinematics = 'disksim-closed'", "command_overhead_ms = 0.2"] {
            race(&word, &Course { text, depth: 300, picks: 200, root: 6, crowded: true });
        }
    }
}
