//! Tests of which blocks the buffer of a disk holds after reads, read-ahead and writes.

use proptest::prelude::*;
use sledlab_core::{Op, Span, Time};

use super::Disk;
use super::params::{DiskNumbers, DiskParams, ReadAhead};
use crate::device::{Device, QueuedRequest};

/// Time of a sector on the bus, and under the head.
const BUS_SECTOR: Span = Span::from_ns(10_000);
const SECTOR: Span = Span::from_ns(100_000);
const TURN: Span = Span::from_ns(10_000_000);

/// A disk with 100 sectors a track that reads 60 sectors ahead.
fn disk(change: impl FnOnce(&mut DiskNumbers)) -> Disk {
    let mut numbers = DiskNumbers {
        heads: 4,
        rpm: 6000,
        command_overhead_ms: 0.0,
        bus_sector_us: 10.0,
        bus_write_sector_us: 10.0,
        cache_segments: 3,
        segment_sectors: 80,
        read_ahead: ReadAhead::Segment,
        read_ahead_sectors: 60,
        keeps_sector_under_head: true,
        buffers_writes: true,
        ..DiskNumbers::default()
    };
    change(&mut numbers);
    Disk::new(&DiskParams::with_one_zone(1000, 100, (25, 35), numbers)).unwrap()
}

/// Serves a request that comes at `now`; returns its completion.
fn serve(disk: &mut Disk, now: Time, op: Op, lbn: u64, blocks: u32) -> Time {
    let mut served = Vec::new();
    disk.issue(now, &[QueuedRequest { lbn, blocks, op, ..QueuedRequest::default() }], &mut served);
    served[0].completion
}

/// Whether a read that comes at `now` needs only the buffer, which the disk is not changed by.
fn hits(disk: &Disk, now: Time, lbn: u64, blocks: u32) -> bool {
    let request = QueuedRequest { lbn, blocks, op: Op::Read, ..QueuedRequest::default() };
    disk.probe(now, &request).service() == BUS_SECTOR.saturating_mul(blocks.into())
}

proptest! {
    /// At any moment of the read-ahead, also while the arm moves to the next track.
    #[test]
    fn next_read_costs_no_revolution(
        lbn in 0_u64..2000, blocks in 1_u32..40, gap_us in 0_u64..6000, stops_within_sector: bool,
    ) {
        let change = |numbers: &mut DiskNumbers| numbers.stops_within_sector = stops_within_sector;
        let end_of_both = serve(&mut disk(change), Time::ZERO, Op::Read, lbn, 2 * blocks);
        let mut disk = disk(change);
        let now = serve(&mut disk, Time::ZERO, Op::Read, lbn, blocks) + Span::from_ns(gap_us * 1000);
        let end = serve(&mut disk, now, Op::Read, lbn + u64::from(blocks), blocks);
        prop_assert!(end <= end_of_both.max(now + BUS_SECTOR.saturating_mul(blocks.into())) + Span::from_ns(10));
    }
}

#[test]
fn read_waits_a_revolution_for_discarded_sector() {
    let end = |keeps_sector_under_head| {
        let mut disk = disk(|numbers| numbers.keeps_sector_under_head = keeps_sector_under_head);
        let now = serve(&mut disk, Time::ZERO, Op::Read, 0, 8);
        serve(&mut disk, now, Op::Read, 8, 8)
    };
    let kept_end = Time::ZERO + SECTOR.saturating_mul(16) + BUS_SECTOR;
    assert_eq!([true, false].map(end), [kept_end, kept_end + TURN]);
}

/// Blocks 92 to 99 end a track at 10 ms. The next head is on its track at 12 ms, and block 100, 25 sectors further, is
/// under it at 12.5 ms. A read of blocks 100 to 107 at 12.1 ms starts there and completes at 13.31 ms; with an overhead
/// of 0.3 ms, which begins at 12.5 ms, it starts a revolution later.
#[test]
fn read_of_awaited_sector_waits_only_for_overhead() {
    let end = |read_miss_after_read_us| {
        let mut disk = disk(|numbers| {
            (numbers.keeps_sector_under_head, numbers.read_miss_after_read_us) =
                (false, read_miss_after_read_us);
        });
        serve(&mut disk, Time::ZERO, Op::Read, 92, 8);
        serve(&mut disk, Time::from_ns(12_100_000), Op::Read, 100, 8)
    };
    let caught_end = Time::from_ns(13_310_000);
    assert_eq!([0.0, 300.0].map(end), [caught_end, caught_end + TURN]);
}

