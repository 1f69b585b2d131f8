mod locality;
mod published_statistics;

use std::collections::HashSet;

use super::*;
use proptest::prelude::*;
use sledlab_core::Time;

fn request(arrival_ms: u64, op: Op, lbn: u64, blocks: u32) -> Request {
    Request { arrival: Time::from_ns(arrival_ms * 1_000_000), lbn, blocks, op, ..Request::default() }
}

fn report(requests: &[Request]) -> Report {
    let mut characterization = Characterization::default();
    for request in requests {
        characterization.record(request);
    }
    characterization.finish()
}

/// Returns the paths of all values of a report that are null, in alphabetical order.
fn null_names(report: &Report) -> Vec<String> {
    fn collect(path: &str, value: &serde_json::Value, names: &mut Vec<String>) {
        match value {
            serde_json::Value::Null => names.push(path.to_owned()),
            serde_json::Value::Object(fields) => {
                fields.iter().for_each(|(name, field)| collect(&format!("{path}.{name}"), field, names));
            }
            _ => {}
        }
    }
    let mut names = Vec::new();
    collect("", &serde_json::to_value(report).unwrap(), &mut names);
    names.sort();
    names
}

/// The statistics of sizes other than the number of requests.
const SIZES: [&str; 8] =
    ["below_8kb_share", "max_kb", "mean_kb", "min_kb", "p50_kb", "p90_kb", "p99_kb", "scv"];

/// The names of the statistics of sizes of one kind of request.
fn size_names(kind: &str) -> impl Iterator<Item = String> {
    SIZES.iter().map(move |name| format!(".sizes.{kind}.{name}"))
}

/// The names of the shares of reuse distances of one kind of request.
fn distance_names(kind: &str) -> impl Iterator<Item = String> {
    ["farther", "first"].into_iter().map(move |name| format!(".reuse_distances.{kind}.{name}_share"))
}

#[test]
fn statistics_without_requests_are_null() {
    let report = report(&[request(0, Op::Flush, 0, 0), request(9, Op::Trim, 0, 8)]);
    assert_eq!((report.requests, report.rate_per_s, report.read_share), (2, Some(0.0), None));
    assert!(report.dispersion.iter().all(|window| window.index.is_none()));
    assert!(report.cache_hits.iter().all(|cache| cache.hit_ratio.is_none()));
    let mut expected: Vec<String> = ["all", "read", "write"].into_iter().flat_map(size_names).collect();
    expected.extend(["read", "write"].into_iter().flat_map(distance_names));
    expected.extend(
        [
            ".aligned_4k_share",
            ".arrival_gaps.longest_s",
            ".highest_start_block",
            ".hot_50_write_share",
            ".metadata_share",
            ".overwrite_ratio",
            ".read_share",
            ".unlimited_hit_ratio",
            ".written_reuse.read_share",
        ]
        .map(String::from),
    );
    expected.extend(
        ["mean", "scv", "p50", "p90", "p95", "p99", "p999", "max"]
            .map(|name| format!(".interarrival_ms.{name}")),
    );
    expected.extend(
        ["one_stream", "streams_32", "with_16kb_gap", "local", "mergeable_read_pairs"]
            .map(|name| format!(".sequentiality.{name}_share")),
    );
    expected.sort();
    assert_eq!(null_names(&report), expected);
}

#[test]
fn statistics_of_absent_kind_are_null() {
    let reads = report(&[request(0, Op::Read, 8, 8), request(9, Op::Read, 8, 8)]);
    let mut expected = vec![".hot_50_write_share".to_owned(), ".overwrite_ratio".to_owned()];
    expected.extend(distance_names("write"));
    expected.extend(size_names("write"));
    assert_eq!(null_names(&reads), expected);
    assert_eq!(
        (reads.read_share, reads.sizes.read.mean_kb, reads.sizes.read.scv),
        (Some(1.0), Some(4.0), Some(0.0))
    );
    let writes = report(&[request(0, Op::Write, 8, 8), request(9, Op::Write, 8, 8)]);
    let mut expected: Vec<String> = distance_names("read").chain(size_names("read")).collect();
    expected.push(".written_reuse.read_share".to_owned());
    assert_eq!(null_names(&writes), expected);
    assert_eq!(
        (writes.read_share, writes.overwrite_ratio, writes.hot_50_write_share),
        (Some(0.0), Some(0.5), Some(1.0))
    );
}

#[test]
fn gaps_need_two_requests() {
    let single = report(&[request(5, Op::Read, 8, 8)]);
    assert_eq!((single.requests, single.rate_per_s, single.end_block), (1, None, 16));
    assert_eq!(single.requests_per_sixth.iter().sum::<u64>(), 1);
    assert_eq!(single.interarrival_ms, Interarrivals::default());
    let simultaneous = report(&[request(5, Op::Read, 8, 8), request(5, Op::Read, 8, 8)]).interarrival_ms;
    assert_eq!((simultaneous.mean, simultaneous.max, simultaneous.scv), (Some(0.0), Some(0.0), None));
}

