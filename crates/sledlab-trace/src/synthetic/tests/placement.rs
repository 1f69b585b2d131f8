//! Workloads that place data for a layout: relations, and small data with streams.

use super::*;

/// Groups requests into queries: those of one query arrive at the same time.
fn queries(requests: &[Request]) -> Vec<&[Request]> {
    requests.chunk_by(|a, b| a.arrival == b.arrival).collect()
}

#[test]
fn queries_are_equal_for_every_storage_format() {
    let requests_of =
        |store: &str| make("relation", &format!("requests = 3000\nrelation_mb = 500\nstore = \"{store}\""));
    let (rows, columns, tabular) = (requests_of("rows"), requests_of("columns"), requests_of("tabular"));
    let (attribute_blocks, attribute_share) = (500 * 2048 / 5, G2_BLOCKS / 5);
    let (by_columns, by_table) = (queries(&columns), queries(&tabular));
    for (row, (column, table)) in rows.iter().zip(by_columns.iter().zip(&by_table)).take(500) {
        assert_eq!([row.arrival; 2], [column[0].arrival, table[0].arrival]);
        let is_scan = row.blocks > 1;
        assert_eq!((column.len(), table.len()), if is_scan { (1, 1) } else { (5, 5) });
        assert_eq!(row.blocks, if is_scan { 5 * 540 } else { 1 });
        for (column, table) in column.iter().zip(*table) {
            assert_eq!(column.blocks, if is_scan { 540 } else { 1 });
            assert_eq!(column.lbn % attribute_blocks, row.lbn / 5, "equally far into the relation");
            assert_eq!(
                (table.lbn / attribute_share, table.lbn % attribute_share),
                (column.lbn / attribute_blocks, column.lbn % attribute_blocks)
            );
        }
    }
    assert!([rows, columns, tabular].iter().flatten().all(|r| r.op == Op::Read));
}

#[test]
fn scans_match_share_and_attributes() {
    let params = "requests = 100000\nstore = \"tabular\"\nscan_share = 0.4\nprojected = 3\nscan_blocks = 77";
    let requests = make("relation", params);
    let queries = queries(&requests);
    let (scans, lookups): (Vec<&[Request]>, Vec<_>) = queries.iter().partition(|query| query[0].blocks == 77);
    assert_near("scans", scans.len() as f64 / queries.len() as f64, 0.4, 0.02);
    let attributes = |query: &[Request]| query.iter().map(|r| r.lbn / (G2_BLOCKS / 5)).collect::<Vec<_>>();
    for scan in &scans[..scans.len() - 1] {
        let attributes_read = attributes(scan);
        assert_eq!(attributes_read, [0, 1, 2].map(|i| (attributes_read[0] + i) % 5));
    }
    assert!(lookups[..lookups.len() - 1].iter().all(|query| attributes(query) == [0, 1, 2, 3, 4]));
    let gaps: Vec<u64> = queries.windows(2).map(|q| q[1][0].arrival.since(q[0][0].arrival).as_ns()).collect();
    assert_near("mean gap", moments(gaps.into_iter()).0, 10e6, 0.02);
    let faster = make("relation", "requests = 10000\nmean_interarrival_ms = 1.0");
    assert_near("faster", moments(gaps_ns(&faster)).0, 1e6, 0.05);
    // 100 attributes of a small relation.
    let many_attributes =
        make("relation", "requests = 10000\nattributes = 100\nrelation_mb = 10\nscan_share = 1.0");
    assert!(many_attributes.iter().all(|r| r.blocks == 204 * 100 && r.end() <= 204 * 100));
}

#[test]
fn small_data_precede_streams_in_each_group() {
    for (groups, group_blocks) in [(1, G2_BLOCKS), (50, G2_BLOCKS / 50)] {
        let requests = make("small-and-streams", &format!("requests = 100000\ngroups = {groups}"));
        let small_blocks = group_blocks / 5;
        for request in &requests {
            let offset = request.lbn % group_blocks;
            let allowed = if request.blocks == 8 { 0..small_blocks } else { small_blocks..group_blocks };
            assert!(allowed.contains(&offset) && allowed.contains(&(offset + u64::from(request.blocks) - 1)));
        }
        assert_near("streams", share(&requests, |r| r.blocks == 128), 0.2, 0.03);
        assert_near("reads", share(&requests, |r| r.op == Op::Read && r.blocks == 8), 0.8 * 0.8, 0.02);
        let small_lbns: Vec<u64> = requests.iter().filter(|r| r.blocks == 8).map(|r| r.lbn).collect();
        assert_near(
            "mean group",
            moments(small_lbns.iter().map(|lbn| lbn / group_blocks + 1)).0,
            f64::from(groups + 1) / 2.0,
            0.03,
        );
        assert_near(
            "mean place",
            moments(small_lbns.iter().map(|lbn| lbn % group_blocks)).0,
            small_blocks as f64 / 2.0,
            0.03,
        );
    }
}

#[test]
fn streams_have_their_configured_length() {
    let requests = make(
        "small-and-streams",
        "requests = 100000\nstream_share = 0.5\nstream_blocks = 40\nsmall_blocks = 3\nstreams = 1\n\
         small_data_share = 0.1",
    );
    let stream: Vec<&Request> = requests.iter().filter(|r| r.blocks == 40).collect();
    assert!(requests.iter().all(|r| r.blocks == 40 || r.blocks == 3 && r.end() <= G2_BLOCKS / 10));
    let continued = stream.windows(2).filter(|pair| pair[0].end() == pair[1].lbn).count();
    assert_near("onward", continued as f64 / stream.len() as f64, 15.0 / 16.0, 0.01);
    assert!(stream.windows(2).all(|pair| pair[0].end() != pair[1].lbn || pair[0].op == pair[1].op));
    assert_near("gap", moments(gaps_ns(&requests)).0, 2e6, 0.02);
    // Of twenty streams at a time, requests hardly ever follow each other directly, and shorter streams break off more
    // often.
    let continued_share = |params: &str| {
        let requests = make("small-and-streams", &format!("requests = 50000\nstream_share = 1.0\n{params}"));
        requests.windows(2).filter(|pair| pair[0].end() == pair[1].lbn).count() as f64 / 50_000.0
    };
    assert_near("twenty", continued_share("streams = 20"), 15.0 / 16.0 / 20.0, 0.1);
    assert_near("short", continued_share("streams = 1\nstream_requests = 2.0"), 0.5, 0.05);
}
