//! The write buffer of Wang 2005, section 4.1, with memories as devices: a front access takes 10 us and a back access
//! 100 us, plus 1 us per block.

use sledlab_core::Op::{Read, Write};

use super::access_log::run_hybrid;

/// A write buffer of five logs of 8 blocks, of which a given number are destaged together.
fn hybrid_with_five_logs(logs_at_once: u32, options: &str) -> String {
    format!("write-buffer:log_kb=4:front_mb=0.02:buffer_kb={}{options}", 4 * logs_at_once)
}

#[test]
fn writes_are_appended_in_order_with_headers() {
    let result =
        run_hybrid(&hybrid_with_five_logs(2, ""), &[(0, Write, 100, 2), (1, Write, 7, 3), (2, Write, 50, 7)]);
    // The third record does not fit behind the others.
    assert_eq!(
        result.accesses[..3],
        ["front write 0+3 0-13", "front write 3+4 13-27", "front write 8+8 27-45"]
    );
    assert_eq!(result.answers, [13, 27, 45]);
}

#[test]
fn logs_are_filled_dirty_destaged_and_clean() {
    let result = run_hybrid(&hybrid_with_five_logs(2, ""), &[(0, Write, 0, 7), (100, Write, 100, 2)]);
    assert_eq!(result.slots, ["100 d<...", "20000 ><...", "20124 c<..."]);
}

#[test]
fn reads_return_the_newest_version() {
    let requests = [(0, Write, 0, 2), (1, Write, 2, 2), (2, Write, 1, 1), (1_000, Read, 1, 4)];
    let result = run_hybrid(&hybrid_with_five_logs(2, ""), &requests);
    let expected = [
        "front write 0+3 0-13",
        "front write 3+3 13-26",
        "front write 6+2 26-38",
        "front read 7+1 1000-1011",
        "back read 4+1 1000-1101",
        "front read 4+2 1011-1023",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!(result.answers[3], 1101, "the last part");
    assert_eq!((result.counts.read_hits, result.counts.superseded_blocks), (0, 1));
}

#[test]
fn partly_cached_read_is_one_back_access() {
    let result = run_hybrid(&hybrid_with_five_logs(2, ""), &[(0, Write, 3, 1), (1_000, Read, 0, 8)]);
    assert_eq!(result.accesses[1..], ["front read 1+1 1000-1011", "back read 0+8 1000-1108"]);
}

#[test]
fn neighbors_of_several_logs_are_destaged_together() {
    let result = run_hybrid(
        &hybrid_with_five_logs(2, ""),
        &[(0, Write, 26, 6), (0, Write, 20, 6), (0, Write, 100, 2), (9_000, Read, 500, 1)],
    );
    let expected = [
        "back read 500+1 9000-9101",
        "front read 1+6 29101-29117",
        "front read 9+6 29117-29133",
        "back write 20+12 29133-29245",
    ];
    assert_eq!(result.accesses[3..], expected);
    assert_eq!((result.counts.destaged_blocks, result.counts.dirty_blocks), (12, 2));
}

#[test]
fn rewritten_block_is_destaged_once() {
    let requests = [(0, Write, 20, 2), (0, Write, 20, 2), (0, Write, 100, 6), (50_000, Write, 200, 7)];
    let result = run_hybrid(&hybrid_with_five_logs(2, ""), &requests);
    let expected =
        ["front read 4+2 20000-20012", "back write 20+2 20012-20114", "front write 16+8 50000-50018"];
    assert_eq!(result.accesses[3..6], expected);
    assert_eq!(result.counts.superseded_blocks, 2);
}

#[test]
fn log_without_newest_versions_is_clean() {
    let result =
        run_hybrid(&hybrid_with_five_logs(1, ""), &[(0, Write, 20, 7), (0, Write, 20, 7), (0, Write, 20, 7)]);
    assert_eq!(result.accesses.len(), 3, "{:?}", result.accesses);
    assert_eq!((result.counts.superseded_blocks, result.counts.dirty_blocks), (14, 7));
}

/// Three of five logs are in use at 2018.
#[test]
fn cleaning_runs_between_watermarks() {
    let hybrid = hybrid_with_five_logs(1, ":clean_from=0.6:clean_to=0.4");
    let requests = [(0, Write, 0, 7), (1_000, Write, 100, 7), (1_900, Read, 500, 1), (2_000, Write, 200, 7)];
    let result = run_hybrid(&hybrid, &requests);
    let expected = [
        "front write 16+8 2000-2018",
        "front read 1+7 2018-2035",
        "back write 0+7 2035-2142",
        // The other blocks are destaged when the disk has not been read for 20 ms.
        "front read 9+7 22001-22018",
        "back write 100+7 22018-22125",
    ];
    assert_eq!(result.accesses[3..], expected);
    let result = run_hybrid(&hybrid_with_five_logs(1, ":clean_from=0.6:clean_to=0.3"), &requests);
    assert_eq!(result.accesses[6..], ["front read 9+7 2142-2159", "back write 100+7 2159-2266"]);
}

#[test]
fn a_full_ring_makes_writes_wait() {
    let writes: Vec<_> = (0..6).map(|number| (0, Write, 100 * number, 7)).collect();
    let result = run_hybrid(&hybrid_with_five_logs(1, ":clean_from=1.0:clean_to=1.0"), &writes);
    // The ring is full at 90; the oldest log is in the buffer at 107 and on the disk at 214.
    assert_eq!(result.answers, [18, 36, 54, 72, 90, 232]);
    assert_eq!((result.counts.write_hits, result.longest_queue), (5, 5));
}

#[test]
fn idle_logs_are_cleaned_at_log_switch() {
    let result = run_hybrid(&hybrid_with_five_logs(1, ""), &[(0, Write, 0, 7), (50_000, Write, 100, 7)]);
    assert_eq!(
        result.accesses[1..],
        ["front write 8+8 50000-50018", "front read 1+7 50018-50035", "back write 0+7 50035-50142"]
    );
}

#[test]
fn gathered_writes_are_appended_with_one_access() {
    let writes =
        [(0, Write, 0, 1), (1, Write, 10, 1), (2, Write, 20, 1), (3, Write, 30, 1), (3, Write, 40, 1)];
    let result = run_hybrid(&hybrid_with_five_logs(2, ":gather=true"), &writes);
    assert_eq!(
        result.accesses[..3],
        ["front write 0+2 0-12", "front write 2+6 12-28", "front write 8+2 28-40"]
    );
    assert_eq!(result.answers, [12, 28, 28, 28, 40]);
    assert_eq!(run_hybrid(&hybrid_with_five_logs(2, ""), &writes).answers, [12, 24, 36, 48, 60]);
}

#[test]
fn fifo_cleans_the_oldest_log_first() {
    // Of the first log, blocks 20 to 22 are written first, then 16 and 17; the second log has blocks 26 to 31.
    let writes =
        [(0, Write, 20, 3), (0, Write, 16, 1), (0, Write, 17, 1), (0, Write, 26, 6), (0, Write, 90, 6)];
    let back_accesses = |options: &str| {
        let accesses = run_hybrid(&hybrid_with_five_logs(2, options), &writes).accesses;
        accesses.into_iter().filter(|access| access.starts_with("back")).collect::<Vec<_>>()
    };
    assert_eq!(
        back_accesses(":cleaning=fifo"),
        ["back write 20+3 20017-20120", "back write 16+2 20120-20222", "back write 26+6 20238-20344"]
    );
    assert_eq!(
        back_accesses(""),
        ["back write 16+2 20033-20135", "back write 20+3 20135-20238", "back write 26+6 20238-20344"]
    );
}
