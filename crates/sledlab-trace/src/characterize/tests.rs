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

#[test]
fn empty_trace_gives_zeros_without_nan() {
    let report = report(&[]);
    assert_eq!((report.requests, report.rate_per_s, report.read_share), (0, None, 0.0));
    assert!(report.dispersion.iter().all(|window| window.index.is_none()));
    let one = super::tests::report(&[request(5, Op::Read, 8, 8)]);
    assert_eq!((one.requests, one.rate_per_s, one.end_block), (1, None, 16));
    assert_eq!(one.requests_per_sixth.iter().sum::<u64>(), 1);
}

#[test]
fn metadata_is_counted_among_reads_and_writes() {
    let metadata = |op| Request { metadata: true, ..request(0, op, 0, 1) };
    let requests = [metadata(Op::Read), request(1, Op::Write, 0, 1), request(1, Op::Read, 0, 1)];
    assert!((report(&requests).metadata_share - 1.0 / 3.0).abs() < 1e-12);
    assert!((report(&[metadata(Op::Write), metadata(Op::Trim)]).metadata_share - 1.0).abs() < 1e-12);
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
    assert_eq!((report.end_block, report.highest_start_block), (16, 8));
    assert_eq!(report.rate_per_s, Some(1.5));
    assert!((report.sequentiality.mergeable_read_pairs_share - 1.0 / 3.0).abs() < 1e-12);
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
    let shares = [sizes.all, sizes.read, sizes.write].map(|of| of.below_8kb_share);
    assert!(shares.iter().zip([0.25, 0.0, 0.5]).all(|(result, expected)| (result - expected).abs() < 1e-12));
}

#[test]
fn devices_are_counted_separately() {
    let on = |device, lbn| Request { device, ..request(0, Op::Write, lbn, 8) };
    let report = report(&[on(0, 0), on(3, 0), on(3, 8), on(0, 8)]);
    let counts: Vec<_> = report.devices.iter().map(|count| (count.device, count.requests)).collect();
    assert_eq!(counts, [(0, 2), (3, 2)]);
    assert!((report.sequentiality.one_stream_share - 0.5).abs() < 1e-12);
    assert_eq!(report.working_set.written_4k_bytes, 4 * 4096);
    assert!(report.overwrite_ratio.abs() < 1e-12);
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
    let (longest, block) = (u64::from(u32::MAX), BLOCK_BYTES);
    let set = report.working_set;
    assert_eq!((set.read_512_bytes, set.written_512_bytes), ((longest + 5) * block, longest * block));
    assert_eq!(set.all_512_bytes, ((1 << 32) + longest) * block);
    assert!((report.overwrite_ratio - 0.5).abs() < 1e-8);
    assert!(report.cache_hits.iter().all(|cache| cache.hit_ratio < 1e-4));
}

#[test]
fn poisson_arrivals_have_poisson_statistics() {
    let params = toml::from_str("requests = 200000\nmean_interarrival_ms = 10.0").unwrap();
    let mut source = crate::synthetic::build("uniform", &params, 1, 6_750_000).unwrap();
    let report = characterize(source.as_mut(), &CharacterOptions::default()).unwrap();
    assert!((report.interarrival_ms.scv - 1.0).abs() < 0.02);
    assert!((report.interarrival_ms.p50 / (10.0 * 2.0_f64.ln()) - 1.0).abs() < 0.02);
    for window in &report.dispersion[..2] {
        let index = window.index.unwrap();
        assert!((index - 1.0).abs() < 0.2, "{window:?}");
    }
}

#[test]
fn invalid_cache_sizes_are_rejected() {
    let with = |cache_block_bytes, cache_sizes_mb: &[u64]| {
        Characterization::new(&CharacterOptions {
            cache_block_bytes,
            cache_sizes_mb: cache_sizes_mb.to_vec(),
        })
    };
    assert!(with(4096, &[]).is_ok());
    for (unit, sizes) in
        [(0, &[1][..]), (1000, &[1]), (4096, &[0]), (4096, &[2, 2]), (4096, &[2, 1]), (4096, &[1 << 40])]
    {
        assert!(with(unit, sizes).unwrap_err().remedy().is_some(), "{unit} {sizes:?}");
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
            let touched: HashSet<u64> = requests
                .iter()
                .filter(|r| is_counted(r.op))
                .flat_map(|r| r.lbn / unit..=(r.end() - 1) / unit)
                .collect();
            touched.len() as u64 * unit * BLOCK_BYTES
        };
        let set = report(&requests).working_set;
        for (unit, result) in [
            (1, [set.read_512_bytes, set.written_512_bytes, set.all_512_bytes]),
            (8, [set.read_4k_bytes, set.written_4k_bytes, set.all_4k_bytes]),
        ] {
            prop_assert_eq!(result[0], blocks_of(&|op| op == Op::Read, unit));
            prop_assert_eq!(result[1], blocks_of(&|op| op == Op::Write, unit));
            prop_assert_eq!(result[2], blocks_of(&|_| true, unit));
        }
    }

    #[test]
    fn long_requests_have_the_footprint_of_their_blocks(
        requests in prop::collection::vec(
            (any::<bool>(), 0_u64..150_000, prop_oneof![1_u32..2_000, 30_000_u32..90_000]),
            1..16,
        ),
    ) {
        let op = |reads: bool| if reads { Op::Read } else { Op::Write };
        let requests: Vec<Request> =
            requests.into_iter().map(|(reads, lbn, blocks)| request(0, op(reads), lbn, blocks)).collect();
        let report = report(&requests);
        let (mut units_written, mut overwritten) = (0_u64, 0_u64);
        let mut touched = [1, 8].map(|unit| [(), ()].map(|()| vec![false; 300_000 / unit]));
        for request in &requests {
            for (of_size, unit) in touched.iter_mut().zip([1, 8]) {
                let range = (request.lbn / unit) as usize..=((request.end() - 1) / unit) as usize;
                let flags = &mut of_size[usize::from(request.op == Op::Write)][range];
                if unit == 8 && request.op == Op::Write {
                    units_written += flags.len() as u64;
                    overwritten += flags.iter().filter(|flag| **flag).count() as u64;
                }
                flags.fill(true);
            }
        }
        let expected = touched.map(|[read, written]| {
            let count = |keep: &dyn Fn(bool, bool) -> bool| {
                read.iter().zip(&written).filter(|(read, written)| keep(**read, **written)).count() as u64
            };
            [count(&|read, _| read), count(&|_, written| written), count(&|read, written| read || written)]
        });
        let set = report.working_set;
        let result = [
            [set.read_512_bytes, set.written_512_bytes, set.all_512_bytes].map(|bytes| bytes / 512),
            [set.read_4k_bytes, set.written_4k_bytes, set.all_4k_bytes].map(|bytes| bytes / 4096),
        ];
        prop_assert_eq!(result, expected);
        prop_assert!((report.overwrite_ratio - ratio(overwritten, units_written)).abs() < 1e-12);
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
