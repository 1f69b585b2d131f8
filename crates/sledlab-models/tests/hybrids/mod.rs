//! Hybrids access by access, with memories whose times can be computed in the head.

mod access_log;
mod caching_disk;
mod mirror;
mod write_buffer;

use access_log::run_hybrid;
use sledlab_core::Op::{self, Read, Write};

/// Hybrids of every kind, with very little room on the front device.
const SMALL: [&str; 7] = [
    "caching-disk:segment_kb=4:front_mb=0.0045:buffer_kb=8",
    "caching-disk:segment_kb=4:front_mb=0.009:buffer_kb=4:partial_write=false:shortcut=false",
    "caching-disk:segment_kb=4:front_mb=0.018:buffer_kb=16:fetch_kb=8",
    "caching-disk:segment_kb=4:front_mb=0.009:buffer_kb=8:copy_kb=1:early_fetch=true",
    "write-buffer:log_kb=4:front_mb=0.02:buffer_kb=8",
    "write-buffer:log_kb=4:front_mb=0.02:buffer_kb=8:gather=true",
    "mirror:sequential_kb=4:buffer_kb=8",
];

/// Requests of which each makes others wait: `run` checks that all are answered and accounted for. If each request
/// examined all others, the test would take many minutes.
#[test]
fn many_waiting_requests_complete() {
    const REQUESTS: u64 = 60_000;
    let op = |number: u64| if number.is_multiple_of(2) { Read } else { Write };
    let segment_start = |number: u64| 8 * (number % 3);
    let request_makers: [&dyn Fn(u64) -> (u64, Op, u64, u32); 5] = [
        &|_| (0, Read, 3, 1),
        &|number| (0, op(number), number % 8, 1),
        &|number| (0, op(number), segment_start(number), 1),
        &|number| (0, Write, segment_start(number / (REQUESTS / 2)), 1),
        &|number| (0, op(number / 3), segment_start(number * number), 3),
    ];
    for hybrid in SMALL {
        for make_request in request_makers {
            run_hybrid(hybrid, &(0..REQUESTS).map(make_request).collect::<Vec<_>>());
        }
    }
}

#[test]
fn requests_waiting_for_slots_count_as_queued() {
    let requests: Vec<_> = (0..100).map(|number| (0, Read, 8 * (number % 9), 1)).collect();
    for hybrid in SMALL {
        let longest = run_hybrid(hybrid, &requests).longest_queue;
        assert!((90..=110).contains(&longest), "{hybrid}: {longest}");
    }
}

#[test]
fn longest_queue_counts_the_serving_device() {
    let burst = [(0, Read, 0, 1), (3, Read, 8, 1), (3, Read, 16, 1), (4, Read, 30, 1)];
    for hybrid in ["none", "mirror", "write-buffer:log_kb=4:front_mb=0.02:buffer_kb=8"] {
        assert_eq!(run_hybrid(hybrid, &burst).longest_queue, 3, "{hybrid}");
    }
}

#[test]
fn the_last_segment_may_be_shorter() {
    let blocks = 1_000_000 / 512;
    for hybrid in
        ["caching-disk:segment_kb=64:front_mb=0.1:buffer_kb=64", "caching-disk:segment_kb=5:front_mb=0.1"]
    {
        let result = run_hybrid(hybrid, &[(0, Read, blocks - 1, 1), (1_000, Write, blocks - 2, 2)]);
        assert_eq!(result.counts.read_hits + result.counts.write_hits, 1, "{hybrid}");
    }
}
