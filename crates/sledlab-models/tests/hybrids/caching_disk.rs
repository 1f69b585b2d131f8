//! The caching disk of Wang 2005, section 4.2, with memories as devices: a front access takes 10 us and a back access
//! 100 us, plus 1 us per block.

use sledlab_core::Op::{self, Read, Write};

use super::access_log::run_hybrid;

/// A caching disk with `slots` slots of 8 blocks and `buffer_places` places in the buffer, without headers and without
/// techniques other than those in `techniques`.
fn hybrid_without_techniques(slots: u32, buffer_places: u32, techniques: &str) -> String {
    let front_mb = f64::from(slots) * 8.0 / 2048.0;
    let text = format!("caching-disk:segment_kb=4:front_mb={front_mb:?}:buffer_kb={}", 4 * buffer_places);
    let disabled = [
        ("shortcut", "false"),
        ("immediate_report", "false"),
        ("partial_write", "false"),
        ("header_blocks", "0"),
    ];
    let disabled = disabled.into_iter().filter(|(key, _)| !techniques.contains(key));
    let disabled = disabled.map(|(key, value)| format!("{key}={value}"));
    let techniques = (!techniques.is_empty()).then(|| techniques.to_owned());
    [text].into_iter().chain(disabled).chain(techniques).collect::<Vec<_>>().join(":")
}

