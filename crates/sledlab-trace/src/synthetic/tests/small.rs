//! Small requests: sizes in bytes, places in strides.

use super::*;

/// Requested bytes, in complete words.
fn bytes(request: &Request) -> u64 {
    u64::from(request.blocks) * 512 - u64::from(request.unrequested_words) * 8
}

#[test]
fn small_moments_match_parameters() {
    let requests = make("small", "requests = 500000");
    let (gap, gap_scv) = moments(gaps_ns(&requests));
    assert_near("mean gap", gap, 2e6, 0.01);
    assert_near("SCV of gaps", gap_scv, 1.0, 0.02);
    assert_near("reads", share(&requests, |r| r.op == Op::Read), 0.8, 0.01);
    // Rounded up to words of 8 bytes, an exponential size is geometric.
    let mean_words = 1.0 / (1.0 - (-8.0_f64 / 200.0).exp());
    assert_near("mean size", moments(requests.iter().map(bytes)).0, 8.0 * mean_words, 0.01);
    assert_near("above a block", share(&requests, |r| r.blocks > 1), (-512.0_f64 / 200.0).exp(), 0.03);
    let larger = make("small", "requests = 100000\nmean_bytes = 2000.0");
    assert_near("larger", moments(larger.iter().map(bytes)).0, 2004.0, 0.02);
    let slower = make("small", "requests = 1000\nmean_interarrival_ms = 4.0\nread_share = 0.2");
    assert_near("slower", moments(gaps_ns(&slower)).0, 4e6, 0.1);
    assert_near("fewer reads", share(&slower, |r| r.op == Op::Read), 0.2, 0.2);
}

#[test]
fn uniform_sizes_request_part_of_one_block() {
    let requests = make("small", "requests = 200000\nsizes = \"uniform\"");
    assert!(requests.iter().all(|r| r.blocks == 1));
    // 4 to 8 bytes are a word, 505 to 512 the entire block.
    assert_near("a word", share(&requests, |r| r.unrequested_words == 63), 5.0 / 509.0, 0.1);
    assert_near("all", share(&requests, |r| r.unrequested_words == 0), 8.0 / 509.0, 0.1);
    assert_near("mean", moments(requests.iter().map(bytes)).0, 261.5, 0.01);
}

#[test]
fn strides_cover_the_device_record_by_record() {
    let places = |stride: u64| {
        let params = format!("requests = 1000\nsizes = \"uniform\"\nstride_records = {stride}");
        let requests = try_make("small", &params, 1, 1000).unwrap();
        requests.iter().map(|r| r.lbn).collect::<Vec<_>>()
    };
    let lbns = places(16);
    assert_eq!(lbns[..3], [0, 16, 32]);
    assert_eq!(lbns[62..65], [992, 1, 17]);
    let mut sorted = lbns;
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
    // With a stride beyond the device, each pass is one record.
    assert_eq!(places(5000), sorted);
}
