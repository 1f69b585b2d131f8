//! Paper 001, section 4.2, on memories: a front access takes 10 us and a back access 100 us, each 1 us more for a block.

use sledlab_core::Op::{Read, Write};

use crate::watching::run;

/// A caching disk with so many slots of 8 blocks and so many places in the buffer, without headers or any technique but
/// those said.
fn plain(slots: u32, buffered: u32, more: &str) -> String {
    let front_mb = f64::from(slots) * 8.0 / 2048.0;
    let said = format!("caching-disk:segment_kb=4:front_mb={front_mb:?}:buffer_kb={}", 4 * buffered);
    let off = [
        ("shortcut", "false"),
        ("immediate_report", "false"),
        ("partial_write", "false"),
        ("header_blocks", "0"),
    ];
    let off = off.into_iter().filter(|(key, _)| !more.contains(key));
    let off = off.map(|(key, value)| format!("{key}={value}"));
    let more = (!more.is_empty()).then(|| more.to_owned());
    [said].into_iter().chain(off).chain(more).collect::<Vec<_>>().join(":")
}

#[test]
fn without_techniques_the_victim_leaves_before_the_next_is_fetched_filled_in_and_served() {
    let found = run(&plain(1, 8, ""), &[(0, Write, 0, 8), (1_000, Read, 10, 2)]);
    let expected = [
        "front write 0+8 0-18",
        "front read 0+8 1000-1018",
        "back write 0+8 1018-1126",
        "back read 8+8 1126-1234",
        "front write 0+8 1234-1252",
        "front read 2+2 1252-1264",
    ];
    assert_eq!(found.accesses, expected);
    assert_eq!(found.answers, [18, 1264]);
}

#[test]
fn a_write_that_covers_its_segment_fetches_nothing() {
    let found = run(&plain(2, 8, ""), &[(0, Write, 8, 8), (100, Write, 20, 1)]);
    let expected = [
        "front write 0+8 0-18",
        "back read 16+8 100-208",
        "front write 8+8 208-226",
        "front write 12+1 226-237",
    ];
    assert_eq!(found.accesses, expected);
    assert_eq!(found.answers, [18, 237]);
}

#[test]
fn shortcut_answers_at_the_end_of_the_read_of_the_disk() {
    let requests = [(0, Write, 0, 8), (1_000, Read, 10, 2), (1_001, Write, 8, 1)];
    let found = run(&plain(1, 8, "shortcut=true"), &requests);
    // The fetch does not wait for the slot either, as the buffer has room for both.
    let expected = [
        "front write 0+8 0-18",
        "front read 0+8 1000-1018",
        "back read 8+8 1000-1108",
        "back write 0+8 1108-1216",
        "front write 0+8 1216-1234",
    ];
    assert_eq!(found.accesses, expected);
    assert_eq!(found.answers, [18, 1108, 1108]);
    assert_eq!(run(&plain(1, 1, "shortcut=true"), &requests).answers, [18, 1234, 1234], "no room for both");
}

#[test]
fn immediate_report_frees_the_slot_when_the_victim_is_in_the_buffer() {
    let requests = [(0, Write, 0, 8), (1_000, Write, 8, 8)];
    assert_eq!(run(&plain(1, 8, ""), &requests).answers, [18, 1144]);
    let found = run(&plain(1, 8, "immediate_report=true"), &requests);
    let expected = [
        "front write 0+8 0-18",
        "front read 0+8 1000-1018",
        "back write 0+8 1018-1126",
        "front write 0+8 1018-1036",
    ];
    let mut accesses = found.accesses.clone();
    accesses[2..].sort_unstable();
    assert_eq!(accesses, expected);
    assert_eq!(found.answers, [18, 1036]);
}

#[test]
fn immediate_report_falls_back_where_the_buffer_is_full() {
    let requests = [(0, Write, 0, 8), (0, Write, 8, 8), (1_000, Write, 16, 8), (1_000, Write, 24, 8)];
    // The second victim waits for the buffer until 1126, is read by 1144 and on the disk at 1252.
    assert_eq!(run(&plain(2, 1, "immediate_report=true"), &requests).answers, [18, 36, 1036, 1270]);
    assert_eq!(run(&plain(2, 2, "immediate_report=true"), &requests).answers, [18, 36, 1054, 1072]);
}

