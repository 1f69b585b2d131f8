//! Reuse distances, and the data that each hour touches, against the simplest computation.

use std::collections::{BTreeSet, HashSet};

use super::*;

/// Distances of the accesses to 4 KiB blocks by kind, reads first: the number of different blocks since the last access
/// to the same block, that block included; `None` for a first access.
fn plain_distances(requests: &[Request]) -> [Vec<Option<usize>>; 2] {
    let mut recent: Vec<u64> = Vec::new();
    let mut distances = [Vec::new(), Vec::new()];
    for request in requests {
        for unit in request.lbn / 8..request.end().div_ceil(8) {
            let index = recent.iter().position(|recent_unit| *recent_unit == unit);
            index.map(|index| recent.remove(index));
            recent.insert(0, unit);
            distances[usize::from(request.op == Op::Write)].push(index.map(|index| index + 1));
        }
    }
    distances
}

fn assert_shares(shares: &DistanceShares, distances: &[Option<usize>]) {
    let share = |is_counted: &dyn Fn(usize) -> bool| {
        let known = distances.iter().flatten();
        ratio(known.filter(|distance| is_counted(**distance)).count() as u64, distances.len() as u64)
    };
    let mut from = 0;
    for bin in &shares.bins {
        let max = (bin.max_kb / 4.0) as usize;
        assert_eq!(bin.share, share(&|distance| from < distance && distance <= max), "up to {max} units");
        from = max;
    }
    assert_eq!(shares.accesses, distances.len() as u64);
    assert_eq!(shares.farther_share, share(&|distance| distance > from));
    let firsts = distances.iter().filter(|distance| distance.is_none()).count();
    assert_eq!(shares.first_share, ratio(firsts as u64, distances.len() as u64));
}

fn report_with(options: &CharacterOptions, requests: &[Request]) -> Report {
    let mut characterization = Characterization::new(options).unwrap();
    characterization.record_all(requests);
    characterization.finish()
}

fn requests_from(parts: Vec<(bool, u64, u32)>, gap_s: u64) -> Vec<Request> {
    let request = |(number, (is_read, lbn, blocks)): (u64, (bool, u64, u32))| Request {
        arrival: Time::from_ns(number * gap_s * 1_000_000_000),
        lbn,
        blocks,
        op: if is_read { Op::Read } else { Op::Write },
        ..Request::default()
    };
    (0..).zip(parts).map(request).collect()
}

proptest! {
    #[test]
    fn reuse_distances_equal_positions_in_a_list(
        parts in prop::collection::vec((any::<bool>(), 0_u64..6_000, 1_u32..1_500), 1..80),
    ) {
        let requests = requests_from(parts, 1);
        // 256 units, fewer than the requests touch.
        let options = CharacterOptions { cache_sizes_mb: vec![1], ..CharacterOptions::default() };
        let distances = report_with(&options, &requests).reuse_distances;
        let [read, write] = plain_distances(&requests);
        prop_assert_eq!(distances.read.bins.len(), 9);
        assert_shares(&distances.read, &read);
        assert_shares(&distances.write, &write);
    }

    #[test]
    fn long_reads_touch_units_first_once(
        parts in prop::collection::vec(
            (any::<bool>(), 0_u64..150_000, prop_oneof![1_u32..2_000, 30_000_u32..90_000]),
            1..16,
        ),
    ) {
        let requests = requests_from(parts, 1);
        let mut touched = HashSet::new();
        let (mut reads, mut first_reads) = (0, 0);
        for request in &requests {
            for unit in request.lbn / 8..request.end().div_ceil(8) {
                let is_first = touched.insert(unit);
                reads += u64::from(request.op == Op::Read);
                first_reads += u64::from(is_first && request.op == Op::Read);
            }
        }
        let read = report(&requests).reuse_distances.read;
        prop_assert_eq!((read.accesses, read.first_share), (reads, ratio(first_reads, reads)));
    }

    #[test]
    fn hours_equal_separate_sets(
        parts in prop::collection::vec((any::<bool>(), 0_u64..6_000, 1_u32..1_500), 1..80),
        gap_s in 1_u64..4_000,
    ) {
        let requests = requests_from(parts, gap_s);
        let cylinder_map = CylinderMap::new(|lbn| (lbn < 5_000).then_some((lbn / 270) as u32));
        let options = CharacterOptions { cylinder_map: Some(cylinder_map), ..CharacterOptions::default() };
        let hours = report_with(&options, &requests).hours;
        let number = |request: &Request| request.arrival.as_ns() / 3_600_000_000_000;
        let numbers: BTreeSet<u64> = requests.iter().map(number).collect();
        prop_assert_eq!(hours.len(), numbers.len());
        for (hour, hour_number) in hours.iter().zip(numbers) {
            let in_hour = || requests.iter().filter(|request| number(request) == hour_number);
            let units: HashSet<u64> = in_hour().flat_map(|r| r.lbn / 8..r.end().div_ceil(8)).collect();
            let cylinders: HashSet<u64> =
                in_hour().filter(|r| r.lbn < 5_000).map(|r| r.lbn / 270).collect();
            let span = in_hour().map(Request::end).max().unwrap() - in_hour().map(|r| r.lbn).min().unwrap();
            prop_assert_eq!(*hour, Hour {
                from_s: hour_number * 3600,
                requests: in_hour().count() as u64,
                working_set_bytes: units.len() as u64 * 4096,
                address_span_bytes: span * BLOCK_BYTES,
                cylinders: Some(cylinders.len() as u64),
            });
        }
    }
}

#[test]
fn hours_without_device_have_no_cylinders() {
    let requests = requests_from(vec![(true, 80, 8), (false, 8, 8), (true, 8, 8)], 3000);
    let report = report(&requests);
    assert_eq!(
        report.hours.iter().map(|hour| (hour.from_s, hour.requests)).collect::<Vec<_>>(),
        [(0, 2), (3600, 1)]
    );
    assert!(report.hours.iter().all(|hour| hour.cylinders.is_none()));
    assert_eq!(report.address_span_bytes, 80 * 512);
}
