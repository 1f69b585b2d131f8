//! A sled with its current state, power, and behavior in idle periods: the base of both pipelines.

use std::sync::Arc;

use sledlab_core::{Op, Result, Span};

use super::kinematics::TurnaroundTime;
use super::params::{IdleMotion, IdlePower, MemsParams, Parking};
use super::sled::{Pass, Sled, SledState, Spot};
use crate::device::{IdleOutcome, QueuedRequest, Timing};
use crate::power::{MechanicalWork, PowerRates};

/// A sled with its state.
#[derive(Clone, Debug)]
pub(super) struct SledUnit {
    pub sled: Arc<Sled>,
    pub spot: Spot,
    /// Tips of the last request, on during the servo bits of the idle loop.
    last_tips: u64,
    parked_at: Option<SledState>,
    idle_motion: IdleMotion,
    idle_power: IdlePower,
    /// Share of the idle loop spent on servo bits, for every state of the row table.
    servo_duties: Arc<[f64]>,
    rates: PowerRates,
    /// Modulus of the reference simulator's drift rule.
    drift_window_s: f64,
    half_travel_y_bits: i32,
    travel_y_nm: f64,
    /// Difference between the exact and the rounded end of the work since the last idle period, for the drift rule.
    lag_s: f64,
}

impl SledUnit {
    pub fn new(params: &MemsParams) -> Result<Self> {
        let sled = Sled::from_cache(params)?;
        let center = SledState { x_bit: 0, y_bit: 0, direction: 1 };
        let parked_at = (params.parking == Parking::Center).then(|| center_block_start(&sled));
        let travel_y_nm = (params.travel_y_um * 1e3).round();
        let half_travel_y_bits = (travel_y_nm / params.bit_nm) as i32 / 2;
        let drift_window_s =
            2.0 * sled.geometry.velocity_m_s / (params.acceleration_x_m_s2 * (1.0 + params.spring_factor));
        Ok(SledUnit {
            spot: sled.spot(parked_at.unwrap_or(center)),
            last_tips: 0,
            parked_at,
            idle_motion: params.idle_motion,
            idle_power: params.idle_power,
            servo_duties: sled.rows.states(&sled.geometry).map(|state| servo_duty(&sled, state)).collect(),
            rates: PowerRates {
                active_mw: params.sled_mw,
                tip_mw: params.tip_mw,
                writing_tip_mw: params.tip_mw * params.tip_write_factor,
                startup_mw: params.startup_mw,
                inactive_mw: params.inactive_mw,
                startup: Span::from_ms(params.startup_ms),
            },
            drift_window_s,
            half_travel_y_bits,
            travel_y_nm,
            lag_s: 0.0,
            sled,
        })
    }

    pub fn rates(&self) -> PowerRates {
        self.rates
    }

    /// Serves all blocks of a request without waits: its timing without overhead, its work, and the state of the sled
    /// at the end.
    #[expect(clippy::inline_always, reason = "avoids copies of the results")]
    #[inline(always)]
    pub fn serve(&self, request: &QueuedRequest) -> (Timing, MechanicalWork, Spot) {
        self.serve_from_spot(self.spot, request)
    }

