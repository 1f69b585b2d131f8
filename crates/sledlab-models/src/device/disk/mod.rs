//! A disk: platters that rotate at a constant speed under an arm with one head for each surface.
//!
//! Zones, skews, spares and slips, a measured seek curve, and a controller with a buffer that reads ahead and may
//! buffer writes. A disk has four power states (Hong 2006, section 3.1): ACTIVE while it seeks,
//! waits for a sector or accesses it, IDLE while it only spins, and, when parked, SLEEP or OFF.

#[cfg(test)]
mod buffer_tests;
mod bus_disk;
#[cfg(test)]
mod bus_disk_tests;
mod controller;
mod drive;
mod geometry;
mod host;
pub mod import;
mod mechanics;
mod overheads;
pub mod params;
mod position_index;
mod positioning_bounds;
mod presets;
#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod ring_tests;
mod seek;
mod spindle;
mod steps;
mod zone_map;
pub mod zones;

use sledlab_core::{Result, Time};

pub use bus_disk::BusDisk;
pub use drive::DiskState;
pub use geometry::Track;
pub use params::DiskParams;

use self::controller::{CommandResult, Controller};
use self::drive::Drive;
use super::disksim::{Importer, file_name};
use super::host::HostParams;
use super::{
    Bus, BusConstructor, BusyPeriod, Device, Mechanics, Model, PositioningParts, QueuedRequest,
    ServedRequest, States, Timing,
};
use crate::power::MechanicalWork;

impl Model for DiskParams {
    const NAME: &'static str = "disk";
    const MEANING: &'static str = "a hard disk with zones, an arm and a buffer";
    const STATES: States = States {
        active: "Seek: the arm moves, settles or waits for its sector. Access: sectors pass under the head. Idle: the \
            platters spin, ready at once.",
        inactive_parameter: Some("idle_state"),
        inactive: &[
            ("sleep", "the platters do not spin; the next request waits for the spin-up."),
            ("off", "the disk draws no power; the next request waits for the spin-up."),
        ],
    };
    const POSITIONING: PositioningParts = PositioningParts {
        meaning: "within positioning: one after another",
        parts: &[("seek", "seek_x"), ("settle", "settle"), ("rotation", "rotation")],
    };
    const PRESETS: &'static [(&'static str, &'static str)] = presets::PRESETS;
    const IMPORTER: Option<Importer> = Some(Importer {
        block: import::BLOCK,
        import: |file, name| {
            let disk = import::import(file, name)?;
            Ok((disk.to_toml(&file_name(file.path())), disk.remarks))
        },
    });
    const ATTACH: Option<fn(&mut Self, &HostParams)> = Some(host::attach);

    const BUS_CONSTRUCTOR: Option<BusConstructor<Self>> =
        Some(|params, bus| Ok(Box::new(BusDisk::new(params, bus)?)));

    fn device(&self) -> Result<Box<dyn Device>> {
        if self.flat.queue_depth > 1 {
            return Ok(Box::new(BusDisk::new(self, &Bus::default())?));
        }
        Ok(Box::new(Disk::new(self)?))
    }

    fn idle_timeout_ms(&self) -> f64 {
        self.flat.idle_timeout_ms
    }
}

/// A disk that serves one command after another and has its bus to itself.
#[derive(Debug)]
pub struct Disk {
    drive: Drive,
    controller: Controller,
}

impl Disk {
    /// A parked disk with its arm over the first track and an empty buffer.
    pub fn new(params: &DiskParams) -> Result<Self> {
        let drive = Drive::new(params)?;
        Ok(Disk { controller: Controller::new(params, drive.overheads())?, drive })
    }
}

impl Device for Disk {
    fn mechanics(&self) -> &dyn Mechanics {
        &self.drive
    }

    fn probe(&self, now: Time, request: &QueuedRequest) -> Timing {
        let (mut drive, mut controller) = (self.drive.clone(), self.controller.clone());
        controller.serve(&mut drive, now, request).timing
    }

    fn set_time(&mut self, now: Time) {
        self.controller.enter_buffered_blocks(&mut self.drive, now);
        self.controller.set_time(&mut self.drive, now);
    }

