//! The rotating platters: which sector is under the head at any time, computed with integers.

use sledlab_core::Time;

use super::params::DiskParams;

/// A turn in angle units, of which one passes in a nanosecond at one revolution per minute. The angle at any instant is
/// then an integer number of units at any speed, and long runs do not drift.
const TURN: u64 = 60_000_000_000;

/// Platters that turn at a constant speed, their index mark under the head at time 0.
#[derive(Clone, Debug)]
pub(super) struct Spindle {
    rpm: u64,
    /// The angle that passes in a nanosecond, in 2^96ths of a turn.
    angle_per_ns: u128,
    /// How many times faster a sector is transferred than it passes under the head.
    speedup: f64,
}

impl Spindle {
    pub fn new(params: &DiskParams) -> Self {
        Spindle::with_speed(params.flat.rpm, params.flat.media_speedup)
    }

    fn with_speed(rpm: u64, speedup: f64) -> Self {
        Spindle { rpm, angle_per_ns: (u128::from(rpm) << 96) / u128::from(TURN), speedup }
    }

    /// Time of a revolution.
    pub fn turn_ns(&self) -> f64 {
        TURN as f64 / self.rpm as f64
    }

    /// The angle at `time`, in 2^32nds of a turn: at most two too low.
    pub fn angle(&self, time: Time) -> u32 {
        (self.angle_per_ns.wrapping_mul(time.as_ns().into()) >> 64) as u32
    }

    /// Whether sectors are transferred faster than they pass under the head.
    pub fn is_sped_up(&self) -> bool {
        self.speedup > 1.0
    }

    /// Time to transfer one sector of a track that has `sectors`.
    pub fn sector_ns(&self, sectors: u64) -> f64 {
        TURN as f64 / (self.rpm * sectors) as f64 / self.speedup
    }

    /// Nanoseconds from `now`, with the head on a track of `sectors` sectors, until `slot` comes under the head;
    /// slightly negative if it did so less than a nanosecond ago.
    #[inline]
    pub fn wait_ns(&self, now: Time, slot: u64, sectors: u64) -> f64 {
        self.ticks_until(now, slot, sectors) as f64 / self.ticks_per_ns(sectors) as f64
    }

    /// Ticks in a nanosecond. Ticks are so short that the edge of every sector falls on a tick: a sector passes in
    /// [`TURN`] ticks.
    fn ticks_per_ns(&self, sectors: u64) -> u64 {
        self.rpm * sectors
    }

    /// Ticks from `now` until `slot` begins.
    fn ticks_until(&self, now: Time, slot: u64, sectors: u64) -> i64 {
        let angle = (now.as_ns() % TURN) * self.rpm % TURN * sectors;
        let (turn, slot_angle) = (TURN * sectors, slot * TURN);
        let wait = if slot_angle >= angle { slot_angle - angle } else { slot_angle + turn - angle };
        // The previous access may end where this one begins, at a time rounded to a nanosecond: a slot missed by less
        // is not missed.
        let passed_angle = turn - wait;
        if passed_angle < self.ticks_per_ns(sectors) { -(passed_angle as i64) } else { wait as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sledlab_core::Span;

    /// An access to consecutive sectors of a track.
    #[derive(Debug)]
    struct Access {
        /// Time until the first sector is under the head.
        wait: Span,
        /// Time from then until the last sector has passed.
        transfer: Span,
    }

    impl Spindle {
        fn access(&self, now: Time, slot: u64, count: u64, sectors: u64) -> Access {
            let wait_ns = self.wait_ns(now, slot, sectors);
            let end_ns = (wait_ns + count as f64 * self.sector_ns(sectors)).round();
            let wait = Span::from_ns(wait_ns.round().max(0.0) as u64);
            Access { wait, transfer: Span::from_ns(end_ns as u64) - wait }
        }
    }

    fn spindle(rpm: u64) -> Spindle {
        Spindle::with_speed(rpm, 1.0)
    }

    #[test]
    fn waits_for_the_sector_and_reads_it() {
        // A turn takes 10 ms, a sector 1 ms.
        let spindle = spindle(6000);
        let access = |now_us: u64, slot, count| {
            let Access { wait, transfer } = spindle.access(Time::from_ns(now_us * 1000), slot, count, 10);
            (wait.as_ns() / 1000, transfer.as_ns() / 1000)
        };
        assert_eq!(access(0, 0, 1), (0, 1000));
        assert_eq!(access(0, 3, 2), (3000, 2000));
        assert_eq!(access(3001, 3, 1), (9999, 1000));
        assert_eq!(access(123_456_000, 9, 10), (3000, 10_000));
    }

    #[test]
    fn faster_transfer_keeps_the_rotation_time() {
        let spindle = Spindle::with_speed(6000, 2.0);
        let first = spindle.access(Time::ZERO, 0, 4, 10);
        assert_eq!((first.wait, first.transfer), (Span::ZERO, Span::from_ns(2_000_000)));
        // The sector behind those read has not come under the head yet.
        let next = spindle.access(Time::ZERO + first.transfer, 4, 1, 10);
        assert_eq!((next.wait, next.transfer), (Span::from_ns(2_000_000), Span::from_ns(500_000)));
    }

    proptest! {
        #[test]
        fn agrees_with_angles_in_floating_point(
            rpm in 1_u64..20_000, sectors in 1_u64..1000, now in 0_u64..1_000_000_000_000, at: u64, many: u64,
        ) {
            let (slot, count) = (at % sectors, 1 + many % sectors);
            let turn_ns = 60e9 / rpm as f64;
            let turns = now as f64 / turn_ns;
            let expected_wait_ns = (slot as f64 / sectors as f64 - turns).rem_euclid(1.0) * turn_ns;
            let access = spindle(rpm).access(Time::from_ns(now), slot, count, sectors);
            let wait_ns = access.wait.as_ns() as f64;
            // Just at the edge of a sector, one computation may see the sector as passed and the other not.
            let difference_ns = (expected_wait_ns - wait_ns).abs();
            prop_assert!(difference_ns.min(turn_ns - difference_ns) < 3.0, "{expected_wait_ns} {wait_ns}");
            let transfer_ns = turn_ns * count as f64 / sectors as f64;
            prop_assert!((access.transfer.as_ns() as f64 - transfer_ns).abs() <= 2.0);
        }

        #[test]
        fn angle_is_at_most_two_units_too_low(rpm in 1_u64..1_000_000, now: u64) {
            let turns = u128::from(now) * u128::from(rpm);
            let exact = ((turns % u128::from(TURN)) << 32) / u128::from(TURN);
            let error = (exact as u32).wrapping_sub(spindle(rpm).angle(Time::from_ns(now)));
            prop_assert!(error <= 2, "{error}");
        }

        #[test]
        fn consecutive_accesses_need_no_wait(
            rpm in 1_u64..20_000, sectors in 2_u64..1000, now in 0_u64..1_000_000_000_000,
        ) {
            let spindle = spindle(rpm);
            let mut now = Time::from_ns(now);
            let first = spindle.access(now, 0, 1, sectors);
            now += first.wait;
            let start = now;
            for slot in 0..sectors {
                let access = spindle.access(now, slot, 1, sectors);
                prop_assert!(access.wait <= Span::from_ns(1), "{slot}: {access:?}");
                now = now + access.wait + access.transfer;
            }
            let turn_ns = 60e9 / rpm as f64;
            prop_assert!((now.since(start).as_ns() as f64 - turn_ns).abs() <= 1.0);
        }
    }
}
