//! Lower bounds of positioning times, which take a fraction of the time of the exact computation and no branches.
//!
//! Bounds are integers in units of a 2^32nd of a turn. Angles then have 32 bits and wrap around after a turn, so that
//! the wait for a sector is a difference of angles.

use sledlab_core::{Op, Span};

use super::drive::{DiskState, Drive};
use super::geometry::{SectorPlace, Track};

/// A turn in units of bounds.
const TURN: f64 = (1_u64 << 32) as f64;
/// Maximum time of a movement in a table, so that bounds have 48 bits; longer movements count as this long.
const MAX_MOVEMENT: u64 = 1 << 47;
/// A sector that passed less than a nanosecond ago is not missed.
const GRACE_NS: f64 = 2.0;
/// More than the errors of rounding of all angles, in units.
const MAX_ROUNDING: u32 = 6;

/// A sector as far as bounds depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// Number of the movement to the same head of its cylinder, in a table of movements from a known cylinder.
    movement: u32,
    head: u32,
    /// Angle at which the sector begins.
    angle: u32,
    is_write: bool,
}

impl Target {
    /// The sector at `place`, for a request of operation `op`.
    pub fn new(place: &SectorPlace, op: Op) -> Self {
        let (Track { cylinder, head }, is_write) = (place.track, op == Op::Write);
        let angle = ((place.slot << u32::BITS) / place.sectors) as u32;
        Target { movement: 4 * cylinder + 2 * u32::from(is_write), head, angle, is_write }
    }

    /// The cylinder of the sector.
    pub fn cylinder(&self) -> u32 {
        self.movement / 4
    }
}

/// The times of all movements of a drive.
pub(super) struct MovementTable {
    /// By signed distance in cylinders, from the smallest: of reads to the same head and to another one, then of
    /// writes.
    movements: Box<[u64]>,
    /// By distance in cylinders: lower bound of the time of any movement over that distance or more.
    min_movements: Box<[u64]>,
    units_per_ns: f64,
    grace: u32,
}

impl MovementTable {
    /// The movements of a drive.
    pub fn new(drive: &Drive, cylinders: u32) -> Self {
        let units_per_ns = TURN / drive.turn_ns();
        let units = |time: Span| ((time.as_ns() as f64 * units_per_ns) as u64).min(MAX_MOVEMENT);
        let columns = [(0, Op::Read), (1, Op::Read), (0, Op::Write), (1, Op::Write)];
        let row = |cylinder| {
            columns.map(|(head, op)| {
                let (seek, settle) = drive.seek_and_settling(Track::default(), Track { cylinder, head }, op);
                units(seek + settle)
            })
        };
        let rows: Vec<[u64; 4]> = (0..cylinders).map(row).collect();
        MovementTable {
            movements: rows.iter().skip(1).rev().chain(&rows).flatten().copied().collect(),
            min_movements: (0..cylinders).map(|distance| units(drive.min_movement_time(distance))).collect(),
            units_per_ns,
            grace: (GRACE_NS * units_per_ns) as u32 + MAX_ROUNDING,
        }
    }

    /// Lower bounds of the [positioning times](Drive::positioning_time) of the drive of this table from a state.
    pub fn bounds(&self, drive: &Drive, state: DiskState) -> PositioningBounds<'_> {
        PositioningBounds::new(self, state.track, drive.start_angles(state))
    }

    /// Lower bound of the time of any movement over `cylinders` cylinders or more, in units.
    pub fn min_movement(&self, cylinders: u32) -> u64 {
        self.min_movements[cylinders as usize]
    }

    /// The largest bound of all targets with a positioning time of at most `time`.
    pub fn max_bound(&self, time: Span) -> u64 {
        (time.as_ns() as f64 * self.units_per_ns) as u64 + 2 * u64::from(self.grace)
    }
}

/// Lower bounds of the positioning times from one state of a drive, plus a constant of a few nanoseconds.
pub(super) struct PositioningBounds<'a> {
    /// Of the table, by cylinder.
    movements: &'a [u64],
    head: u32,
    /// Angles of the platters when a read and a write can start, less the grace.
    starts: [u32; 2],
    grace: u32,
}

impl<'a> PositioningBounds<'a> {
    /// Bounds for an arm that starts `from` a track, when the platters are at the `angles` for a read and a write.
    fn new(table: &'a MovementTable, from: Track, angles: [u32; 2]) -> Self {
        let first = table.min_movements.len() - 1 - from.cylinder as usize;
        PositioningBounds {
            movements: &table.movements[4 * first..],
            head: from.head,
            starts: angles.map(|angle| angle.wrapping_sub(table.grace)),
            grace: table.grace,
        }
    }

    /// Bound of the positioning time to `target`: at most the [maximum](MovementTable::max_bound) of that time.
    #[inline]
    pub fn bound(&self, target: &Target) -> u64 {
        let (movement, wait) = self.movement_and_wait(target);
        movement + u64::from(wait)
    }

    /// Upper bound of the [maximum](MovementTable::max_bound) of the positioning time to `target`.
    pub fn max_bound(&self, target: &Target) -> u64 {
        let (movement, wait) = self.movement_and_wait(target);
        // A sector that seems to come at once may have been missed by a little.
        if wait < 2 * self.grace || movement == MAX_MOVEMENT {
            return u64::MAX;
        }
        movement + u64::from(wait) + 2 * u64::from(self.grace)
    }

    #[inline]
    fn movement_and_wait(&self, target: &Target) -> (u64, u32) {
        let Target { movement, head, angle, is_write } = *target;
        let movement = self.movements[movement as usize + usize::from(head != self.head)];
        let start = self.starts[usize::from(is_write)];
        (movement, angle.wrapping_sub(start).wrapping_sub(movement as u32))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sledlab_core::Time;

    use super::super::params::{DiskNumbers, DiskParams};
    use super::*;

    proptest! {
        #[test]
        fn bounds_are_just_below_positioning_times(
            rpm in 1_u64..1_000_000, sectors in 1_u64..1000, settle_ms in -2.0..2.0,
            switch_ms in prop_oneof![0.0..3.0, 0.0..1e4],
            cylinder in 0_u32..100, head in 0_u32..4, lbn: u64, reads_from in 0_u64..1 << 50, delay in 0_u64..1 << 30,
            is_write: bool,
        ) {
            let numbers = DiskNumbers {
                heads: 4, rpm, head_switch_ms: switch_ms, write_settle_ms: settle_ms, ..DiskNumbers::default()
            };
            let drive = Drive::new(&DiskParams::with_one_zone(100, sectors, (0, 0), numbers)).unwrap();
            let (earliest_read, earliest_write) = (Time::from_ns(reads_from), Time::from_ns(reads_from + delay));
            let state = DiskState { track: Track { cylinder, head }, earliest_read, earliest_write };
            let (place, op) = (drive.place(lbn % drive.blocks()), if is_write { Op::Write } else { Op::Read });
            let table = MovementTable::new(&drive, 100);
            let (bounds, target) = (table.bounds(&drive, state), Target::new(&place, op));
            let upper = table.max_bound(drive.positioning_time(state, &place, op));
            let (bound, grace) = (bounds.bound(&target), u64::from(table.grace));
            prop_assert!(bound <= upper, "{bound} {upper}");
            // A sector that has almost been missed has a bound of a turn less.
            let error = upper - bound;
            let is_close = error <= 2 * grace + 1 || error >= TURN as u64 || bound >= MAX_MOVEMENT;
            prop_assert!(is_close, "{bound} {upper}");
            prop_assert!(bounds.max_bound(&target) >= upper);
        }
    }
}
