//! Arrays whose devices fail: which blocks are read, which are lost, and how long requests take.

use crate::failing_array::{Array, Host, Request};
use proptest::prelude::*;
use sledlab_core::{Op, Time};
use sledlab_models::device::QueuedRequest;

const ACCESS_US: u64 = 10;

fn single_request(op: Op, lbn: u64, blocks: u32) -> Request {
    Request { op, lbn, blocks, at_us: 0 }
}

/// Response time of a request to an array, and the sum of its devices' busy times, both in us.
fn cost(array: &Array, request: Request) -> (u64, u64) {
    let mut host = Host::new(array);
    let completions = host.run_requests(&[request]);
    (completions[0].completion.as_ns() / 1000, host.busy_us())
}

#[test]
fn degraded_read_takes_as_long_as_the_slowest_read() {
    // The first unit of five devices is on the first device.
    let (intact_array, degraded_array) = (Array::raid5(5, 16), Array::raid5(5, 16).with_failures("0", "0"));
    let read = single_request(Op::Read, 3, 4);
    assert_eq!(cost(&intact_array, read), (ACCESS_US + 4, ACCESS_US + 4));
    assert_eq!(cost(&degraded_array, read), (ACCESS_US + 4, 4 * (ACCESS_US + 4)));
    // A complete stripe: each surviving device is read once.
    assert_eq!(
        cost(&degraded_array, single_request(Op::Read, 0, 64)),
        (ACCESS_US + 16, 4 * (ACCESS_US + 16))
    );
    // Blocks on other devices cost the same as before the failure.
    assert_eq!(cost(&degraded_array, single_request(Op::Read, 16, 4)), (ACCESS_US + 4, ACCESS_US + 4));
}

#[test]
fn a_degraded_write_reads_what_parity_needs() {
    let access = ACCESS_US + 4;
    let write = single_request(Op::Write, 3, 4);
    let cost_with_failed = |failed| cost(&Array::raid5(5, 16).with_failures(failed, "0"), write);
    assert_eq!(cost(&Array::raid5(5, 16), write), (2 * access, 4 * access), "two reads, two writes");
    assert_eq!(
        cost_with_failed("0"),
        (2 * access, 4 * access),
        "three reads of other data, a write of parity"
    );
    assert_eq!(cost_with_failed("4"), (access, access), "data alone: parity is missing");
    assert_eq!(cost_with_failed("1"), (2 * access, 4 * access), "as ever where other data is missing");
}

#[test]
fn idle_array_rebuilds_at_rate_or_device_speed() {
    // 1953 blocks of memory of 1 MB: 122 complete units of 16 blocks.
    let (stripes, unit_us) = (122, ACCESS_US + 16);
    let rebuild_us = |rate: f64| {
        let mut host = Host::new(&Array::raid5(4, 16).with_failures("2", "0").with_rebuild_rate(rate));
        host.run_requests(&[]);
        let faults = host.faults();
        assert_eq!(faults.rebuild_written_bytes, stripes * 16 * 512);
        assert_eq!(faults.rebuild_read_bytes, 3 * stripes * 16 * 512);
        assert_eq!((faults.lost_blocks, faults.degraded_reads), (0, 0));
        (faults.failed[0].rebuilt_after_s.unwrap() * 1e6).round() as u64
    };
    // Units of 8192 bytes at 8.192 MB/s: one per millisecond. The reads of a stripe run in parallel, its write follows.
    assert_eq!(rebuild_us(8.192), (stripes - 1) * 1000 + 2 * unit_us);
    assert_eq!(rebuild_us(1e6), stripes * 2 * unit_us);
}

#[test]
fn a_mirror_is_copied_to_a_spare() {
    let mut host = Host::new(&Array::mirror(2, 16).with_failures("1", "0.001").with_rebuild_rate(8.192));
    let completions = host.run_requests(&[single_request(Op::Write, 0, 8), single_request(Op::Read, 0, 8)]);
    assert_eq!(completions.len(), 2);
    host.check_all_blocks();
    let faults = host.faults();
    assert_eq!((faults.rebuild_read_bytes, faults.rebuild_written_bytes), (1953 * 512, 1953 * 512));
    // 122 complete units and one of a single block.
    let after_us = (faults.failed[0].rebuilt_after_s.unwrap() * 1e6).round() as u64;
    assert_eq!(after_us, 122 * 1000 + 2 * (ACCESS_US + 1));
}