    fn issue(
        &mut self,
        now: Time,
        batch: &[QueuedRequest],
        served: &mut Vec<ServedRequest>,
    ) -> Option<BusyPeriod> {
        let mut busy = BusyPeriod { until: now, work: MechanicalWork::default() };
        for request in batch {
            let start = busy.until;
            let result = self.controller.serve(&mut self.drive, start, request);
            let CommandResult { completion, timing, .. } = result;
            // Time for the command overhead and the bus counts as seek: the disk draws as much power then.
            let service = completion.since(start);
            let access = timing.transfer.saturating_sub(timing.reposition).min(service);
            let work = MechanicalWork { seek: service - access, access, ..MechanicalWork::default() };
            busy.work += work;
            busy.until = completion;
            let energy = self.drive.power_rates().energy(&work);
            served.push(ServedRequest {
                request: *request,
                start,
                completion,
                write_behind: result.write_behind(request.op),
                timing,
                energy,
                device: Some(0),
            });
        }
        Some(busy)
    }

    fn has_volatile_buffer(&self) -> bool {
        self.controller.buffers_writes()
    }

    fn destage_end(&self) -> Time {
        self.controller.destage_end()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sledlab_core::params::Params;
    use sledlab_core::{Op, Span};

    use super::params::{AppendedWrites, DiskNumbers, IdleState, ReadAhead};
    use super::*;

    /// A disk on which a revolution takes 10 ms and a sector 0.1 ms.
    fn params() -> DiskParams {
        let numbers = DiskNumbers { heads: 4, rpm: 6000, command_overhead_ms: 0.0, ..DiskNumbers::default() };
        DiskParams::with_one_zone(1000, 100, (25, 35), numbers)
    }

    /// Returns the disk with some of its parameters changed.
    fn changed_params(change: impl FnOnce(&mut DiskNumbers)) -> DiskParams {
        let mut params = params();
        change(&mut params.flat);
        params
    }

    fn request(lbn: u64, blocks: u32, op: Op) -> QueuedRequest {
        QueuedRequest { lbn, blocks, op, ..QueuedRequest::default() }
    }

    fn serve(disk: &mut Disk, now: Time, batch: &[QueuedRequest]) -> (Vec<ServedRequest>, BusyPeriod) {
        let mut served = Vec::new();
        let busy = disk.issue(now, batch, &mut served).unwrap();
        (served, busy)
    }

    /// When the last block of `request` has passed under the head, in s, the arm being at `track_and_head`, cylinder
    /// and head, at `now_s`: computed sector by sector from the angle of the platters.
    fn end_s(
        params: &DiskParams,
        mut track_and_head: (u64, u64),
        mut now_s: f64,
        request: &QueuedRequest,
    ) -> f64 {
        let (shape, numbers) = (&params.zones[0].shape, &params.flat);
        let (turn_s, sectors) = (60.0 / numbers.rpm as f64, shape.sectors_per_track);
        let curve = seek::SeekCurve::new(params).unwrap();
        for lbn in request.lbn..request.lbn + u64::from(request.blocks) {
            let track = lbn / sectors;
            let to = (track / numbers.heads, track % numbers.heads);
            if to != track_and_head {
                let seek_ms = curve.time(to.0.abs_diff(track_and_head.0) as u32).as_ms();
                let switch_ms = if to.1 == track_and_head.1 { 0.0 } else { numbers.head_switch_ms };
                let settle_ms = if request.op == Op::Write { numbers.write_settle_ms } else { 0.0 };
                now_s += (seek_ms.max(switch_ms) + settle_ms) / 1e3;
                track_and_head = to;
            }
            let cylinder_skew = shape.cylinder_skew_sectors + (numbers.heads - 1) * shape.track_skew_sectors;
            let slot = to.0 * cylinder_skew + to.1 * shape.track_skew_sectors + lbn % sectors;
            let wait = (slot as f64 / sectors as f64 - now_s / turn_s).rem_euclid(1.0);
            // A sector that seems to have passed less than 10 ns ago is the next one: rounding has blurred the time.
            now_s +=
                (if wait * turn_s > turn_s - 1e-8 { 0.0 } else { wait * turn_s }) + turn_s / sectors as f64;
        }
        now_s
    }

    #[test]
    fn read_timing_has_expected_parts() {
        let mut disk = Disk::new(&changed_params(|disk| disk.command_overhead_ms = 0.4)).unwrap();
        // Cylinder 333 is a third of the stroke away; its skew of (35 + 3 * 25) * 333 = 36630 sectors puts its first
        // sector at 30.
        let (served, busy) = serve(&mut disk, Time::from_ns(1_000_000), &[request(333 * 400, 8, Op::Read)]);
        let us = |span: Span| span.as_ns() / 1000;
        let timing = served[0].timing;
        assert_eq!((us(timing.overhead), us(timing.seek_x), us(timing.settle)), (400, 17_000, 0));
        // The arm is on the track at 18.4 ms, and that sector comes under the head at 23 ms.
        assert_eq!((us(timing.rotation), us(timing.transfer)), (4600, 800));
        assert_eq!(us(timing.positioning()), 21_600);
        assert_eq!(served[0].completion, Time::from_ns(23_800_000));
        assert_eq!((busy.until, busy.work.busy_time()), (served[0].completion, timing.service()));
        assert_eq!((us(busy.work.seek), us(busy.work.access)), (22_000, 800));
        assert!((served[0].energy.total_uj() - 2300.0 * 22.8).abs() < 1e-6);
        let state = DiskState::from(disk.mechanics().state());
        assert_eq!(state.track, Track { cylinder: 333, head: 0 });
    }

    #[test]
    fn sustained_buffered_writes_run_at_media_rate() {
        // 400 writes of half a track each; returns the revolutions until all are complete.
        let turns = |appended_writes| {
            let params = changed_params(|disk| {
                (disk.buffers_writes, disk.cache_segments, disk.segment_sectors) = (true, 1, 100);
                (disk.appended_writes, disk.bus_write_sector_us) = (appended_writes, 10.0);
            });
            let mut disk = Disk::new(&params).unwrap();
            let stream: Vec<_> = (0..400).map(|at| request(at * 50, 50, Op::Write)).collect();
            serve(&mut disk, Time::ZERO, &stream).1.until.as_seconds() * 100.0
        };
        let [no_buffers, joined_buffers, separate_buffers] =
            [AppendedWrites::None, AppendedWrites::Joined, AppendedWrites::Separate].map(turns);
        // 200 revolutions, and skews of 25 and 35 sectors between 200 tracks; completion does not wait for the blocks
        // still buffered at the end.
        assert!((250.0..256.0).contains(&joined_buffers), "{joined_buffers}");
        assert!(separate_buffers > 400.0 && no_buffers > 400.0, "{separate_buffers}, {no_buffers}");
    }

    #[test]
    fn writes_settle_after_any_head_movement() {
        let mut disk = Disk::new(&params()).unwrap();
        let settle =
            |disk: &mut Disk, lbn, op| serve(disk, Time::ZERO, &[request(lbn, 1, op)]).0[0].timing.settle;
        let half_ms = Span::from_ns(500_000);
        let settle_times =
            [(0, Op::Write), (100, Op::Write), (101, Op::Write), (900, Op::Read), (0, Op::Write)]
                .map(|(lbn, op)| settle(&mut disk, lbn, op));
        assert_eq!(settle_times, [Span::ZERO, half_ms, Span::ZERO, Span::ZERO, half_ms]);
    }

    #[test]
    fn long_reads_run_at_media_rate() {
        // Skews hide switches (2 ms of 2.5) and seeks (3 ms of 3.5): every track but the first costs a revolution and
        // its skew.
        let mut disk = Disk::new(&params()).unwrap();
        let (served, _) = serve(&mut disk, Time::ZERO, &[request(0, 4 * 400, Op::Read)]);
        let timing = served[0].timing;
        let (tracks, switches, steps) = (16, 12, 3);
        assert_eq!(
            timing.service(),
            Span::from_ns(tracks * 10_000_000 + switches * 2_500_000 + steps * 3_500_000)
        );
        assert_eq!(timing.reposition, Span::from_ns(switches * 2_500_000 + steps * 3_500_000));
        // Without skews the head misses the first sector of every track.
        let plain = DiskParams::with_one_zone(1000, 100, (0, 0), params().flat);
        let (served, _) = serve(&mut Disk::new(&plain).unwrap(), Time::ZERO, &[request(0, 400, Op::Read)]);
        assert_eq!(served[0].timing.service(), Span::from_ns(7 * 10_000_000));
    }

    #[test]
    fn stream_waits_only_for_command_overheads() {
        // At 4200 rpm neither a rotation nor a sector is an integer number of nanoseconds.
        let fast = DiskParams::with_one_zone(1000, 170, (25, 35), DiskNumbers { rpm: 4200, ..params().flat });
        let stream: Vec<QueuedRequest> = (0..170).map(|lbn| request(lbn, 1, Op::Read)).collect();
        let turns = |params: &DiskParams| {
            let (_, busy) = serve(&mut Disk::new(params).unwrap(), Time::ZERO, &stream);
            busy.until.as_seconds() * 70.0
        };
        assert!((turns(&fast) - 1.0).abs() < 1e-7);
        // Half a millisecond lets 6 of 170 sectors pass, and every request but the first waits for the next revolution.
        let mut slow_params = fast;
        slow_params.flat.command_overhead_ms = 0.5;
        let slow_turns = turns(&slow_params);
        assert!((170.0..171.5).contains(&slow_turns), "{slow_turns}");
    }

    #[test]
    fn probe_equals_issue() {
        let params = changed_params(|disk| {
            (disk.command_overhead_ms, disk.write_through_after_read_us) = (0.4, 700.0);
        });
        let mut disk = Disk::new(&params).unwrap();
        let (now, far) = (Time::from_ns(123_456_789), request(333 * 400 + 150, 500, Op::Write));
        disk.set_time(now);
        let prediction = disk.probe(now, &far);
        let mechanics = disk.mechanics();
        assert_eq!(mechanics.positioning(&far), prediction.positioning());
        let (timing, state) = mechanics.serve_from(mechanics.state(), &far);
        assert_eq!((timing.transfer, timing.reposition), (prediction.transfer, prediction.reposition));
        let (served, busy) = serve(&mut disk, now, &[far]);
        assert_eq!((served[0].timing, busy.until), (prediction, now + prediction.service()));
        let track = Track { cylinder: 334, head: 2 };
        assert_eq!(DiskState::from(state), DiskState::ready(track, busy.until + Span::from_ms(0.4)));
    }

    #[test]
    fn schedulers_know_end_of_buffered_writes() {
        let mut disk = Disk::new(&changed_params(|disk| {
            (disk.buffers_writes, disk.cache_segments, disk.segment_sectors) = (true, 1, 100);
            (disk.read_miss_after_write_us, disk.write_buffered_after_write_us) = (300.0, 100.0);
        }))
        .unwrap();
        let (_, busy) = serve(&mut disk, Time::ZERO, &[request(120_000, 20, Op::Write)]);
        for after_us in [0, 1_000, 60_000] {
            let now = busy.until + Span::from_ns(after_us * 1000);
            disk.set_time(now);
            let next = request(80_000, 8, Op::Read);
            assert_eq!(disk.mechanics().positioning(&next), disk.probe(now, &next).positioning());
        }
    }

    proptest! {
        #[test]
        fn hit_in_other_segment_stops_only_read_ahead(after_us in 0_u64..40_000) {
            let disk = |requests: &[QueuedRequest]| {
                let mut disk = Disk::new(&changed_params(|disk| {
                    (disk.cache_segments, disk.segment_sectors) = (3, 300);
                    (disk.read_ahead, disk.read_ahead_sectors) = (ReadAhead::Segment, 250);
                }))
                .unwrap();
                let (_, busy) =
                    serve(&mut disk, Time::ZERO, &[request(90_000, 8, Op::Read), request(40, 8, Op::Read)]);
                let now = busy.until + Span::from_ns(after_us * 1000);
                serve(&mut disk, now, requests).1.until
            };
            let (hit, miss) = (request(90_000, 8, Op::Read), request(200_000, 8, Op::Read));
            prop_assert_eq!(disk(&[hit, miss]), disk(&[miss]));
        }

        #[test]
        fn read_repositions_between_passes(
            lbn in 0_u64..300_000, blocks in 1_u32..900, now_us in 0_u64..100_000, zero_latency_reads: bool,
        ) {
            let disk = Disk::new(&changed_params(|disk| disk.zero_latency_reads = zero_latency_reads)).unwrap();
            let timing = disk.probe(Time::from_ns(now_us * 1000), &request(lbn, blocks, Op::Read));
            let passing_ms = (timing.transfer - timing.reposition).as_ms();
            prop_assert!((passing_ms - 0.1 * f64::from(blocks)).abs() < 1e-5, "{timing:?}");
        }
    }

    #[test]
    fn parked_disk_sleeps_or_is_off() {
        let rates = |idle_state| {
            let disk = Disk::new(&changed_params(|disk| disk.idle_state = idle_state)).unwrap();
            let rates = disk.mechanics().power_rates();
            (rates.inactive_mw, rates.startup.as_ms(), rates.startup_mw, disk.mechanics().idle_mw())
        };
        assert_eq!(rates(IdleState::Sleep), (100.0, 2500.0, 2500.0, 1000.0));
        assert_eq!(rates(IdleState::Off), (0.0, 4000.0, 2500.0, 1000.0));
    }

    #[test]
    fn inconsistent_numbers_are_rejected() {
        let message = |text: &str| {
            let params = DiskParams::from_table("device", &toml::from_str(text).unwrap());
            params.and_then(|params| Disk::new(&params)).unwrap_err().to_string()
        };
        assert!(message("rpm = 0").contains("device.rpm = 0 rpm is out of range"));
        assert!(
            message("average_seek_ms = 1").contains("is less than device.single_cylinder_seek_ms = 3 ms")
        );
        let zone =
            |fields: &str| message(&format!("zones = [{{ first_cylinder = 0, cylinders = {fields} }}]"));
        assert!(zone("0, sectors_per_track = 9").contains("device.zones[0].cylinders = 0 is out of range"));
        assert!(zone("3, sectors_per_track = 9").contains("3 cylinders are too few for a curve"));
        assert!(
            zone("30, sectors_per_track = 20, track_skew_sectors = 30")
                .contains("device.zones[0].track_skew_sectors = 30 is a full rotation of 20 sectors")
        );
        assert!(zone("30").contains("device.zones[0].sectors_per_track is missing"));
        assert!(
            zone("30, sectors_per_track = 9, spare = 1").contains("did you mean `device.zones[0].spares`?")
        );
        assert!(zone("30, sectors_per_track = 9, slipped = [-1]").contains("expected a whole number"));
        assert!(message("zones = []").contains("the disk has no zones"));
        assert!(message("zone = []").contains("did you mean `device.zones`?"));
        assert!(message("seek_table = [1, 2]").contains("expected a pair of numbers"));
        assert!(message("seek_curve = \"table\"").contains("device.seek_table has 0 points"));
        assert!(message("idle_state = \"on\"").contains("expected one of sleep, off"));
        assert!(message("buffers_writes = true").contains("a disk without a buffer cannot buffer writes"));
        assert!(message("read_ahead = \"track\"\ncache_segments = 3").contains("or read ahead"));
        assert!(message("rpm = 4200.5").contains("device.rpm: expected a whole number"));
    }

    proptest! {
        #[test]
        fn service_agrees_with_direct_angle_computation(
            now in 0_u64..100_000_000_000, from in 0_u64..400_000, lbn in 0_u64..399_000, blocks in 1_u32..900,
            is_write: bool, rpm in 3000_u64..16_000,
        ) {
            let params = changed_params(|disk| disk.rpm = rpm);
            let mut disk = Disk::new(&params).unwrap();
            serve(&mut disk, Time::ZERO, &[request(from, 1, Op::Read)]);
            let request = request(lbn, blocks, if is_write { Op::Write } else { Op::Read });
            let (served, busy) = serve(&mut disk, Time::from_ns(now), &[request]);
            let start_track = (from / 400, from / 100 % 4);
            let expected_s = end_s(&params, start_track, now as f64 / 1e9, &request);
            let difference_s = expected_s - busy.until.as_seconds();
            prop_assert!(difference_s.abs() < 1e-7, "{expected_s} {difference_s}");
            prop_assert_eq!(busy.work.busy_time(), served[0].timing.service());
        }
    }
}