#[test]
fn interrupting_command_finds_kept_sector_later() {
    let is_kept = |(stops_within_sector, keeps_sector_under_head)| {
        let mut disk = disk(|numbers| {
            (numbers.stops_within_sector, numbers.keeps_sector_under_head) =
                (stops_within_sector, keeps_sector_under_head);
        });
        // Sector 8 is under the head when the second command comes.
        let now = serve(&mut disk, Time::ZERO, Op::Read, 0, 8);
        let now = serve(&mut disk, now, Op::Read, 200_000, 1);
        assert!(hits(&disk, now, 0, 8) && !hits(&disk, now, 9, 1));
        hits(&disk, now, 8, 1)
    };
    let cases = [(false, false), (false, true), (true, false), (true, true)];
    assert_eq!(cases.map(is_kept), [false, true, false, false]);
}

proptest! {
    #[test]
    fn requested_sectors_are_dropped_once_sent(
        lbn in 0_u64..2000, blocks in 1_u32..30, pause_us in 0_u64..40_000, read_ahead_after_hit: bool,
    ) {
        let mut disk = disk(|numbers| {
            (numbers.drops_requested, numbers.read_ahead_after_hit) = (true, read_ahead_after_hit);
        });
        let pause = Span::from_ns(pause_us * 1000);
        let now = serve(&mut disk, Time::ZERO, Op::Read, lbn, blocks) + pause;
        prop_assert!(!hits(&disk, now, lbn, blocks) && !hits(&disk, now, lbn + u64::from(blocks) - 1, 1));
        // The next blocks, which are read ahead, are dropped once a hit has sent them.
        let now = now + TURN;
        let next = lbn + u64::from(blocks);
        prop_assert!(hits(&disk, now, next, blocks));
        let now = serve(&mut disk, now, Op::Read, next, blocks) + pause;
        prop_assert!(!hits(&disk, now, next, blocks));
        prop_assert!(hits(&disk, now, next + u64::from(blocks), 1));
    }
}

#[test]
fn hit_continues_read_ahead_that_holds_it() {
    let mut disk = disk(|numbers| numbers.read_ahead_sectors = 20);
    let now = serve(&mut disk, Time::ZERO, Op::Read, 30, 8) + TURN;
    // Blocks 30 to 57 are buffered. This read-ahead is between blocks 44 and 48 when the hit comes.
    let now = serve(&mut disk, now, Op::Read, 20, 8) + SECTOR.saturating_mul(17);
    let now = serve(&mut disk, now, Op::Read, 40, 4) + TURN;
    assert!(hits(&disk, now, 60, 4));
}

#[test]
fn write_evicts_overwritten_blocks_or_segment() {
    let after_write = |lbn, blocks, writes_empty_segments| {
        let mut disk = disk(|numbers| numbers.writes_empty_segments = writes_empty_segments);
        let now = serve(&mut disk, Time::ZERO, Op::Read, 0, 8) + TURN;
        let now = serve(&mut disk, now, Op::Write, lbn, blocks) + TURN + TURN;
        (0..68).filter(|lbn| !hits(&disk, now, *lbn, 1)).collect::<Vec<_>>()
    };
    for (lbn, blocks) in [(0, 4), (30, 4), (60, 8)] {
        assert_eq!(after_write(lbn, blocks, false), (lbn..lbn + u64::from(blocks)).collect::<Vec<_>>());
        assert_eq!(after_write(lbn, blocks, true).len(), 68);
    }
}

#[test]
fn read_across_overwritten_blocks_reads_them_again() {
    let mut disk = disk(|_| {});
    let now = serve(&mut disk, Time::ZERO, Op::Read, 0, 8) + TURN;
    let now = serve(&mut disk, now, Op::Write, 30, 4) + TURN + TURN;
    assert!(!hits(&disk, now, 28, 8));
    let now = serve(&mut disk, now, Op::Read, 28, 8) + TURN;
    assert!(hits(&disk, now, 20, 76));
}
