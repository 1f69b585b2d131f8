//! Which schedulers let a far request starve while requests near the sled keep arriving.

use sledlab_core::{Request, Span};

use super::waiting_times::{far_waiting_time, stream, waiting_times};

/// PA-SPTF is not free of starvation, but serves the far request as long as the near ones can be served as fast as they
/// arrive. A near position holds only a few requests, as these are served jointly: the sum of their waits stays below
/// 250 ms, and positioning to the far request takes at most four times as long.
#[test]
fn pa_sptf_serves_far_request_of_moderate_stream() {
    let (wait, stream_length) = far_waiting_time("pa-sptf", "requests = 20000");
    assert!(stream_length > Span::from_ms(3_000.0), "the stream is too short");
    assert!(wait.is_some_and(|wait| wait <= Span::from_ms(1_000.0)), "{wait:?}");
}

#[test]
fn position_alone_starves_far_request() {
    for word in ["sptf", "sptf-exhaustive", "sstf", "sdf", "p-sptf", "p-sstf", "gsptf"] {
        assert_eq!(far_waiting_time(word, "requests = 10000").0, None, "{word}");
    }
    // With an arrival at every decision the walk through the tree never reaches the branch of the far request. The
    // stream is no longer than the number of waiting requests that the tree can hold.
    assert_eq!(
        far_waiting_time("mst", "requests = 900\nmean_interarrival_ms = 0.05\nfar_after_ms = 5").0,
        None
    );
}

#[test]
fn far_request_starves_with_dense_near_requests() {
    // Requests arrive at near positions faster than they are served: the sums of waits there grow faster than the wait
    // of the far request.
    let flood = "requests = 20000\nmean_interarrival_ms = 0.1";
    assert_eq!(far_waiting_time("pa-sptf", flood).0, None);
    assert!(far_waiting_time("asptf", flood).0.is_some());
}

#[test]
fn stream_through_a_group_delays_other_groups() {
    // The stream takes two seconds to pass through the first of 80 groups.
    let requests = stream("directed-stream", "requests = 10000");
    let stream_end = requests.last().unwrap().arrival;
    // The random requests in other groups; those of the last half second need not have been selected.
    let is_elsewhere =
        |request: &Request| request.lbn >= 84_375 && stream_end.since(request.arrival) > Span::from_ms(500.0);
    let waits_elsewhere = |word| {
        let waits_of_requests = requests.iter().zip(waiting_times(word, &requests));
        waits_of_requests
            .filter(|(request, _)| is_elsewhere(request))
            .map(|(_, wait)| wait)
            .collect::<Vec<_>>()
    };
    for word in ["gsptf", "sstf"] {
        assert!(waits_elsewhere(word).iter().all(Option::is_none), "{word}");
    }
    for word in ["fcfs", "asptf", "wstf", "pa-sptf", "zsptf", "ztsptf"] {
        let waits_of_requests = waits_elsewhere(word);
        assert!(waits_of_requests.len() > 50 && waits_of_requests.iter().all(Option::is_some), "{word}");
    }
}
