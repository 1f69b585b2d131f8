//! The turning platters: which sector is under the head at any instant, in whole numbers.

use sledlab_core::{Span, Time};

use super::params::DiskParams;

/// A turn in units of one nanosecond at one revolution per minute: a minute holds `rpm` turns. The angle at any
/// instant is then a whole number of these units, whatever the speed, and long runs do not drift.
const TURN: u64 = 60_000_000_000;

/// Platters that turn at a constant speed, their index mark under the head at time 0.
#[derive(Clone, Debug)]
pub(super) struct Spindle {
    rpm: u64,
    /// How many times faster a sector is transferred than it passes.
    speedup: f64,
}

/// An access to consecutive sectors of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// Until the first of them is under the head.
    pub wait: Span,
    /// From then until the last of them has passed.
    pub transfer: Span,
}

impl Spindle {
    pub fn new(params: &DiskParams) -> Self {
        Spindle { rpm: params.flat.rpm, speedup: params.flat.media_speedup }
    }

    /// Half a turn: the mean rotational latency.
    pub fn half_turn(&self) -> Span {
        Span::from_ns((TURN / 2 + self.rpm / 2) / self.rpm)
    }

    /// Accesses what passes while `count` of the `sectors` of a track do, from `slot` on, with the head on the track
    /// from `now` on.
    pub fn access(&self, now: Time, slot: u64, count: u64, sectors: u64) -> Access {
        let wait = self.until(now, slot, sectors);
        let passing = if self.speedup > 1.0 {
            ((TURN * count) as f64 / self.speedup).round() as i64
        } else {
            (TURN * count) as i64
        };
        // Both ends are rounded on their own, so that rounding does not add up from track to track.
        let end = self.span(wait + passing, sectors);
        let wait = self.span(wait, sectors);
        Access { wait, transfer: end - wait }
    }

    /// Ticks of a nanosecond. A tick is so short that a sector's edge falls on a whole one: [`TURN`] of them pass
    /// while a sector does.
    fn ticks_per_ns(&self, sectors: u64) -> u64 {
        self.rpm * sectors
    }

    /// Ticks from `now` until `slot` begins.
    fn until(&self, now: Time, slot: u64, sectors: u64) -> i64 {
        let angle = (now.as_ns() % TURN) * self.rpm % TURN * sectors;
        let turn = TURN * sectors;
        let wait = (slot * TURN + turn - angle) % turn;
        // An access that ends where this one begins ended on a rounded nanosecond, perhaps just too late.
        let missed = turn - wait;
        if missed < self.ticks_per_ns(sectors) { -(missed as i64) } else { wait as i64 }
    }

    fn span(&self, ticks: i64, sectors: u64) -> Span {
        let per_ns = self.ticks_per_ns(sectors);
        Span::from_ns((ticks.max(0).cast_unsigned() + per_ns / 2) / per_ns)
    }

    /// An instant, minutes away from time 0, at which `slot` of `sectors` begins half a turn later.
    pub fn half_turn_before(&self, slot: u64, sectors: u64) -> Time {
        let turn = TURN * sectors;
        let ticks = (slot * TURN + turn / 2) % turn;
        // After any whole minute the platters are where they were.
        Time::from_ns(3 * TURN) + self.span(ticks as i64, sectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spindle(rpm: u64) -> Spindle {
        Spindle { rpm, speedup: 1.0 }
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
        assert_eq!(spindle.half_turn(), Span::from_ns(5_000_000));
    }

    #[test]
    fn a_faster_transfer_does_not_turn_the_platters_faster() {
        let spindle = Spindle { rpm: 6000, speedup: 2.0 };
        let first = spindle.access(Time::ZERO, 0, 4, 10);
        assert_eq!((first.wait, first.transfer), (Span::ZERO, Span::from_ns(2_000_000)));
        // The sector behind them has not come by yet.
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
            let passed = now as f64 / turn_ns;
            let ahead = (slot as f64 / sectors as f64 - passed).rem_euclid(1.0) * turn_ns;
            let access = spindle(rpm).access(Time::from_ns(now), slot, count, sectors);
            let wait_ns = access.wait.as_ns() as f64;
            // Just at the edge of a sector either may see it pass.
            let apart = (ahead - wait_ns).abs();
            prop_assert!(apart.min(turn_ns - apart) < 3.0, "{ahead} {wait_ns}");
            let transfer_ns = turn_ns * count as f64 / sectors as f64;
            prop_assert!((access.transfer.as_ns() as f64 - transfer_ns).abs() <= 2.0);
        }

        #[test]
        fn what_follows_on_the_track_follows_at_once(
            rpm in 1_u64..20_000, sectors in 2_u64..1000, now in 0_u64..1_000_000_000_000,
        ) {
            let spindle = spindle(rpm);
            let mut now = Time::from_ns(now);
            let first = spindle.access(now, 0, 1, sectors);
            now += first.wait;
            let began = now;
            for slot in 0..sectors {
                let access = spindle.access(now, slot, 1, sectors);
                prop_assert!(access.wait <= Span::from_ns(1), "{slot}: {access:?}");
                now = now + access.wait + access.transfer;
            }
            let turn_ns = 60e9 / rpm as f64;
            prop_assert!((now.since(began).as_ns() as f64 - turn_ns).abs() <= 1.0);
        }

        #[test]
        fn half_a_turn_is_half_a_turn(rpm in 1_u64..20_000, sectors in 1_u64..1000, at: u64) {
            let spindle = spindle(rpm);
            let slot = at % sectors;
            let wait = spindle.access(spindle.half_turn_before(slot, sectors), slot, 1, sectors).wait;
            prop_assert!(wait.as_ns().abs_diff(spindle.half_turn().as_ns()) <= 1);
        }
    }
}