#[test]
fn requests_on_a_failing_device_restart() {
    // The read of 4 blocks would take until 14 us.
    let mut host = Host::new(&Array::raid5(5, 16).with_failures("0", "0.000005"));
    let completions = host.run_requests(&[single_request(Op::Read, 3, 4)]);
    assert_eq!(completions[0].completion.as_ns(), (5 + ACCESS_US + 4) * 1000);
    let faults = host.faults();
    assert_eq!((faults.restarted_requests, faults.degraded_reads), (1, 1));
    // A write whose reads are complete omits its access to the failed device.
    let mut host = Host::new(&Array::raid5(5, 16).with_failures("0", "0.000020"));
    let completions = host.run_requests(&[single_request(Op::Write, 3, 4)]);
    assert_eq!(completions[0].completion.as_ns(), 28_000);
    assert_eq!(host.faults().restarted_requests, 0);
    host.check_all_blocks();
}

#[test]
fn two_failures_lose_stripes_of_both_devices() {
    let mut host = Host::new(&Array::raid5(4, 16).with_failures("[1, 3]", "0"));
    host.run_requests(&[]);
    // Of 12 stripes each pair of devices holds parity in 6 of them: 122 stripes are 10 times 12 and 2 more.
    let lost_blocks: u64 =
        (0..122).map(|stripe| if [1, 3].contains(&(3 - stripe % 4)) { 16 } else { 32 }).sum();
    assert_eq!(host.faults().lost_blocks, lost_blocks);
    assert_eq!(host.count_lost_blocks(), lost_blocks);
}

#[test]
fn request_for_lost_blocks_counts_once() {
    // The read restarts at the failure of the third device.
    let mut host = Host::new(&Array::raid5(4, 8).with_failures("[0, 1, 2]", "[0, 0, 0.000005]"));
    host.run_requests(&[single_request(Op::Read, 0, 24)]);
    assert_eq!((host.faults().lost_requests, host.faults().restarted_requests), (1, 1));
    // The reads of the write end after 18 us; then its device fails, and device 0 is missing.
    let mut host = Host::new(&Array::raid5(4, 8).with_failures("[0, 1]", "[0, 0.000025]"));
    let completions = host.run_requests(&[single_request(Op::Write, 8, 8)]);
    assert_eq!((completions.len(), host.faults().lost_requests), (1, 1));
}

#[test]
fn a_second_failure_after_the_rebuild_loses_nothing() {
    let mut host =
        Host::new(&Array::raid5(4, 16).with_failures("[1, 3]", "[0.0, 0.5]").with_rebuild_rate(100.0));
    host.run_requests(&[
        single_request(Op::Write, 0, 200),
        Request { at_us: 600_000, ..single_request(Op::Read, 0, 200) },
    ]);
    host.check_all_blocks();
    let faults = host.faults();
    assert_eq!((faults.lost_blocks, faults.lost_requests), (0, 0));
    assert!(faults.failed.iter().all(|failed| failed.rebuilt_after_s.is_some()));
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let op = prop_oneof![Just(Op::Read), Just(Op::Write)];
    let lbn = prop_oneof![0_u64..150, 0_u64..3000];
    let request = (op, lbn, prop_oneof![1_u32..6, 1_u32..90], 0_u64..150);
    prop::collection::vec(request, 1..60).prop_map(|drawn| {
        let mut at_us = 0;
        let next = |(op, lbn, blocks, gap)| {
            at_us += gap;
            Request { op, lbn, blocks, at_us }
        };
        drawn.into_iter().map(next).collect()
    })
}