#[test]
fn metadata_is_counted_among_reads_and_writes() {
    let metadata = |op| Request { metadata: true, ..request(0, op, 0, 1) };
    let requests = [metadata(Op::Read), request(1, Op::Write, 0, 1), request(1, Op::Read, 0, 1)];
    assert!((report(&requests).metadata_share.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert!((report(&[metadata(Op::Write), metadata(Op::Trim)]).metadata_share.unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn flushes_and_trims_affect_only_their_counts() {
    let requests = [
        request(0, Op::Read, 0, 8),
        request(500, Op::Trim, 1 << 30, 4096),
        request(1000, Op::Read, 8, 8),
        request(1500, Op::Flush, 0, 0),
        request(2000, Op::Write, 3, 1),
    ];
    let report = report(&requests);
    assert_eq!((report.requests, report.reads, report.writes, report.trims, report.flushes), (5, 2, 1, 1, 1));
    assert_eq!((report.end_block, report.highest_start_block.unwrap()), (16, 8));
    assert_eq!(report.rate_per_s, Some(1.5));
    assert!((report.sequentiality.mergeable_read_pairs_share.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(report.working_set.all_4k_bytes, 8192);
    assert_eq!(report.working_set.written_512_bytes, 512);
    assert_eq!(report.requests_per_sixth, [1, 0, 0, 1, 0, 1]);
}

#[test]
fn shares_below_8_kb_are_per_operation() {
    let sizes = report(&[
        request(0, Op::Read, 0, 16),
        request(1, Op::Read, 0, 17),
        request(2, Op::Write, 0, 15),
        request(3, Op::Write, 0, 16),
    ])
    .sizes;
    let shares = [sizes.all, sizes.read, sizes.write].map(|summary| summary.below_8kb_share.unwrap());
    assert!(shares.iter().zip([0.25, 0.0, 0.5]).all(|(share, expected)| (share - expected).abs() < 1e-12));
}

#[test]
fn devices_are_counted_separately() {
    let write_on = |device, lbn| Request { device, ..request(0, Op::Write, lbn, 8) };
    let report = report(&[write_on(0, 0), write_on(3, 0), write_on(3, 8), write_on(0, 8)]);
    let counts: Vec<_> = report.devices.iter().map(|count| (count.device, count.requests)).collect();
    assert_eq!(counts, [(0, 2), (3, 2)]);
    assert!((report.sequentiality.one_stream_share.unwrap() - 0.5).abs() < 1e-12);
    assert_eq!(report.working_set.written_4k_bytes, 4 * 4096);
    assert!(report.overwrite_ratio.unwrap().abs() < 1e-12);
}

#[test]
fn requests_of_two_terabytes_are_counted() {
    let report = report(&[
        request(0, Op::Read, 0, u32::MAX),
        request(1, Op::Read, 5, u32::MAX),
        request(2, Op::Write, 1 << 32, u32::MAX),
        request(3, Op::Write, 1 << 32, u32::MAX),
        request(4, Op::Write, 1 << 32, 8),
    ]);
    let (max_blocks, block) = (u64::from(u32::MAX), BLOCK_BYTES);
    let working_set = report.working_set;
    assert_eq!(
        (working_set.read_512_bytes, working_set.written_512_bytes),
        ((max_blocks + 5) * block, max_blocks * block)
    );
    assert_eq!(working_set.all_512_bytes, ((1 << 32) + max_blocks) * block);
    assert!((report.overwrite_ratio.unwrap() - 0.5).abs() < 1e-8);
    assert!(report.cache_hits.iter().all(|cache| cache.hit_ratio.unwrap() < 1e-4));
}

#[test]
fn poisson_arrivals_have_poisson_statistics() {
    let params = toml::from_str("requests = 200000\nmean_interarrival_ms = 10.0").unwrap();
    let mut source = crate::synthetic::build("uniform", &params, 1, 6_750_000).unwrap();
    let report = characterize(source.as_mut(), &CharacterOptions::default()).unwrap();
    assert!((report.interarrival_ms.scv.unwrap() - 1.0).abs() < 0.02);
    assert!((report.interarrival_ms.p50.unwrap() / (10.0 * 2.0_f64.ln()) - 1.0).abs() < 0.02);
    for window in &report.dispersion[..2] {
        let index = window.index.unwrap();
        assert!((index - 1.0).abs() < 0.2, "{window:?}");
    }
}

#[test]
fn invalid_cache_sizes_are_rejected() {
    let characterization_with = |cache_block_bytes, cache_sizes_mb: &[u64]| {
        Characterization::new(&CharacterOptions {
            cache_block_bytes,
            cache_sizes_mb: cache_sizes_mb.to_vec(),
            cylinder_map: None,
        })
    };
    assert!(characterization_with(4096, &[]).is_ok());
    for (unit, sizes) in
        [(0, &[1][..]), (1000, &[1]), (4096, &[0]), (4096, &[2, 2]), (4096, &[2, 1]), (4096, &[1 << 40])]
    {
        assert!(characterization_with(unit, sizes).unwrap_err().remedy().is_some(), "{unit} {sizes:?}");
    }
}

proptest! {
    #[test]
    fn working_set_equals_set_of_blocks(
        requests in prop::collection::vec((any::<bool>(), 0_u64..5000, 1_u32..1500), 1..40),
    ) {
        let requests: Vec<Request> = requests
            .into_iter()
            .map(|(read, lbn, blocks)| request(0, if read { Op::Read } else { Op::Write }, lbn, blocks))
            .collect();
        let blocks_of = |is_counted: &dyn Fn(Op) -> bool, unit: u64| {
            let units: HashSet<u64> = requests
                .iter()
                .filter(|r| is_counted(r.op))
                .flat_map(|r| r.lbn / unit..=(r.end() - 1) / unit)
                .collect();
            units.len() as u64 * unit * BLOCK_BYTES
        };
        let working_set = report(&requests).working_set;
        for (unit, bytes) in [
            (1, [working_set.read_512_bytes, working_set.written_512_bytes, working_set.all_512_bytes]),
            (8, [working_set.read_4k_bytes, working_set.written_4k_bytes, working_set.all_4k_bytes]),
        ] {
            prop_assert_eq!(bytes[0], blocks_of(&|op| op == Op::Read, unit));
            prop_assert_eq!(bytes[1], blocks_of(&|op| op == Op::Write, unit));
            prop_assert_eq!(bytes[2], blocks_of(&|_| true, unit));
        }
    }

    #[test]
    fn long_requests_have_the_footprint_of_their_blocks(
        requests in prop::collection::vec(
            (any::<bool>(), 0_u64..150_000, prop_oneof![1_u32..2_000, 30_000_u32..90_000]),
            1..16,
        ),
    ) {
        let op = |is_read: bool| if is_read { Op::Read } else { Op::Write };
        let requests: Vec<Request> =
            requests.into_iter().map(|(is_read, lbn, blocks)| request(0, op(is_read), lbn, blocks)).collect();
        let report = report(&requests);
        let (mut units_written, mut units_overwritten) = (0_u64, 0_u64);
        let mut touched_units = [1, 8].map(|unit| [(), ()].map(|()| vec![false; 300_000 / unit]));
        for request in &requests {
            for (flags_by_op, unit) in touched_units.iter_mut().zip([1, 8]) {
                let range = (request.lbn / unit) as usize..=((request.end() - 1) / unit) as usize;
                let flags = &mut flags_by_op[usize::from(request.op == Op::Write)][range];
                if unit == 8 && request.op == Op::Write {
                    units_written += flags.len() as u64;
                    units_overwritten += flags.iter().filter(|flag| **flag).count() as u64;
                }
                flags.fill(true);
            }
        }
        let expected = touched_units.map(|[read, written]| {
            let count = |is_counted: &dyn Fn(bool, bool) -> bool| {
                read.iter().zip(&written).filter(|(read, written)| is_counted(**read, **written)).count() as u64
            };
            [count(&|read, _| read), count(&|_, written| written), count(&|read, written| read || written)]
        });
        let working_set = report.working_set;
        let touched_counts = [
            [working_set.read_512_bytes, working_set.written_512_bytes, working_set.all_512_bytes]
                .map(|bytes| bytes / 512),
            [working_set.read_4k_bytes, working_set.written_4k_bytes, working_set.all_4k_bytes]
                .map(|bytes| bytes / 4096),
        ];
        prop_assert_eq!(touched_counts, expected);
        prop_assert_eq!(report.overwrite_ratio, ratio(units_overwritten, units_written));
    }

    #[test]
    fn requests_per_sixth_sum_to_total(gaps_us in prop::collection::vec(0_u64..10_000_000, 1..200)) {
        let mut now = Time::ZERO;
        let requests: Vec<Request> = gaps_us
            .iter()
            .map(|gap| {
                now += sledlab_core::Span::from_ns(gap * 1000);
                Request { arrival: now, ..request(0, Op::Read, 0, 1) }
            })
            .collect();
        let report = report(&requests);
        prop_assert_eq!(report.requests_per_sixth.iter().sum::<u64>(), requests.len() as u64);
    }
}
