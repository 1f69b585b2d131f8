//! Half-MEMS RAID 1/0 with memories as devices: a front access takes 10 us and a back access 100 us, plus 1 us per
//! block.

use sledlab_core::Op::{Read, Write};

use super::access_log::run_hybrid;

#[test]
fn short_reads_use_front_others_use_back() {
    let reads =
        [(0, Read, 0, 4), (0, Read, 100, 8), (1_000, Read, 4, 4), (2_000, Read, 8, 1), (3_000, Read, 4, 1)];
    let result = run_hybrid("mirror:sequential_kb=4", &reads);
    let expected = [
        "front read 0+4 0-14",
        "back read 100+8 0-108",
        "front read 4+4 1000-1014",
        "back read 8+1 2000-2101",
        "front read 4+1 3000-3011",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!((result.counts.bypassed, result.counts.read_hits), (2, 3));
}

#[test]
fn line_states_are_dirty_destaging_and_clean() {
    let result = run_hybrid("mirror:buffer_kb=16", &[(0, Write, 0, 8)]);
    assert_eq!(result.slots, ["0 d.", "18 >.", "126 c."]);
}

#[test]
fn write_completes_in_front_and_is_destaged_later() {
    let requests = [(0, Write, 0, 8), (0, Write, 8, 4), (20, Read, 0, 8), (1_000, Read, 0, 8)];
    let result = run_hybrid("mirror:sequential_kb=4", &requests);
    let expected = [
        "front write 0+8 0-18",
        "front write 8+4 18-32",
        // The write has not been destaged to the back device.
        "front read 0+8 32-50",
        "back write 0+12 32-144",
        "back read 0+8 1000-1108",
    ];
    let mut accesses = result.accesses.clone();
    accesses[2..4].sort_unstable_by_key(|access| std::cmp::Reverse(access.clone()));
    assert_eq!(accesses, expected);
    assert_eq!(result.answers, [18, 32, 50, 1108]);
}

#[test]
fn writes_to_same_blocks_are_serialized() {
    let result = run_hybrid("mirror:buffer_kb=8", &[(0, Write, 0, 2), (0, Write, 1, 2), (0, Write, 100, 2)]);
    // The buffer has one line: the third write waits until the others have been destaged.
    let expected = [
        "front write 0+2 0-12",
        "front write 1+2 12-24",
        "back write 0+3 24-127",
        "front write 100+2 127-139",
        "back write 100+2 139-241",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!((result.counts.superseded_blocks, result.counts.destaged_blocks), (1, 5));
    assert_eq!((result.counts.write_hits, result.counts.writes), (1, 3));
}

#[test]
fn write_larger_than_buffer_is_split() {
    let result = run_hybrid("mirror:buffer_kb=32", &[(0, Write, 8, 64)]);
    assert_eq!(result.accesses[0], "front write 8+24 0-34");
    assert_eq!((result.counts.front.written_blocks, result.counts.back.written_blocks), (64, 64));
}
