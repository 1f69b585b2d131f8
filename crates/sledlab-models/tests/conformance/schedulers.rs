//! Every scheduler, on sleds and on disks, serving one request at a time and jointly.

use libtest_mimic::Trial;
use sledlab_core::error::ErrorOrigin;
use sledlab_core::{Result, Span, Time};
use sledlab_models::conformance::scheduler::{Case, RULES, Subject};
use sledlab_models::device::{Device, Mechanics, QueuedRequest};
use sledlab_models::scheduler::{Entry, LIST, Starvation};

use crate::disk_index_comparison::{self, DISKS, disk};
use crate::index_comparison::{
    ComparisonOptions, RequestGenerator, choice, compare_index_with_search, device,
};
use crate::waiting_times::far_waiting_time;
use crate::{NamedCheck, test};

const BATCHES: [&str; 2] = ["none", "same-position"];

/// The schedulers that plan the entire queue without an index, each with the maximum length of its queue.
const PLANNERS: [(&str, usize); 2] = [("mst", 1_000), ("optimal", 12)];

/// A scheduler that cannot order requests for disks: it enumerates the states that orders lead to, and as the states of
/// a disk contain the time, there is no end of them.
const SLED_SCHEDULER: &str = "optimal";

/// Whether a check applies to a scheduler.
type Applies = fn(&Entry) -> bool;

pub fn tests() -> Vec<Trial> {
    let checks: [(NamedCheck<Entry>, Applies); 7] = [
        (("rules", keeps_rules), |_| true),
        (("rules_on_disks", keeps_rules_on_disks), |entry| entry.name != SLED_SCHEDULER),
        (("long_queue", serves_or_rejects_long_queue), |_| true),
        (("index_by_layout", index_agrees_with_search_by_layout), has_index),
        (("index_on_variants", index_agrees_with_search_on_variants), has_index),
        (("index_on_disks", index_agrees_with_search_on_disks), has_index),
        (("bounded_wait", serves_far_request_in_bounded_time), has_bounded_wait),
    ];
    LIST.iter()
        .flat_map(|entry| {
            let applicable = checks.into_iter().filter(|(_, applies)| applies(entry));
            applicable.map(move |((check, run), _)| test("scheduler", entry.name, check, move || run(entry)))
        })
        .collect()
}

/// Whether the scheduler may use a position index, in a zone or a sweep perhaps.
fn has_index(entry: &Entry) -> bool {
    PLANNERS.iter().all(|(name, _)| *name != entry.name)
}

fn has_bounded_wait(entry: &Entry) -> bool {
    matches!(entry.facts.starvation, Starvation::Bounded { .. })
}

/// The longest queue that a scheduler orders.
fn longest_queue(entry: &Entry) -> usize {
    PLANNERS.iter().find(|(name, _)| *name == entry.name).map_or(usize::MAX, |(_, longest)| *longest)
}

fn words(entry: &Entry) -> [String; 2] {
    BATCHES.map(|batch| format!("{}:batch={batch}", entry.name))
}

/// Checks a scheduler against every rule, on the devices that `device` makes.
fn check(
    word: &str,
    device_name: &str,
    device: &dyn Fn() -> Result<Box<dyn Device>>,
    requests: &[QueuedRequest],
    room: usize,
) {
    let make = |mechanics: &dyn Mechanics| choice(word).make(mechanics);
    let (subject, case) = (Subject { make: &make, device }, Case { requests: requests.to_vec(), room });
    for rule in &RULES {
        let outcome = (rule.check)(&subject, &case);
        assert!(outcome.is_ok(), "{word} on {device_name}: {} {}", rule.requirement, outcome.unwrap_err());
    }
}

/// Requests anywhere on a device, or crowded in a small range.
fn random_requests(count: usize, root: u64, device: &dyn Device, is_crowded: bool) -> Vec<QueuedRequest> {
    let mut generator = RequestGenerator::new(root, device, is_crowded);
    (0..count).map(|_| generator.request(Time::ZERO)).collect()
}

/// Requests for a few blocks, many of them equal.
fn similar_requests(count: usize, device: &dyn Device) -> Vec<QueuedRequest> {
    let places = random_requests(7, 1, device, true);
    let pick = |id: u64| places[(id * id % 13 % 7) as usize];
    (0..count as u64).map(|id| QueuedRequest { id, ..pick(id) }).collect()
}

