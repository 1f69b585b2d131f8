//! How far schedulers are from the optimal order, on small instances.

use std::collections::HashMap;

use serde_json::json;
use sledlab_core::{Span, Time};
use sledlab_models::device::{Device, DeviceState, Mechanics, QueuedRequest};
use sledlab_models::scheduler::LIST;

use super::index_comparison::{RequestGenerator, choice, device};
use super::results::write_result;

const DEVICES: [&str; 4] = ["", "direction = 'up'", "direction = 'parity'", "layout = 'y-sequential'"];

/// A device, a request that it serves first, and requests that all wait when that one is complete.
struct Instance {
    device: Box<dyn Device>,
    first: QueuedRequest,
    waiting: Vec<QueuedRequest>,
}

fn instance(text: &str, root: u64, requests: usize) -> Instance {
    let device = device(text);
    let mut generator = RequestGenerator::new(root, device.as_ref(), root.is_multiple_of(2));
    let first = generator.request(Time::ZERO);
    Instance { device, first, waiting: (0..requests).map(|_| generator.request(Time::ZERO)).collect() }
}

/// The sum of the completion times, counted from the completion of the first request, where a scheduler orders the
/// others.
fn total_completion(word: &str, Instance { mut device, first, waiting }: Instance) -> Span {
    let mut queue = choice(word).make(device.mechanics()).unwrap();
    queue.push(first);
    let (mut total, mut batch, mut served) = (Span::ZERO, Vec::new(), Vec::new());
    queue.pop(Time::ZERO, device.mechanics(), &mut batch);
    let start = device.issue(Time::ZERO, &batch, &mut served).unwrap().until;
    for request in waiting {
        queue.push(request);
    }
    let mut now = start;
    while !queue.is_empty() {
        served.clear();
        batch.clear();
        queue.pop(now, device.mechanics(), &mut batch);
        now = device.issue(now, &batch, &mut served).unwrap().until;
        total = served.iter().fold(total, |sum, served_request| sum + served_request.completion.since(start));
    }
    total
}

/// Returns the minimum sum of completion times over all orders of the requests `waiting`, where `elapsed` is the time
/// that has passed already.
fn min_total_completion(
    mechanics: &dyn Mechanics,
    state: DeviceState,
    elapsed: Span,
    waiting: &[QueuedRequest],
) -> Span {
    let completions = waiting.iter().enumerate().map(|(place, request)| {
        let (timing, next_state) = mechanics.serve_from(state, request);
        let completion = elapsed + timing.service();
        let others = [&waiting[..place], &waiting[place + 1..]].concat();
        completion + min_total_completion(mechanics, next_state, completion, &others)
    });
    completions.min().unwrap_or(Span::ZERO)
}

#[test]
fn no_order_is_better_than_optimal() {
    for text in DEVICES {
        for root in 0..15 {
            let Instance { mut device, first, waiting } = instance(text, root, 6);
            device.issue(Time::ZERO, &[first], &mut Vec::new());
            let mechanics = device.mechanics();
            let best = min_total_completion(mechanics, mechanics.state(), Span::ZERO, &waiting);
            assert_eq!(
                total_completion("optimal", instance(text, root, 6)),
                best,
                "instance {root} on {text}"
            );
        }
    }
}

/// An instance with requests of one size, so that positions alone decide.
fn equal_size_instance(text: &str, root: u64) -> Instance {
    let mut instance = instance(text, root, 9);
    for request in &mut instance.waiting {
        *request = QueuedRequest { blocks: 8, lbn: request.lbn.max(8) - 8, ..*request };
    }
    instance
}

/// How much longer the mean completion takes than in the optimal order, in percent, over a hundred instances.
fn mean_gap(word: &str) -> f64 {
    let instances = || DEVICES.into_iter().flat_map(|text| (0..25).map(move |root| (text, root)));
    let gaps = instances().map(|(text, root)| {
        let best = total_completion("optimal", equal_size_instance(text, root)).as_ns() as f64;
        let gap =
            100.0 * (total_completion(word, equal_size_instance(text, root)).as_ns() as f64 / best - 1.0);
        assert!(gap >= 0.0, "{word} is better than optimal on instance {root} on {text}");
        gap
    });
    gaps.sum::<f64>() / instances().count() as f64
}

#[test]
fn position_aware_schedulers_are_nearer_to_optimum() {
    // One request at a time, as in the optimal order.
    let gap = |name: &'static str| (name, mean_gap(&format!("{name}:batch=none")));
    let names = || LIST.iter().map(|entry| entry.name).filter(|name| *name != "optimal");
    let gaps: HashMap<&str, f64> = names().map(gap).collect();
    let result: Vec<_> =
        names().map(|name| json!({ "scheduler": name, "mean_gap_percent": gaps[name] })).collect();
    write_result("position_aware_schedulers_are_nearer_to_optimum", &json!(result));
    assert!(gaps["sptf"] < 8.0 && gaps["mst"] < 10.0, "{gaps:?}");
    let expected_order = ["sptf", "sdf", "sstf", "fcfs"].map(|name| gaps[name]);
    assert!(expected_order.is_sorted(), "{expected_order:?}");
}