#[test]
fn partial_write_fetches_only_for_a_later_read() {
    let requests = [(0, Write, 2, 2), (1_000, Read, 3, 2), (2_000, Read, 8, 1)];
    assert_eq!(run(&plain(1, 8, ""), &requests[..1]).answers, [138]);
    let found = run(&plain(1, 8, "partial_write=true"), &requests);
    let expected = [
        "front write 2+2 0-12",
        "back read 0+8 1000-1108",
        "front write 0+2 1108-1120",
        "front write 4+4 1120-1134",
        "front read 3+2 1134-1146",
        // Only what is dirty leaves.
        "front read 2+2 2000-2012",
        "back write 2+2 2012-2114",
        "back read 8+8 2114-2222",
        "front write 0+8 2222-2240",
        "front read 0+1 2240-2251",
    ];
    assert_eq!(found.accesses, expected);
    assert_eq!(found.answers, [12, 1146, 2251]);
}

#[test]
fn dirty_blocks_leave_with_what_lies_between_them_where_that_is_there() {
    let dirty = [(0, Write, 0, 1), (100, Write, 4, 2), (2_000, Write, 8, 8)];
    let leave = |requests: &[_]| run(&plain(1, 8, "partial_write=true"), requests);
    let found = leave(&dirty);
    assert!(found.accesses.contains(&"back write 0+1 2023-2124".to_owned()), "{:?}", found.accesses);
    assert!(found.accesses.contains(&"back write 4+2 2124-2226".to_owned()), "{:?}", found.accesses);
    let found = leave(&[dirty[0], dirty[1], (200, Read, 0, 8), dirty[2]]);
    assert!(found.accesses.contains(&"back write 0+6 2016-2122".to_owned()), "{:?}", found.accesses);
    assert_eq!((found.counts.destaged_blocks, found.counts.dirty_blocks), (3, 8));
}

#[test]
fn a_header_takes_one_block_and_goes_along_with_a_whole_segment() {
    let found = run(&plain(2, 8, "header_blocks=1:partial_write=true"), &[(0, Write, 2, 2)]);
    assert_eq!(found.accesses, ["front write 3+2 0-12", "front write 0+1 12-23"]);
    assert_eq!(found.answers, [12], "nobody waits for a header");
    let found = run(&plain(2, 8, "header_blocks=1"), &[(0, Read, 2, 2), (1_000, Read, 6, 1)]);
    let expected = [
        "back read 0+8 0-108",
        "front write 0+9 108-127",
        "front read 3+2 127-139",
        "front read 7+1 1000-1011",
    ];
    assert_eq!(found.accesses, expected);
    assert_eq!((found.counts.reads, found.counts.read_hits), (2, 1));
}

#[test]
fn streams_go_past() {
    let reads = [
        (0, Read, 0, 4),
        (1_000, Read, 4, 4),
        (2_000, Read, 8, 4),
        (3_000, Read, 12, 12),
        (4_000, Read, 4, 1),
    ];
    let found = run(&plain(4, 8, "bypass_kb=4"), &reads);
    assert_eq!(
        found.accesses[4..],
        ["back read 8+4 2000-2104", "back read 12+12 3000-3112", "front read 4+1 4000-4011"]
    );
    assert_eq!((found.counts.bypassed, found.counts.reads), (2, 3));
    assert_eq!(run(&plain(4, 8, ""), &reads).counts.bypassed, 0);
    // What is in front, or may be newer there, is read there.
    let found = run(
        &plain(4, 8, "bypass_kb=4"),
        &[(0, Write, 8, 8), reads[1], (1_500, Read, 8, 4), (2_500, Read, 12, 4)],
    );
    assert_eq!(found.counts.bypassed, 0);
}

#[test]
fn groups_are_fetched_together_as_far_as_they_are_not_there() {
    let reads = [(0, Read, 24, 1), (1_000, Read, 17, 1), (2_000, Read, 9, 1), (3_000, Read, 7, 1)];
    let found =
        run(&plain(16, 16, "fetch_kb=16:shortcut=true"), &[(0, Write, 0, 8), reads[0], reads[1], reads[2]]);
    let fetches: Vec<_> = found.accesses.iter().filter(|access| access.starts_with("back")).collect();
    assert_eq!(fetches, ["back read 8+24 0-124"]);
    assert_eq!(found.answers[1..], [124, 1011, 2011]);
    assert_eq!(run(&plain(16, 16, "shortcut=true"), &reads).counts.back.reads, 4);
}