fn rate() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(20.0), Just(200.0), Just(1e5)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reads_are_unchanged_by_one_failure(
        requests in requests(), is_mirror: bool, devices in 3_u64..6, unit in 1_u64..40, failed in 0_u64..3,
        at_us in prop_oneof![Just(0_u64), 1_u64..4000], rate in rate(),
    ) {
        let array = if is_mirror { Array::mirror(devices, unit) } else { Array::raid5(devices, unit) };
        let at_s = at_us as f64 * 1e-6;
        let mut host = Host::new(&array.with_failures(&failed.to_string(), &at_s.to_string()).with_rebuild_rate(rate));
        let completions = host.run_requests(&requests);
        prop_assert_eq!(completions.len(), requests.len(), "every request is done once");
        let faults = host.faults();
        prop_assert_eq!((faults.lost_blocks, faults.lost_requests), (0, 0));
        prop_assert_eq!(faults.failed[0].rebuilt_after_s.is_some(), rate > 0.0);
        let degraded_before = faults.degraded_reads;
        host.check_all_blocks();
        // Blocks are read from the spare itself, where there is one.
        let degraded_reads = host.faults().degraded_reads - degraded_before;
        prop_assert_eq!(degraded_reads > 0, rate == 0.0 && !is_mirror);
    }

    #[test]
    fn spare_has_data_of_failed_device(
        requests in requests(), devices in 3_u64..6, unit in 4_u64..40, second in 1_u64..3, at_us in 0_u64..4000,
    ) {
        // After the second device has failed, its blocks are recomputed with data and parity on the spare of the first,
        // and the spare's own blocks are read from there.
        let times_s = format!("[{}, 1.0]", at_us as f64 * 1e-6);
        let array = Array::raid5(devices, unit)
            .with_failures(&format!("[0, {second}]"), &times_s)
            .with_rebuild_rate(100.0);
        let mut host = Host::new(&array);
        host.run_until(&requests, Time::from_ns(1_000_000_001));
        prop_assert!(host.faults().failed[0].rebuilt_after_s.is_some());
        host.check_all_blocks();
        prop_assert_eq!(host.faults().lost_blocks, 0);
        prop_assert!(host.faults().degraded_reads > 0);
    }

    /// Compared with the places of blocks: requests for blocks of both failed devices that arrive after the second
    /// failure, and writes that complete after it. A read in flight at that time may have read the blocks before.
    #[test]
    fn requests_for_lost_blocks_are_counted(
        requests in requests(), is_mirror: bool, devices in 3_u64..6, unit in 4_u64..40, first in 0_u64..2000,
        later in 0_u64..4000,
    ) {
        let devices = if is_mirror { 2 } else { devices };
        let array = if is_mirror { Array::mirror(devices, unit) } else { Array::raid5(devices, unit) };
        let times_s = format!("[{}, {}]", first as f64 * 1e-6, (first + later) as f64 * 1e-6);
        let mut host = Host::new(&array.with_failures("[1, 0]", &times_s));
        let completions = host.run_requests(&requests);
        let second_failure = Time::from_ns((first + later) * 1000);
        let is_lost = |block: u64| {
            let (stripe, number) = (block / unit / (devices - 1), block / unit % (devices - 1));
            is_mirror || (devices - stripe % devices + number) % devices < 2
        };
        let (mut min_lost, mut max_lost) = (0, 0);
        for completion in &completions {
            let QueuedRequest { op, lbn, blocks, arrival, .. } = completion.request;
            if (lbn..lbn + u64::from(blocks)).any(is_lost) {
                let ends_later = op == Op::Write && completion.completion > second_failure;
                min_lost += u64::from(arrival > second_failure || ends_later);
                max_lost += u64::from(completion.completion >= second_failure);
            }
        }
        let lost_requests = host.faults().lost_requests;
        prop_assert!((min_lost..=max_lost).contains(&lost_requests), "{min_lost} to {max_lost}, not {lost_requests}");
    }

    #[test]
    fn two_failures_lose_only_reported_blocks(
        requests in requests(), is_mirror: bool, devices in 3_u64..6, unit in 4_u64..40, first in 0_u64..2000,
        later in 0_u64..4000, rate in rate(),
    ) {
        let devices = if is_mirror { 2 } else { devices };
        let array = if is_mirror { Array::mirror(devices, unit) } else { Array::raid5(devices, unit) };
        let times_s = format!("[{}, {}]", first as f64 * 1e-6, (first + later) as f64 * 1e-6);
        let mut host = Host::new(&array.with_failures("[1, 0]", &times_s).with_rebuild_rate(rate));
        let completions = host.run_requests(&requests);
        prop_assert_eq!(completions.len(), requests.len());
        let lost_blocks = host.faults().lost_blocks;
        prop_assert_eq!(host.count_lost_blocks(), lost_blocks);
    }
}
