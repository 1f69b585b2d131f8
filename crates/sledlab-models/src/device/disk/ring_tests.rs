//! Tests of segments as rings whose blocks wait for a slow host or, in writes, for the medium: against closed forms and
//! against a simulation sector by sector.

use proptest::prelude::*;
use sledlab_core::{Op, Span, Time};

use super::Disk;
use super::drive::Drive;
use super::params::{DiskNumbers, DiskParams, ReadAhead};
use crate::device::{Device, QueuedRequest};

const TRACK_SECTORS: u64 = 200;
const RING_SECTORS: u64 = 300;

/// A disk on which a revolution takes 10 ms, a sector 0.05 ms on the medium and `sector_us` on the bus; a segment holds
/// a track and a half.
fn params(sector_us: f64) -> DiskParams {
    let numbers = DiskNumbers {
        heads: 4,
        rpm: 6000,
        command_overhead_ms: 0.0,
        bus_sector_us: sector_us,
        cache_segments: 3,
        segment_sectors: RING_SECTORS,
        read_ahead: ReadAhead::SequentialTrack,
        startup_ms: 0.0,
        off_startup_ms: 0.0,
        ..DiskNumbers::default()
    };
    DiskParams::with_one_zone(1000, TRACK_SECTORS, (25, 35), numbers)
}

/// Serves a read that comes at `now`: its service time and its completion.
fn serve_read(disk: &mut Disk, now: Time, lbn: u64, blocks: u32) -> (Span, Time) {
    serve(disk, now, Op::Read, lbn, blocks)
}

fn serve(disk: &mut Disk, now: Time, op: Op, lbn: u64, blocks: u32) -> (Span, Time) {
    let mut served = Vec::new();
    let request =
        QueuedRequest { arrival: now, queue_time: now, lbn, blocks, op, ..QueuedRequest::default() };
    disk.issue(now, &[request], &mut served);
    (served[0].completion.since(now), served[0].completion)
}

/// Read-ahead continues up to two tracks further, beyond the size of the ring: the drive must not evict blocks that the
/// host is about to request.
#[test]
fn slow_host_waits_only_after_read_ahead_ended() {
    let mut disk = Disk::new(&params(200.0)).unwrap();
    let (_, mut now) = serve_read(&mut disk, Time::ZERO, 0, 8);
    for lbn in (8..40 * TRACK_SECTORS).step_by(8) {
        let (service, end) = serve_read(&mut disk, now, lbn, 8);
        let is_buffered = service == Span::from_ns(8 * 200_000);
        // Read-ahead ends with a track, so only the first request of another track may miss.
        assert!(is_buffered || lbn % TRACK_SECTORS == 0, "block {lbn} took {service:?}");
        now = end;
    }
}

/// Blocks that no command requests in time are evicted for blocks that are read ahead later.
#[test]
fn oldest_blocks_are_evicted_between_commands() {
    let mut disk = Disk::new(&params(50.0)).unwrap();
    let (_, now) = serve_read(&mut disk, Time::ZERO, 0, 8);
    // This read crosses into the second track: from there two tracks are read ahead, a hundred blocks more than the
    // segment holds.
    let (_, now) = serve_read(&mut disk, now, TRACK_SECTORS - 4, 8);
    let later_time = now + Span::from_ms(50.0);
    let (hit_time, now) = serve_read(&mut disk, later_time, 3 * TRACK_SECTORS - 8, 8);
    assert_eq!(hit_time, Span::from_ns(8 * 50_000));
    let (miss_time, _) = serve_read(&mut disk, now, TRACK_SECTORS + 8, 8);
    assert!(miss_time > Span::from_ns(8 * 50_000));
}