fn keeps_rules(entry: &'static Entry) {
    let (streaming, disksim) = ("layout = 'streaming'", "selection = 'disksim'");
    let cases = [
        ("", random_requests(600, 2, device("").as_ref(), false), 200),
        (streaming, random_requests(300, 3, device(streaming).as_ref(), true), 100),
        ("", similar_requests(400, device("").as_ref()), 120),
        (disksim, similar_requests(400, device("").as_ref()), 120),
    ];
    for word in words(entry) {
        for (text, requests, room) in &cases {
            // Planners rebuild their plan at every arrival: a quarter of the requests shows as much, and takes seconds.
            let count = if has_index(entry) { requests.len() } else { requests.len() / 4 };
            check(&word, text, &|| Ok(device(text)), &requests[..count], longest_queue(entry).min(*room));
        }
    }
}

fn keeps_rules_on_disks(entry: &'static Entry) {
    let room = if has_index(entry) { 100 } else { 20 };
    for name in DISKS {
        let disk = || Ok(disk(name));
        let mut generator = disk_index_comparison::RequestGenerator::new(6, disk().unwrap().as_ref(), false);
        let anywhere: Vec<QueuedRequest> = (0..300).map(|_| generator.request(Time::ZERO)).collect();
        check(entry.name, name, &disk, &anywhere, room);
        check(entry.name, name, &disk, &similar_requests(300, disk().unwrap().as_ref()), room);
    }
}

fn serves_or_rejects_long_queue(entry: &'static Entry) {
    let longest = longest_queue(entry);
    for word in words(entry) {
        for depth in [0, 1, 100_000] {
            let mut device = device("");
            let mut generator = RequestGenerator::new(4, device.as_ref(), false);
            let mut queue = choice(&word).make(device.mechanics()).unwrap();
            (0..depth).for_each(|_| queue.push(generator.request(Time::ZERO)));
            let (mut batch, mut served) = (Vec::new(), Vec::new());
            for _ in 0..20 {
                let waiting = queue.len();
                queue.pop(Time::ZERO + Span::from_ms(1.0), device.mechanics(), &mut batch);
                assert_eq!(batch.is_empty(), waiting == 0 || waiting > longest, "{word} with {waiting}");
                if !batch.is_empty() {
                    device.issue(Time::ZERO, &batch, &mut served).unwrap();
                }
                batch.clear();
            }
            let failure = queue.failure();
            assert_eq!(failure.is_some(), depth > longest, "{word} with {depth}: {failure:?}");
            if let Some(error) = failure {
                assert_eq!(error.origin(), ErrorOrigin::User);
                assert!(error.message().contains(&format!("{depth} queued requests exceed")), "{error}");
                assert!(error.remedy().is_some(), "{error}");
                assert!(!entry.facts.compared_by_default, "{word}");
            }
        }
    }
}

fn index_agrees_with_search_by_layout(entry: &'static Entry) {
    for word in words(entry) {
        for layout in ["row-first", "streaming", "y-sequential"] {
            for direction in ["free", "parity", "up"] {
                for idle in ["", "parking = 'center'\nidle_motion = 'disksim-drift'"] {
                    let text = format!("layout = '{layout}'\ndirection = '{direction}'\n{idle}");
                    for is_crowded in [false, true] {
                        compare_index_with_search(
                            &word,
                            &ComparisonOptions { text: &text, depth: 60, picks: 160, root: 5, is_crowded },
                        );
                    }
                }
            }
        }
    }
}

fn index_agrees_with_search_on_variants(entry: &'static Entry) {
    let sleds = "sleds = 3\nsled_motion = 'together'\nsled_map = 'round-robin'\nstripe_blocks = 4";
    let unsettled = "settle_constants = 0\nspring_factor = 0";
    for word in words(entry) {
        for text in [sleds, unsettled, "kinematics = 'disksim-closed'", "command_overhead_ms = 0.2"] {
            compare_index_with_search(
                &word,
                &ComparisonOptions { text, depth: 300, picks: 200, root: 6, is_crowded: true },
            );
        }
    }
}

fn index_agrees_with_search_on_disks(entry: &'static Entry) {
    for name in DISKS {
        for (root, is_crowded) in [(1, false), (2, true)] {
            disk_index_comparison::compare_index_with_search(entry.name, name, 60, 300, root, is_crowded);
        }
    }
}

fn serves_far_request_in_bounded_time(entry: &'static Entry) {
    let Starvation::Bounded { test_bound_ms } = entry.facts.starvation else { return };
    let (wait, stream_length) = far_waiting_time(entry.name, "requests = 20000");
    let bound = Span::from_ms(test_bound_ms);
    assert!(3.0 * bound.as_ms() < stream_length.as_ms(), "the stream is too short");
    assert!(wait.is_some_and(|wait| wait <= bound), "{wait:?}");
}
