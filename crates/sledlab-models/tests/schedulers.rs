//! The rules that every scheduler in the list keeps.

mod leaving;
mod optimality;
mod orders;
mod racing;
mod starvation;

use racing::{Course, Draw, choice, device, race};
use sledlab_core::error::Blame;
use sledlab_core::{Span, Time};
use sledlab_models::conformance::scheduler::{Case, RULES, Subject};
use sledlab_models::device::{Mechanics, Queued};
use sledlab_models::scheduler::LIST;

const BATCHES: [&str; 2] = ["none", "same-position"];

/// The schedulers for small queues, each with the most requests that it orders.
const SMALL: [(&str, usize); 2] = [("mst", 1_000), ("optimal", 12)];

/// Every scheduler, serving one request at a time and jointly, with the most requests that it orders.
fn words() -> impl Iterator<Item = (String, usize)> {
    LIST.iter().flat_map(|entry| {
        let most = SMALL.iter().find(|(name, _)| *name == entry.name).map_or(usize::MAX, |(_, most)| *most);
        BATCHES.map(|batch| (format!("{}:batch={batch}", entry.name), most))
    })
}

/// Checks every scheduler against every rule, with the same requests for each, on the device that `text` describes;
/// `room` is the most requests that wait, or fewer where a scheduler orders fewer.
fn hold_all(text: &str, requests: &[Queued], room: usize) {
    for (word, most) in words() {
        let make = |mechanics: &dyn Mechanics| choice(&word).make(mechanics);
        let subject = Subject { make: &make, device: &|| Ok(device(text)) };
        let case = Case { requests: requests.to_vec(), room: room.min(most) };
        for rule in &RULES {
            let kept = (rule.check)(&subject, &case);
            assert!(kept.is_ok(), "{word} on {text}: {} {}", rule.says, kept.unwrap_err());
        }
    }
}

/// Requests anywhere on a device, or crowded in a small range.
fn drawn(count: usize, root: u64, text: &str, crowded: bool) -> Vec<Queued> {
    let mut draw = Draw::new(root, device(text).as_ref(), crowded);
    (0..count).map(|_| draw.request(Time::ZERO)).collect()
}

/// Requests for a few blocks, many of them equal.
fn similar(count: usize) -> Vec<Queued> {
    let mut draw = Draw::new(1, device("").as_ref(), true);
    let places: Vec<Queued> = (0..7).map(|_| draw.request(Time::ZERO)).collect();
    let pick = |id: u64| places[(id * id % 13 % 7) as usize];
    (0..count as u64).map(|id| Queued { id, ..pick(id) }).collect()
}

#[test]
fn every_scheduler_keeps_the_rules() {
    hold_all("", &drawn(600, 2, "", false), 200);
}

#[test]
fn every_scheduler_keeps_the_rules_in_a_crowd() {
    let streaming = "layout = 'streaming'";
    hold_all(streaming, &drawn(300, 3, streaming, true), 100);
}

#[test]
fn every_scheduler_keeps_the_rules_for_like_requests() {
    for profile in ["", "selection = 'disksim'"] {
        hold_all(profile, &similar(400), 120);
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

/// The schedulers that may have an index; the others plan too slowly for thousands of decisions.
fn racers() -> impl Iterator<Item = String> {
    words().filter(|(_, most)| *most == usize::MAX).map(|(word, _)| word)
}

#[test]
fn index_and_search_agree_for_every_layout_and_direction() {
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
fn index_and_search_agree_on_other_devices() {
    let sleds = "sleds = 3\nsled_motion = 'together'\nsled_map = 'round-robin'\nstripe_blocks = 4";
    let unsettled = "settle_constants = 0\nspring_factor = 0";
    for word in racers() {
        for text in [sleds, unsettled, "kinematics = 'disksim-closed'", "command_overhead_ms = 0.2"] {
            race(&word, &Course { text, depth: 300, picks: 200, root: 6, crowded: true });
        }
    }
}