    /// Returns the timing and work of `request` from the state `from`, and the state afterwards.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub fn serve_from_spot(&self, from: Spot, request: &QueuedRequest) -> (Timing, MechanicalWork, Spot) {
        let row_time = self.sled.row_time;
        let pass = self.sled.plan(from, request.lbn, request.blocks, u32::MAX);
        let mut timing = first_pass(&pass, row_time);
        let mut work = self.sled.work(&pass);
        let mut at = self.sled.end_spot(&pass);
        let mut done = pass.blocks;
        while done < request.blocks {
            let remaining = request.blocks - done;
            let pass = self.sled.plan(at, request.lbn + u64::from(done), remaining, u32::MAX);
            note_further_pass(&mut timing, &pass, row_time);
            work += self.sled.work(&pass);
            at = self.sled.end_spot(&pass);
            done += pass.blocks;
        }
        self.settle_tips(&mut work, request);
        (timing, work, at)
    }

    /// Completes the tip times in the `work` for a request: subtracts inactive tips, and counts the tips of a write as
    /// writing.
    #[inline]
    pub fn settle_tips(&self, work: &mut MechanicalWork, request: &QueuedRequest) {
        if request.unrequested_words > 0 {
            self.darken(work, request);
        }
        if request.op == Op::Write {
            work.written_tip_ns = work.tip_ns;
        }
    }

    /// Moves to dark tip time, in `work`, the tips that stay dark while the last row of `request` is accessed (PW-12,
    /// PW-13).
    #[cold]
    fn darken(&self, work: &mut MechanicalWork, request: &QueuedRequest) {
        let dark_tip_ns = (self.sled.dark_tips(request) * self.sled.row_time.as_ns()).min(work.tip_ns);
        work.tip_ns -= dark_tip_ns;
        work.dark_tip_ns += dark_tip_ns;
    }

    /// Records the maximum number of active tips of the last request, for the idle loop.
    pub fn note_tips(&mut self, request: &QueuedRequest) {
        self.last_tips = self.sled.tips(request.blocks.min(self.sled.widest_pass()));
    }

    /// Records the maximum number of active tips of requests that are served together.
    pub fn note_batch_tips(&mut self, batch: &[QueuedRequest]) {
        let blocks = batch.iter().fold(0_u32, |blocks, request| blocks.saturating_add(request.blocks));
        self.last_tips = self.sled.tips(blocks.min(self.sled.widest_pass()));
    }

    /// Adds up the rounding errors of `pass`, which accesses `bits` bits (`access`) after positioning from the
    /// present state. Only the drift rule needs this sum: it magnifies a nanosecond to dozens of bits.
    pub fn note_exact(&mut self, pass: &Pass, bits: i32, access: Span) {
        if self.idle_motion == IdleMotion::DisksimDrift {
            let exact_s = self.sled.exact_pass_s(self.spot.state, pass, bits);
            self.lag_s += exact_s - (pass.positioning() + access).as_seconds();
        }
    }

    pub fn end_idle_period(&mut self, remaining: IdleOutcome) {
        let lag_s = std::mem::take(&mut self.lag_s);
        match remaining {
            IdleOutcome::Parked => {
                self.spot = self.parked_at.map_or(self.spot, |state| self.sled.spot(state));
            }
            IdleOutcome::Idle(span) if self.idle_motion == IdleMotion::DisksimDrift => {
                self.drift(span.as_seconds() - lag_s);
            }
            IdleOutcome::Idle(_) => {}
        }
    }

    /// Moves the sled to the reference simulator's position after idling. The position is pseudo-random, as the rule
    /// takes milliseconds modulo seconds; it is kept so that results of that simulator can be reproduced.
    fn drift(&mut self, idle_s: f64) {
        let share = (idle_s * 1e3 % self.drift_window_s) / self.drift_window_s;
        let moved_nm = (share * self.travel_y_nm).trunc();
        let moved_bits = (moved_nm / (self.sled.geometry.bit_m * 1e9).round()) as i32;
        let half = self.half_travel_y_bits;
        let mut state = self.spot.state;
        let SledState { y_bit, direction, .. } = &mut state;
        *y_bit += moved_bits * i32::from(*direction);
        if y_bit.abs() > half {
            *y_bit = i32::from(*direction) * (2 * half - y_bit.abs());
            *direction = -*direction;
        }
        self.spot = self.sled.spot(state);
    }

    /// Idle power (PW-03). In the servo loop the sled turns, moves back over one row, turns again and reads the servo
    /// bits; only then are tips on.
    pub fn idle_power_mw(&self) -> f64 {
        let tips_mw = self.rates.tip_mw * self.last_tips as f64;
        let duty = match self.idle_power {
            IdlePower::SledOnly => 0.0,
            IdlePower::Full => 1.0,
            IdlePower::ServoLoop => self.servo_duty(),
        };
        self.rates.active_mw + duty * tips_mw
    }

    fn servo_duty(&self) -> f64 {
        let known = self.spot.line.and_then(|line| self.servo_duties.get(line.index()).copied());
        known.unwrap_or_else(|| servo_duty(&self.sled, self.spot.state))
    }
}

/// The timing of a request after its first pass; `access` is the time from the end of positioning on.
#[inline]
pub(super) fn first_pass(pass: &Pass, access: Span) -> Timing {
    Timing {
        seek_x: pass.seek_x,
        settle: pass.settle,
        seek_y: pass.y.seek(),
        turnaround: pass.y.turnaround(),
        transfer: access,
        ..Timing::default()
    }
}

/// Adds another pass to the timing of its request.
pub(super) fn note_further_pass(timing: &mut Timing, pass: &Pass, access: Span) {
    timing.reposition += pass.positioning();
    timing.transfer += pass.positioning() + access;
}

fn center_block_start(sled: &Sled) -> SledState {
    let place = sled.layout.place(sled.geometry.center_block());
    SledState { x_bit: sled.x_bit(place), y_bit: sled.geometry.up_start(place.row), direction: 1 }
}

/// Share of the idle loop at `state` that is spent on servo bits.
fn servo_duty(sled: &Sled, state: SledState) -> f64 {
    let Sled { geometry, axis_y, kinematics, .. } = sled;
    let speed_m_s = geometry.velocity_m_s;
    let direction = f64::from(state.direction);
    let end_m = f64::from(state.y_bit) * geometry.bit_m;
    let start_m = end_m - direction * f64::from(geometry.pitch_bits) * geometry.bit_m;
    let back_s = kinematics.base_seek_s(axis_y, end_m, start_m, speed_m_s);
    let turns_s = kinematics.turnaround_s(axis_y, end_m, speed_m_s, direction, TurnaroundTime::Start)
        + kinematics.turnaround_s(axis_y, start_m, speed_m_s, -direction, TurnaroundTime::Start);
    let servo_s = f64::from(geometry.servo_bits) * geometry.bit_m / speed_m_s;
    servo_s / (turns_s + back_s + servo_s)
}
