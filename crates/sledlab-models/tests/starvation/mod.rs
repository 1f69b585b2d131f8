//! Which schedulers let a far request starve while requests near the sled keep arriving (WL-15), and which do not.

use sledlab_core::{Request, Span, Time};
use sledlab_models::device::Queued;
use sledlab_models::scheduler::LIST;
use sledlab_trace::synthetic;
use toml::Table;

use super::racing::{choice, device};

/// The requests of a generator.
fn stream(name: &str, text: &str) -> Vec<Request> {
    let capacity = device("").mechanics().capacity_blocks();
    let mut source = synthetic::build(name, &text.parse::<Table>().unwrap(), 1, capacity).unwrap();
    let mut requests = Vec::new();
    while source.fill(&mut requests).unwrap() > 0 {}
    requests
}

/// How long each request waits until it is selected, in order of arrival; `None` if it is not selected while the stream
/// lasts.
fn waits(word: &str, requests: &[Request]) -> Vec<Option<Span>> {
    let mut device = device("");
    let mut queue = choice(word).make(device.mechanics()).unwrap();
    let mut waits = vec![None; requests.len()];
    let (mut now, mut joined, mut batch, mut served) = (Time::ZERO, 0, Vec::new(), Vec::new());
    while joined < requests.len() {
        if queue.is_empty() {
            now = now.max(requests[joined].arrival);
        }
        while joined < requests.len() && requests[joined].arrival <= now {
            queue.push(Queued::new(joined as u64, &requests[joined]));
            joined += 1;
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
fn far_wait(word: &str, text: &str) -> (Option<Span>, Span) {
    let requests = stream("directed-starvation", text);
    let last = requests.last().unwrap().arrival;
    let far = requests.iter().position(|request| request.lbn > 1_000_000).unwrap();
    (waits(word, &requests)[far], last.since(requests[far].arrival))
}

/// The longest that a scheduler without starvation lets the far request wait, in ms, where near requests
/// arrive every 0.2 ms and hardly any service takes longer than 1 ms.
fn bound_ms(name: &str) -> f64 {
    match name {
        // Some 50 requests are older.
        "fcfs" => 50.0,
        // C-SCAN: one sweep over the waiting requests and those that join ahead of the sled. ZTSPTF: the requests that
        // waited in the near zones when these were entered.
        "c-scan" | "ztsptf" => 100.0,
        // The sweep may have turned just before, so two sweeps.
        "scan" => 200.0,
        // ASPTF: 200 ms of waiting make up for 1 ms of positioning, and only the 1,050 requests that arrive up to then
        // may overtake the far one. WSTF: after 1,000 ms the weight of the far request is below zero, and only the 50
        // older requests may have a smaller one.
        "asptf" | "wstf" => 1_050.0,
        // A near position holds only a few requests, as these are served jointly, faster than they arrive: the sum of
        // their waits stays below 250 ms, and positioning to the far request takes at most four times as long.
        "pa-sptf" => 1_000.0,
        other => panic!("say how long {other} lets a far request wait"),
    }
}

#[test]
fn serves_the_far_request_in_bounded_time() {
    let free = LIST.iter().filter(|entry| entry.facts.starvation_free).map(|entry| entry.name);
    // The wait is bounded for PA-SPTF too, as long as the near requests can be served as fast as they arrive.
    for name in free.chain(["pa-sptf"]) {
        let (wait, lasts) = far_wait(name, "requests = 20000");
        let bound = Span::from_ms(bound_ms(name));
        assert!(3.0 * bound.as_ms() < lasts.as_ms(), "the stream is too short for {name}");
        assert!(wait.is_some_and(|wait| wait <= bound), "{name}: {wait:?}");
    }
}

#[test]
fn starves_the_far_request_by_position_alone() {
    for word in ["sptf", "sptf-exhaustive", "sstf", "sdf", "p-sptf", "gsptf"] {
        assert_eq!(far_wait(word, "requests = 10000").0, None, "{word}");
    }
    // With an arrival at every decision the walk through the tree never reaches the branch of the far request. The
    // stream is no longer than the number of waiting requests that the tree can hold.
    assert_eq!(far_wait("mst", "requests = 900\nmean_interarrival_ms = 0.05\nfar_after_ms = 5").0, None);
}

#[test]
fn starves_the_far_request_by_waits_where_too_many_wait_nearby() {
    // Requests arrive at near positions faster than they are served: the sums of waits there grow faster than the wait
    // of the far request.
    let flood = "requests = 20000\nmean_interarrival_ms = 0.1";
    assert_eq!(far_wait("pa-sptf", flood).0, None);
    assert!(far_wait("asptf", flood).0.is_some());
}

#[test]
fn a_group_keeps_the_sled_while_a_stream_goes_through_it() {
    // The stream takes two seconds to pass through the first of 80 groups.
    let requests = stream("directed-stream", "requests = 10000");
    let end = requests.last().unwrap().arrival;
    // The random requests in other groups; those of the last half second need not have been selected.
    let elsewhere =
        |request: &Request| request.lbn >= 84_375 && end.since(request.arrival) > Span::from_ms(500.0);
    let waits_elsewhere = |word| {
        let waits = requests.iter().zip(waits(word, &requests));
        waits.filter(|(request, _)| elsewhere(request)).map(|(_, wait)| wait).collect::<Vec<_>>()
    };
    for word in ["gsptf", "sstf"] {
        assert!(waits_elsewhere(word).iter().all(Option::is_none), "{word}");
    }
    for word in ["fcfs", "asptf", "wstf", "pa-sptf", "zsptf", "ztsptf"] {
        let waits = waits_elsewhere(word);
        assert!(waits.len() > 50 && waits.iter().all(Option::is_some), "{word}");
    }
}
