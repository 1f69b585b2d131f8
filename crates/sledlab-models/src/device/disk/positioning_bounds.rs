//! Lower bounds of positioning times, which take a fraction of the time of the exact computation and no branches.

use sledlab_core::Op;

use super::drive::Drive;
use super::geometry::{SectorPlace, Track};

/// More than all errors of rounding. A sector that passed less than a nanosecond ago is not missed.
const GRACE_NS: f64 = 4.0;
/// By how much a positioning time usually exceeds its bound at most.
pub(super) const MAX_ERROR_NS: f64 = 3.0 * GRACE_NS;

/// A sector as far as bounds depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    track: Track,
    is_write: bool,
    /// Angle at which the sector begins, in turns.
    angle: f64,
}

impl Target {
    pub fn new(place: &SectorPlace, op: Op) -> Self {
        Target {
            track: place.track,
            is_write: op == Op::Write,
            angle: place.slot as f64 / place.sectors as f64,
        }
    }
}

/// The times of all movements of a drive, in turns.
pub(super) struct MovementTable {
    /// By distance in cylinders: of reads to the same head and to another one, then of writes.
    turns: Box<[[f64; 4]]>,
    turns_per_ns: f64,
}

impl MovementTable {
    /// The movements of a drive.
    pub fn new(drive: &Drive, cylinders: u32) -> Self {
        let turns_per_ns = 1.0 / drive.turn_ns();
        let turns = |cylinder, head, op| {
            let (seek, settle) = drive.seek_and_settling(Track::default(), Track { cylinder, head }, op);
            (seek + settle).as_ns() as f64 * turns_per_ns
        };
        let columns = [(0, Op::Read), (1, Op::Read), (0, Op::Write), (1, Op::Write)];
        let row = |distance| columns.map(|(head, op)| turns(distance, head, op));
        MovementTable { turns: (0..cylinders).map(row).collect(), turns_per_ns }
    }

    /// The turns that take `ns` nanoseconds.
    pub fn to_turns(&self, ns: f64) -> f64 {
        ns * self.turns_per_ns
    }
}

/// Lower bounds of the positioning times from one state of a drive, in turns.
pub(super) struct PositioningBounds<'a> {
    table: &'a MovementTable,
    from: Track,
    /// Angles of the platters when a read and a write can start, more than 1.
    starts: [f64; 2],
    max_wait: f64,
}

impl<'a> PositioningBounds<'a> {
    /// Bounds for an arm that starts `from` a track, when the platters are at the `angles` for a read and a write.
    pub fn new(table: &'a MovementTable, from: Track, angles: [f64; 2]) -> Self {
        let grace = table.to_turns(GRACE_NS);
        // Two turns keep the sums below positive.
        let starts = angles.map(|angle| angle + 2.0 - grace);
        PositioningBounds { table, from, starts, max_wait: 1.0 - 2.0 * grace }
    }

    /// Lower bound of the positioning time to `target`, in turns.
    #[inline]
    pub fn bound(&self, target: &Target) -> f64 {
        /// Sums of this number and a small one are integers.
        const ROUNDER: f64 = (1_u64 << 52) as f64;
        let Target { track: Track { cylinder, head }, is_write, angle } = *target;
        let column = 2 * usize::from(is_write) + usize::from(head != self.from.head);
        let movement = self.table.turns[cylinder.abs_diff(self.from.cylinder) as usize][column];
        let passed = self.starts[usize::from(is_write)] + movement - angle;
        let fraction = passed - (passed + (ROUNDER - 0.5) - ROUNDER);
        let wait = self.max_wait - fraction;
        movement + if wait > 0.0 { wait } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sledlab_core::Time;

    use super::super::drive::DiskState;
    use super::super::params::{DiskNumbers, DiskParams};
    use super::*;

    proptest! {
        #[test]
        fn bounds_are_just_below_positioning_times(
            rpm in 1_u64..1_000_000, sectors in 1_u64..1000, switch_ms in 0.0..3.0, settle_ms in -2.0..2.0,
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
            let ns = drive.positioning_time(state, &place, op).as_ns() as f64;
            let table = MovementTable::new(&drive, 100);
            let bound_ns = drive.positioning_bounds(&table, state).bound(&Target::new(&place, op)) * drive.turn_ns();
            // Sums of turns are exact to a millionth of a nanosecond.
            prop_assert!(bound_ns <= ns + 1e-6, "{bound_ns} {ns}");
            // A sector that has almost been missed has a bound of a turn less.
            let error_ns = ns - bound_ns;
            prop_assert!(error_ns < MAX_ERROR_NS || error_ns > drive.turn_ns() - MAX_ERROR_NS, "{bound_ns} {ns}");
        }
    }
}
