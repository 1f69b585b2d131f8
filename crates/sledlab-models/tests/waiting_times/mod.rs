//! How long requests wait under a scheduler, in streams of requests to a sled.

use sledlab_core::{Request, Span, Time};
use sledlab_models::device::QueuedRequest;
use sledlab_trace::synthetic;
use toml::Table;

use crate::index_comparison::{choice, device};

/// The requests of a generator.
pub fn stream(name: &str, text: &str) -> Vec<Request> {
    let capacity = device("").mechanics().capacity_blocks();
    let mut source = synthetic::build(name, &text.parse::<Table>().unwrap(), 1, capacity).unwrap();
    let mut requests = Vec::new();
    while source.fill(&mut requests).unwrap() > 0 {}
    requests
}

/// How long each request waits until it is selected, in order of arrival; `None` if it is not selected while the stream
/// lasts.
pub fn waiting_times(word: &str, requests: &[Request]) -> Vec<Option<Span>> {
    let mut device = device("");
    let mut queue = choice(word).make(device.mechanics()).unwrap();
    let mut waits = vec![None; requests.len()];
    let (mut now, mut queued, mut batch, mut served) = (Time::ZERO, 0, Vec::new(), Vec::new());
    while queued < requests.len() {
        if queue.is_empty() {
            now = now.max(requests[queued].arrival);
        }
        while queued < requests.len() && requests[queued].arrival <= now {
            queue.push(QueuedRequest::new(queued as u64, &requests[queued]));
            queued += 1;
        }
        queue.pop(now, device.mechanics(), &mut batch);
        for request in &batch {
            waits[request.id as usize] = Some(now.since(request.arrival));
        }
        now = device.issue(now, &batch, &mut served).unwrap().until;
        served.clear();
        batch.clear();
    }
    waits
}

/// The wait of the far request among near ones, and how long the stream lasts from its arrival.
pub fn far_waiting_time(word: &str, text: &str) -> (Option<Span>, Span) {
    let requests = stream("directed-starvation", text);
    let last = requests.last().unwrap().arrival;
    let far = requests.iter().position(|request| request.lbn > 1_000_000).unwrap();
    (waiting_times(word, &requests)[far], last.since(requests[far].arrival))
}