/// When the last of `blocks` has crossed the bus, simulated sector by sector: the head reads a sector as soon as the
/// sector one complete ring before has crossed the bus.
fn simulated_completion(params: &DiskParams, lbn: u64, blocks: u64, sector: Span) -> Time {
    let drive = Drive::new(params).unwrap();
    let (mut track, mut ready) = (drive.track, Time::ZERO);
    let mut crossing_ends: Vec<Time> = Vec::new();
    for block in 0..blocks {
        let room_time =
            block.checked_sub(RING_SECTORS).map_or(Time::ZERO, |oldest| crossing_ends[oldest as usize]);
        let pass = drive.pass(ready, track, lbn + block, 1, Op::Read);
        let pass = if pass.start < room_time {
            drive.pass(room_time, pass.track, lbn + block, 1, Op::Read)
        } else {
            pass
        };
        let bus_free = crossing_ends.last().copied().unwrap_or(Time::ZERO);
        crossing_ends.push(bus_free.max(pass.end()) + sector);
        (track, ready) = (pass.track, pass.end());
    }
    crossing_ends.last().copied().unwrap_or(Time::ZERO)
}

/// When the last of `blocks` of a write has crossed the bus and when it is on the medium, simulated sector by sector: a
/// sector crosses the bus as soon as the sector one complete ring before is on the medium.
fn simulated_write(params: &DiskParams, lbn: u64, blocks: u64, sector: Span) -> (Time, Time) {
    let drive = Drive::new(params).unwrap();
    let (mut track, mut crossing_end) = (drive.track, Time::ZERO);
    let mut write_ends: Vec<Time> = Vec::new();
    for block in 0..blocks {
        let room_time =
            block.checked_sub(RING_SECTORS).map_or(Time::ZERO, |oldest| write_ends[oldest as usize]);
        crossing_end = crossing_end.max(room_time) + sector;
        let ready = write_ends.last().copied().unwrap_or(Time::ZERO);
        let pass = drive.pass(ready, track, lbn + block, 1, Op::Write);
        let is_late = pass.start < crossing_end;
        let pass =
            if is_late { drive.pass(crossing_end, pass.track, lbn + block, 1, Op::Write) } else { pass };
        track = pass.track;
        write_ends.push(pass.end());
    }
    (crossing_end, write_ends.last().copied().unwrap_or(Time::ZERO))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A request may be larger than its segment.
    #[test]
    fn large_read_alternates_with_bus(
        lbn in 0_u64..100_000,
        blocks in 1_u32..1500,
        sector_us in prop_oneof![Just(55_u64), 60_u64..300],
    ) {
        let params = params(sector_us as f64);
        let mut disk = Disk::new(&params).unwrap();
        let (_, end) = serve_read(&mut disk, Time::ZERO, lbn, blocks);
        let expected = simulated_completion(&params, lbn, u64::from(blocks), Span::from_ns(sector_us * 1000));
        // The stream rounds times to nanoseconds once a pass, the simulation once a sector.
        let difference = end.max(expected).since(end.min(expected));
        prop_assert!(difference <= Span::from_ns(2000), "{end:?} {expected:?}");
    }

    /// A sector beyond the size of the segment waits for the medium.
    #[test]
    fn large_write_alternates_with_medium(
        lbn in 0_u64..100_000, blocks in 1_u32..1500, sector_ns in 1001_u64..300_000, buffers_writes: bool,
    ) {
        // Sectors that are just in time or just late by rounding are a revolution apart.
        let sector_ns = sector_ns | 1;
        let mut params = params(0.0);
        (params.flat.bus_write_sector_us, params.flat.buffers_writes) = (sector_ns as f64 / 1e3, buffers_writes);
        let (_, end) = serve(&mut Disk::new(&params).unwrap(), Time::ZERO, Op::Write, lbn, blocks);
        let (crossing_end, write_end) = simulated_write(&params, lbn, u64::from(blocks), Span::from_ns(sector_ns));
        let expected = if buffers_writes { crossing_end } else { write_end };
        let difference = end.max(expected).since(end.min(expected));
        prop_assert!(difference <= Span::from_ns(2000), "{end:?} {expected:?}");
    }
}
