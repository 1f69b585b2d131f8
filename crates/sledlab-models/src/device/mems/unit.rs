//! A sled with its current state, power, and behavior in idle periods: the base of both pipelines.

use std::sync::Arc;

use sledlab_core::{Op, Result, Span};

use super::kinematics::TurnaroundTime;
use super::layout::Place;
use super::params::{IdleMotion, IdlePower, MemsParams, Parking};
use super::shared_sled::SharedSled;
use super::sled::{Pass, Sled, Spot};
use super::state::SledState;
use crate::device::{IdleOutcome, QueuedRequest, Timing};
use crate::power::{MechanicalWork, PowerRates};

/// The service of a request by passes without waits.
pub(super) struct Service {
    /// Timing without overhead.
    pub timing: Timing,
    pub work: MechanicalWork,
    /// State of the sled at the end.
    pub end: Spot,
    /// Active tips of the widest pass.
    pub max_tips: u64,
}

/// A sled with its state.
#[derive(Clone, Debug)]
pub(super) struct SledUnit {
    pub sled: Arc<SharedSled>,
    pub spot: Spot,
    /// Active tips of the widest pass of the last batch, on during the servo bits of the idle loop.
    pub max_tips: u64,
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
        let sled = SharedSled::from_cache(params)?;
        let center = SledState { x_bit: 0, y_bit: 0, direction: 1 };
        let parked_at = parked_state(&sled, params.parking);
        let sleds = sled.addresses.sleds() as f64;
        let travel_y_nm = (params.travel_y_um * 1e3).round();
        let half_travel_y_bits = (travel_y_nm / params.bit_nm) as i32 / 2;
        let drift_window_s =
            2.0 * sled.geometry.velocity_m_s / (params.acceleration_x_m_s2 * (1.0 + params.spring_factor));
        Ok(SledUnit {
            spot: sled.spot(parked_at.unwrap_or(center)),
            max_tips: 0,
            parked_at,
            idle_motion: params.idle_motion,
            idle_power: params.idle_power,
            servo_duties: sled.rows.states(&sled.geometry).map(|state| servo_duty(&sled, state)).collect(),
            rates: PowerRates {
                active_mw: sleds * params.sled_mw,
                tip_mw: params.tip_mw,
                writing_tip_mw: params.tip_mw * params.tip_write_factor,
                startup_mw: sleds * params.startup_mw,
                inactive_mw: sleds * params.inactive_mw,
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

    /// Serves all blocks of a request without waits.
    #[expect(clippy::inline_always, reason = "avoids copies of the results")]
    #[inline(always)]
    pub fn serve(&self, request: &QueuedRequest) -> Service {
        self.serve_from_spot(self.spot, request)
    }

    /// Serves all blocks of a request without waits from the state `from`.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub fn serve_from_spot(&self, from: Spot, request: &QueuedRequest) -> Service {
        let row_time = self.sled.row_time;
        let pass = self.sled.plan(from, request.lbn, request.blocks, u32::MAX);
        let mut timing = first_pass(&pass, row_time);
        let mut work = self.sled.work(&pass);
        let mut end = self.sled.end_spot(&pass);
        let mut max_tips = self.sled.active_tips(request, 0, pass.blocks);
        let mut done_blocks = pass.blocks;
        while done_blocks < request.blocks {
            let remaining_blocks = request.blocks - done_blocks;
            let pass = self.sled.plan(end, request.lbn + u64::from(done_blocks), remaining_blocks, u32::MAX);
            note_further_pass(&mut timing, &pass, row_time);
            work += self.sled.work(&pass);
            end = self.sled.end_spot(&pass);
            max_tips = max_tips.max(self.sled.active_tips(request, done_blocks, pass.blocks));
            done_blocks += pass.blocks;
        }
        self.settle_tips(&mut work, request);
        Service { timing, work, end, max_tips }
    }

    /// Completes the tip times in the `work` for a request: subtracts inactive tips, and the writing tips of a read.
    #[inline]
    pub fn settle_tips(&self, work: &mut MechanicalWork, request: &QueuedRequest) {
        if request.partial.blocks > 0 {
            self.darken(work, request);
        }
        if request.op != Op::Write {
            work.written_tip_ns = 0;
        }
    }

    /// Moves to dark tip time, in `work`, the tips that stay dark while the partial blocks of `request` are accessed
    /// (Lin; Hong 2006).
    #[cold]
    fn darken(&self, work: &mut MechanicalWork, request: &QueuedRequest) {
        let Sled { row_time, data_time, .. } = **self.sled;
        let dark_tips = self.sled.dark_tips(request).min(work.tip_ns / row_time.as_ns());
        work.tip_ns -= dark_tips * row_time.as_ns();
        work.dark_tip_ns += dark_tips * row_time.as_ns();
        work.written_tip_ns = work.written_tip_ns.saturating_sub(dark_tips * data_time.as_ns());
    }

    /// Adds up the rounding errors of `pass`, which accesses `bits` bits (`access`) after positioning from the
    /// present state. Only the drift rule needs this sum: it magnifies a nanosecond to dozens of bits.
    pub fn note_exact(&mut self, pass: &Pass, bits: i32, access: Span) {
        if self.idle_motion == IdleMotion::DisksimDrift {
            let exact_s = self.sled.exact_pass_s(self.spot.state, pass, bits);
            self.lag_s += exact_s - (pass.positioning() + access).as_seconds();
        }
    }

    pub fn end_idle_period(&mut self, outcome: IdleOutcome) {
        let lag_s = std::mem::take(&mut self.lag_s);
        match outcome {
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

    /// Idle power. In the servo loop the sled turns, moves back over one row, turns again and reads the servo
    /// bits; only then are tips on.
    pub fn idle_power_mw(&self) -> f64 {
        let tips_mw = self.rates.tip_mw * self.max_tips as f64;
        let duty = match self.idle_power {
            IdlePower::SledOnly => 0.0,
            IdlePower::Full => 1.0,
            IdlePower::ServoLoop => self.servo_duty(),
        };
        self.rates.active_mw + duty * tips_mw
    }

    fn servo_duty(&self) -> f64 {
        let tabulated_duty = self.spot.line.and_then(|line| self.servo_duties.get(line.index()).copied());
        tabulated_duty.unwrap_or_else(|| servo_duty(&self.sled, self.spot.state))
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

/// The state at the end of a start-up; `None` if that is the state before.
fn parked_state(Sled { geometry, layout, .. }: &Sled, parking: Parking) -> Option<SledState> {
    let (cylinder, row) = match parking {
        Parking::Stay => return None,
        Parking::Center => geometry.center(),
        Parking::CenterBlock => {
            let Place { cylinder, row, .. } = layout.place(geometry.center_block());
            (cylinder, row)
        }
    };
    Some(SledState { x_bit: geometry.x_bit(cylinder), y_bit: geometry.up_start(row), direction: 1 })
}

/// Share of the idle loop at `state` that is spent on servo bits. The loop is over the row behind the sled; over the
/// first row in its direction if no row lies behind it.
fn servo_duty(sled: &Sled, state: SledState) -> f64 {
    let Sled { geometry, axis_y, kinematics, .. } = sled;
    let speed_m_s = geometry.velocity_m_s;
    let direction = f64::from(state.direction);
    let [min_bit, max_bit] = [0, geometry.rows - 1].map(|row| geometry.end(row, state.direction));
    let end_m = f64::from(state.y_bit.clamp(min_bit, max_bit)) * geometry.bit_m;
    let start_m = end_m - direction * f64::from(geometry.pitch_bits) * geometry.bit_m;
    let back_s = kinematics.base_seek_s(axis_y, end_m, start_m, speed_m_s);
    let turns_s = kinematics.turnaround_s(axis_y, end_m, speed_m_s, direction, TurnaroundTime::Start)
        + kinematics.turnaround_s(axis_y, start_m, speed_m_s, -direction, TurnaroundTime::Start);
    let servo_s = f64::from(geometry.servo_bits) * geometry.bit_m / speed_m_s;
    servo_s / (turns_s + back_s + servo_s)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sledlab_core::Time;
    use sledlab_core::params::Choices;

    use super::*;
    use crate::device::mems::geometry::Geometry;
    use crate::device::mems::params::{LayoutKind, SledMotion};
    use crate::device::mems::{InterleavedSled, Serial};
    use crate::device::{Device, PartialBlocks};

    /// A sled of few columns and rows, or one of a single column or row, with any layout; or several sleds together.
    fn sleds() -> impl Strategy<Value = MemsParams> {
        let layouts = prop::sample::select(LayoutKind::ALL.to_vec());
        (layouts, 1_u32..60, 1_u32..9, 1_u64..5, 1_u64..4).prop_map(
            |(layout, columns, rows, tracks, sleds)| MemsParams {
                layout,
                travel_x_um: f64::from(columns) * 0.04,
                travel_y_um: f64::from(rows * 90 + 10) * 0.04,
                usable_tips: tracks * 1280,
                sleds,
                sled_motion: SledMotion::Together,
                ..MemsParams::default()
            },
        )
    }

    fn devices(params: &MemsParams) -> Result<[Box<dyn Device>; 2]> {
        Ok([Box::new(Serial::new(params)?), Box::new(InterleavedSled::new(params)?)])
    }

    /// Serves a batch to the end.
    fn serve(device: &mut dyn Device, batch: &[QueuedRequest]) {
        let mut served = Vec::new();
        for request in batch {
            device.admit(Time::ZERO, request);
        }
        device.issue(Time::ZERO, batch, &mut served);
        while let Some(now) = device.next_wakeup() {
            device.wake(now, &mut served);
        }
        assert_eq!(served.len(), batch.len());
    }

    /// The most blocks of a request that lie at one position and follow each other, up to those of a row of each sled.
    fn widest_run(sled: &Sled, request: &QueuedRequest) -> u64 {
        let position = |lbn| (sled.place(lbn).cylinder, sled.place(lbn).row);
        let (mut max_blocks, mut first) = (0, request.lbn);
        let end = request.lbn + u64::from(request.blocks);
        for lbn in request.lbn..end {
            let on_sled = |at: &u64| sled.addresses.sled(*at) == sled.addresses.sled(lbn);
            let is_full = (first..lbn).filter(on_sled).count() == sled.blocks_per_pass as usize;
            if position(lbn) != position(first) || is_full {
                first = lbn;
            }
            max_blocks = max_blocks.max(lbn + 1 - first);
        }
        max_blocks
    }

    proptest! {
        #[test]
        fn sled_parks_at_center_of_every_layout(mut params in sleds()) {
            params.parking = Parking::Center;
            for mut device in devices(&params).unwrap() {
                let geometry = Geometry::new(&params).unwrap();
                let near_bits = i32::midpoint(geometry.pitch_bits, geometry.servo_bits);
                let last = device.mechanics().capacity_blocks() - 1;
                let start = device.mechanics().state();
                prop_assert!(start.x == 0 && start.y.abs() <= near_bits, "{start:?}");
                serve(device.as_mut(), &[QueuedRequest { lbn: last, blocks: 1, ..QueuedRequest::default() }]);
                device.end_idle_period(IdleOutcome::Parked);
                prop_assert_eq!(device.mechanics().state(), start);
                prop_assert!(device.mechanics().idle_mw().is_finite());
            }
        }

        #[test]
        fn idle_power_counts_tips_of_widest_pass(
            mut params in sleds(), at in 0.0..1.0, blocks in 1_u32..90, words in 0_u32..64, is_subsector: bool,
            is_throughout: bool,
        ) {
            (params.idle_power, params.subsector_access) = (IdlePower::Full, is_subsector);
            for mut device in devices(&params).unwrap() {
                let capacity = device.mechanics().capacity_blocks();
                let blocks = blocks.min(capacity as u32);
                let lbn = (at * (capacity - u64::from(blocks)) as f64) as u64;
                let partial_blocks = if is_throughout { blocks } else { 1 };
                let partial = PartialBlocks { blocks: partial_blocks, unrequested_words: partial_blocks * words };
                let request = QueuedRequest { lbn, blocks, partial, ..QueuedRequest::default() };
                let sled = Sled::new(&params).unwrap();
                let mut widest = 64 * widest_run(&sled, &request);
                if is_subsector && is_throughout {
                    widest = widest / 64 * (64 - u64::from(words));
                } else if is_subsector {
                    // Without the last block, whose tips are on in part: the widest pass may be the last.
                    let without_last = QueuedRequest { blocks: blocks - 1, ..request };
                    let earlier_tips = if blocks > 1 { 64 * widest_run(&sled, &without_last) } else { 0 };
                    widest = earlier_tips.max(widest - u64::from(words));
                }
                let mw = 100.0 * params.sleds as f64 + widest as f64;
                serve(device.as_mut(), &[request]);
                let idle_mw = device.mechanics().idle_mw();
                prop_assert!((idle_mw - mw).abs() < 1e-9, "{idle_mw}, not {mw}");
            }
        }
    }

    #[test]
    fn idle_power_of_batch_counts_all_its_tips() {
        let params = MemsParams { idle_power: IdlePower::Full, ..MemsParams::default() };
        let request = |id, lbn, blocks| QueuedRequest { id, lbn, blocks, ..QueuedRequest::default() };
        // Three and four blocks in one pass, the fifth in another row.
        let batch = [request(0, 2, 3), request(1, 540, 4), request(2, 20, 1)];
        for mut device in devices(&params).unwrap() {
            serve(device.as_mut(), &batch);
            assert!((device.mechanics().idle_mw() - 100.0 - 7.0 * 64.0).abs() < 1e-9);
            serve(device.as_mut(), &batch[2..]);
            assert!((device.mechanics().idle_mw() - 100.0 - 64.0).abs() < 1e-9);
        }
    }
}