#[test]
fn victim_leaves_before_next_segment_without_techniques() {
    let result = run_hybrid(&hybrid_without_techniques(1, 8, ""), &[(0, Write, 0, 8), (1_000, Read, 10, 2)]);
    let expected = [
        "front write 0+8 0-18",
        "front read 0+8 1000-1018",
        "back write 0+8 1018-1126",
        "back read 8+8 1126-1234",
        "front write 0+8 1234-1252",
        "front read 2+2 1252-1264",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!(result.answers, [18, 1264]);
    assert_eq!(result.slots, ["0 d", "1000 >", "1126 <", "1252 c"]);
}

#[test]
fn a_write_that_covers_its_segment_fetches_nothing() {
    let result = run_hybrid(&hybrid_without_techniques(2, 8, ""), &[(0, Write, 8, 8), (100, Write, 20, 1)]);
    let expected = [
        "front write 0+8 0-18",
        "back read 16+8 100-208",
        "front write 8+8 208-226",
        "front write 12+1 226-237",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!(result.answers, [18, 237]);
}

#[test]
fn shortcut_completes_with_the_disk_read() {
    let requests = [(0, Write, 0, 8), (1_000, Read, 10, 2), (1_001, Write, 8, 1)];
    let result = run_hybrid(&hybrid_without_techniques(1, 8, "shortcut=true"), &requests);
    let expected = [
        "front write 0+8 0-18",
        "front read 0+8 1000-1018",
        "back write 0+8 1018-1126",
        "back read 8+8 1126-1234",
        "front write 0+8 1234-1252",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!(result.answers, [18, 1234, 1234]);
    assert_eq!(
        run_hybrid(&hybrid_without_techniques(1, 1, "shortcut=true"), &requests).answers,
        result.answers,
        "nothing moves at the same time"
    );
}

#[test]
fn early_fetch_needs_only_buffer_space() {
    let requests = [(0, Write, 0, 8), (1_000, Read, 10, 2), (1_001, Write, 8, 1)];
    let run_with = |buffer_places| {
        run_hybrid(&hybrid_without_techniques(1, buffer_places, "shortcut=true:early_fetch=true"), &requests)
    };
    let result = run_with(8);
    let expected = [
        "front write 0+8 0-18",
        "front read 0+8 1000-1018",
        "back read 8+8 1000-1108",
        "back write 0+8 1108-1216",
        "front write 0+8 1216-1234",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!(result.answers, [18, 1108, 1108]);
    assert_eq!(run_with(1).answers, [18, 1234, 1234], "no room for both");
}

#[test]
fn immediate_report_frees_slot_of_buffered_victim() {
    let requests = [(0, Write, 0, 8), (1_000, Write, 8, 8)];
    assert_eq!(run_hybrid(&hybrid_without_techniques(1, 8, ""), &requests).answers, [18, 1144]);
    let result = run_hybrid(&hybrid_without_techniques(1, 8, "immediate_report=true"), &requests);
    let expected = [
        "front write 0+8 0-18",
        "front read 0+8 1000-1018",
        "back write 0+8 1018-1126",
        "front write 0+8 1018-1036",
    ];
    let mut accesses = result.accesses.clone();
    accesses[2..].sort_unstable();
    assert_eq!(accesses, expected);
    assert_eq!(result.answers, [18, 1036]);
}

#[test]
fn immediate_report_falls_back_with_full_buffer() {
    let requests = [(0, Write, 0, 8), (0, Write, 8, 8), (1_000, Write, 16, 8), (1_000, Write, 24, 8)];
    let answers = |buffer_places, techniques: &str| {
        run_hybrid(
            &hybrid_without_techniques(2, buffer_places, &format!("immediate_report=true{techniques}")),
            &requests,
        )
        .answers
    };
    // The second victim waits for the buffer until 1126, has been read at 1144 and is on the disk at 1252.
    assert_eq!(answers(1, ":destage=in-order"), [18, 36, 1036, 1270]);
    // With `destage=behind-reads`, the default, no request waits until the second victim is on the disk.
    assert_eq!(answers(1, ""), [18, 36, 1036, 1162]);
    for techniques in ["", ":destage=in-order"] {
        assert_eq!(answers(2, techniques), [18, 36, 1054, 1072]);
    }
}

/// Writes of single blocks, each of which misses and has a dirty victim, with time between them for all accesses to
/// end.
#[test]
fn immediate_report_saves_one_destage_behind_reads() {
    const DESTAGE: u64 = 100 + 8;
    let requests: Vec<_> =
        (0..40).map(|number| (2_000 * number, Write, 8 * number + number % 8, 1)).collect();
    let run_with = |techniques: &str| run_hybrid(&hybrid_without_techniques(4, 8, techniques), &requests);
    let without_technique = run_with("");
    let behind_reads = run_with("immediate_report=true");
    let in_order = run_with("immediate_report=true:destage=in-order");
    for (number, (answer, earlier_answer)) in
        without_technique.answers.iter().zip(&behind_reads.answers).enumerate()
    {
        let saved_us = if number < 4 { 0 } else { DESTAGE };
        assert_eq!(answer - earlier_answer, saved_us, "write {number}");
    }
    assert_eq!(in_order.answers, without_technique.answers, "the fetch waits for the destage all the same");
    // The traffic is the same: only the time of the destage has changed.
    for counts in [behind_reads.counts, in_order.counts] {
        assert_eq!(
            (counts.front, counts.back),
            (without_technique.counts.front, without_technique.counts.back)
        );
    }
    let fetches = ["back read 32+8 8018-8126", "front write 0+8 8126-8144", "back write 0+8 8126-8234"];
    assert!(
        fetches.iter().all(|access| behind_reads.accesses.contains(&(*access).to_owned())),
        "{:?}",
        behind_reads.accesses
    );
}

#[test]
fn awaited_victim_is_written_first() {
    // A stream keeps the disk busy from 1,000 us until after the last other request.
    let stream = (0..30).map(|number| (1_000 + 100 * number, Read, 1_008 + 16 * number, 16));
    let mut requests = vec![(0, Write, 0, 8), (100, Read, 1_000, 8), (1_050, Write, 80, 8)];
    requests.extend(stream);
    let order = |requests: &[(u64, Op, u64, u32)]| {
        let mut requests = requests.to_vec();
        requests.sort_by_key(|(at, ..)| *at);
        let log = run_hybrid(
            &hybrid_without_techniques(2, 64, "immediate_report=true:partial_write=true:bypass_kb=4"),
            &requests,
        );
        let place = |access: &str| log.accesses.iter().position(|logged| logged.starts_with(access));
        (place("back write 0+8").unwrap(), place("back read 0+8"), place("back read 1472+16").unwrap())
    };
    let (destage, _, last) = order(&requests);
    assert!(destage > last, "behind all reads");
    requests.push((2_010, Read, 3, 1));
    let (destage, fetch, last) = order(&requests);
    assert!(destage < last && fetch.is_some_and(|fetch| destage < fetch), "before what needs it");
}

#[test]
fn victims_are_written_behind_reads_up_to_half_buffer() {
    // The victims at blocks 320, 160, 0, 240, 80 in this order, each evicted while the disk is read without a pause.
    let dirty = [40, 20, 0, 30, 10].map(|segment| (0, Write, 8 * segment, 8));
    let reads: Vec<_> = (0..5).map(|number| (1_000, Read, 1_000 + 8 * number, 1)).collect();
    let order = |buffer_places| {
        let result = run_hybrid(
            &hybrid_without_techniques(5, buffer_places, "immediate_report=true"),
            &[&dirty[..], &reads].concat(),
        );
        let back = result.accesses.iter().filter(|access| access.starts_with("back"));
        let places = back.map(|access| access.split([' ', '+']).take(3).collect::<Vec<_>>()[1..].join(" "));
        places.collect::<Vec<_>>()
    };
    let reads = ["read 1000", "read 1008", "read 1016", "read 1024", "read 1032"];
    let writes = ["write 0", "write 80", "write 160", "write 240", "write 320"];
    assert_eq!(order(16), [&reads[..], &writes].concat());
    // Five victims take more than half of eight places in the buffer; with two places, waiting segments need a victim's
    // place.
    for buffer_places in [8, 2] {
        let result = order(buffer_places);
        let first_write = result.iter().position(|access| access.starts_with("write")).unwrap();
        assert!(first_write < 5, "{buffer_places}: {result:?}");
        assert_eq!(result.len(), 10);
    }
}

#[test]
fn dirty_neighbors_are_destaged_and_stay() {
    // Segments 0 to 5, of which 3 is clean, then a seventh segment, a write to 2, a read of 1, and another segment.
    let mut requests: Vec<_> =
        (0..6).map(|n| (1_000 * n, if n == 3 { Read } else { Write }, 8 * n, 8)).collect();
    requests.extend([
        (10_000, Write, 800, 8),
        (20_000, Write, 16, 1),
        (30_000, Read, 8, 1),
        (40_000, Write, 904, 8),
    ]);
    let run_with = |techniques: &str| run_hybrid(&hybrid_without_techniques(6, 16, techniques), &requests);
    let writes = |techniques: &str| {
        let accesses = run_with(techniques).accesses;
        accesses.into_iter().filter(|access| access.starts_with("back write")).collect::<Vec<_>>()
    };
    assert_eq!(writes(""), ["back write 0+8 10018-10126"]);
    // Segments 1 and 2 are read from their slots, one after the other. The next victim, 3, is clean.
    assert_eq!(writes("destage_kb=16"), ["back write 0+24 10054-10178"]);
    assert_eq!(writes("destage_kb=8"), ["back write 0+16 10036-10152"]);
    assert_eq!(writes("destage_kb=7"), writes(""));
    let counts = run_with("destage_kb=16").counts;
    // A block written again is dirty again. Dirty are: that block, segments 4 and 5, and the last two segments.
    assert_eq!((counts.destaged_blocks, counts.dirty_blocks, counts.superseded_blocks), (24, 33, 0));
    assert_eq!(counts.read_hits, 1, "what was destaged along is still there");
}

#[test]
fn partial_write_fetches_only_for_a_later_read() {
    let requests = [(0, Write, 2, 2), (1_000, Read, 3, 2), (2_000, Read, 8, 1)];
    assert_eq!(run_hybrid(&hybrid_without_techniques(1, 8, ""), &requests[..1]).answers, [138]);
    let result = run_hybrid(&hybrid_without_techniques(1, 8, "partial_write=true"), &requests);
    let expected = [
        "front write 2+2 0-12",
        "back read 0+8 1000-1108",
        "front write 0+2 1108-1120",
        "front write 4+4 1120-1134",
        "front read 3+2 1134-1146",
        // Only the dirty blocks are destaged.
        "front read 2+2 2000-2012",
        "back write 2+2 2012-2114",
        "back read 8+8 2114-2222",
        "front write 0+8 2222-2240",
        "front read 0+1 2240-2251",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!(result.answers, [12, 1146, 2251]);
}

#[test]
fn destage_includes_valid_blocks_between_dirty_ones() {
    let dirty = [(0, Write, 0, 1), (100, Write, 4, 2), (2_000, Write, 8, 8)];
    let run_with =
        |requests: &[_]| run_hybrid(&hybrid_without_techniques(1, 8, "partial_write=true"), requests);
    let result = run_with(&dirty);
    assert!(result.accesses.contains(&"back write 0+1 2023-2124".to_owned()), "{:?}", result.accesses);
    assert!(result.accesses.contains(&"back write 4+2 2124-2226".to_owned()), "{:?}", result.accesses);
    let result = run_with(&[dirty[0], dirty[1], (200, Read, 0, 8), dirty[2]]);
    assert!(result.accesses.contains(&"back write 0+6 2016-2122".to_owned()), "{:?}", result.accesses);
    assert_eq!((result.counts.destaged_blocks, result.counts.dirty_blocks), (3, 8));
}

#[test]
fn header_is_one_block_written_with_its_segment() {
    let result = run_hybrid(
        &hybrid_without_techniques(2, 8, "header_blocks=1:partial_write=true"),
        &[(0, Write, 2, 2)],
    );
    assert_eq!(result.accesses, ["front write 3+2 0-12", "front write 0+1 12-23"]);
    assert_eq!(result.answers, [12], "no request waits for a header");
    let result = run_hybrid(
        &hybrid_without_techniques(2, 8, "header_blocks=1"),
        &[(0, Read, 2, 2), (1_000, Read, 6, 1)],
    );
    let expected = [
        "back read 0+8 0-108",
        "front write 0+9 108-127",
        "front read 3+2 127-139",
        "front read 7+1 1000-1011",
    ];
    assert_eq!(result.accesses, expected);
    assert_eq!((result.counts.reads, result.counts.read_hits), (2, 1));
}

#[test]
fn streams_bypass_the_front_device() {
    let reads = [
        (0, Read, 0, 4),
        (1_000, Read, 4, 4),
        (2_000, Read, 8, 4),
        (3_000, Read, 12, 12),
        (4_000, Read, 4, 1),
    ];
    let result = run_hybrid(&hybrid_without_techniques(4, 8, "bypass_kb=4"), &reads);
    assert_eq!(
        result.accesses[4..],
        ["back read 8+4 2000-2104", "back read 12+12 3000-3112", "front read 4+1 4000-4011"]
    );
    // The last stream read touches two segments.
    assert_eq!((result.counts.bypassed, result.counts.reads), (2, 3 + 1 + 2));
    assert_eq!(run_hybrid(&hybrid_without_techniques(4, 8, ""), &reads).counts.bypassed, 0);
    // Segments on the front device, whose blocks may be newer, are read from there.
    let result = run_hybrid(
        &hybrid_without_techniques(4, 8, "bypass_kb=4"),
        &[(0, Write, 8, 8), reads[1], (1_500, Read, 8, 4), (2_500, Read, 12, 4)],
    );
    assert_eq!(result.counts.bypassed, 0);
}

#[test]
fn groups_fetch_only_missing_segments() {
    let reads = [(0, Read, 24, 1), (1_000, Read, 17, 1), (2_000, Read, 9, 1), (3_000, Read, 7, 1)];
    let result = run_hybrid(
        &hybrid_without_techniques(16, 16, "fetch_kb=16:shortcut=true"),
        &[(0, Write, 0, 8), reads[0], reads[1], reads[2]],
    );
    let fetches: Vec<_> = result.accesses.iter().filter(|access| access.starts_with("back")).collect();
    assert_eq!(fetches, ["back read 8+24 0-124"]);
    assert_eq!(result.answers[1..], [124, 1011, 2011]);
    assert_eq!(run_hybrid(&hybrid_without_techniques(16, 16, "shortcut=true"), &reads).counts.back.reads, 4);
}

/// Segments of 8 blocks, fetched in two pieces of 4 blocks: from the back device each takes 104 us, to the front device
/// 14 us.
#[test]
fn pieces_are_copied_during_the_fetch() {
    let requests = [(0, Read, 10, 2), (1, Write, 8, 1)];
    let run_with =
        |techniques: &str, requests: &[_]| run_hybrid(&hybrid_without_techniques(1, 8, techniques), requests);
    let expected = [
        "back read 8+4 0-104",
        "back read 12+4 104-208",
        // The first piece is copied while the second is read.
        "front write 0+4 104-118",
        "front write 4+4 208-222",
        "front read 2+2 222-234",
    ];
    let result = run_with("copy_kb=2", &requests[..1]);
    let mut accesses = result.accesses.clone();
    accesses[1..3].sort_unstable();
    assert_eq!(accesses, expected);
    assert_eq!(result.answers, [234]);
    assert_eq!(result.slots, ["0 <", "222 c"]);
    // With Shortcut the read is complete when the segment is in the buffer. The write waits for the copy of its block.
    assert_eq!(run_with("copy_kb=2:shortcut=true", &requests).answers, [208, 233]);
    assert_eq!(run_with("shortcut=true", &requests).answers, [108, 108]);
    assert_eq!(run_with("copy_kb=4", &requests).accesses, run_with("", &requests).accesses, "one piece");
}

#[test]
fn a_slot_freed_during_the_fetch_gets_all_pieces() {
    let requests = [(0, Write, 0, 8), (1_000, Read, 10, 2)];
    let techniques = "copy_kb=1:shortcut=true:early_fetch=true:immediate_report=true";
    let result = run_hybrid(&hybrid_without_techniques(1, 8, techniques), &requests);
    // Four pieces of 2 blocks, each read in 102 us; the victim has left its slot at 1018.
    let copies: Vec<_> = result.accesses.iter().filter(|access| access.starts_with("front write")).collect();
    let expected = ["0+8 0-18", "0+2 1102-1114", "2+2 1204-1216", "4+2 1306-1318", "6+2 1408-1420"];
    assert_eq!(copies, expected.map(|access| format!("front write {access}")).iter().collect::<Vec<_>>());
    assert_eq!(result.answers, [18, 1408]);
}
