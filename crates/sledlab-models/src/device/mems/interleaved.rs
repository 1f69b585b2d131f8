//! The reference simulator's pipeline over an interleaved bus.
//!
//! Command overheads run in parallel with the sled. Blocks cross a first-come bus one after another. A
//! write's pass takes only blocks that have arrived when it is planned (always at least one); if the first
//! has not arrived when the sled gets there, the servo pass is wasted. A read's blocks ask for the bus when
//! their pass ends. The rules are facts about the reference simulator, measured on its runs.

use std::collections::{HashMap, VecDeque};

use sledlab_core::{Error, Op, Result, Span, Time};

use super::bus::Bus;
use super::params::MemsParams;
use super::sled::{Pass, SledState};
use super::unit::{SledUnit, first_pass, note_further_pass};
use crate::device::{Busy, Device, FaultCounts, Mechanics, Queued, Rest, Served, Timing, Work};
use crate::power::Spent;

/// Time between the end of a write's last pass and its completion.
const WRITE_COMPLETION: Span = Span::from_ns(1_000);

/// A sled behind command overheads and a bus.
#[derive(Debug)]
pub struct Interleaved {
    unit: SledUnit,
    overhead: Span,
    bus: Bus,
    /// Writes that will ask for the bus when their overhead ends, in that order.
    asking: VecDeque<(Time, Queued)>,
    active: Option<Active>,
    /// The rest of its batch: this pipeline serves one request after another.
    following: VecDeque<Queued>,
    /// What the sled did for the batch so far.
    work: Work,
    /// Reads that left the sled with blocks still to cross the bus, by id.
    leaving: HashMap<u64, Leaving>,
}

/// The request on the sled.
#[derive(Clone, Copy, Debug)]
struct Active {
    request: Queued,
    start: Time,
    timing: Timing,
    /// Blocks read or written.
    done: u32,
    pass: Pass,
    phase: Phase,
    /// What the sled did for it so far.
    work: Work,
}

/// What happens next on the sled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// At the servo start of a write whose first block was still missing when the pass was planned.
    ServoStart(Time),
    /// A pass ends.
    PassEnd(Time),
    /// A servo pass without data ends.
    WastedEnd(Time),
}

impl Phase {
    fn at(self) -> Time {
        match self {
            Phase::ServoStart(at) | Phase::PassEnd(at) | Phase::WastedEnd(at) => at,
        }
    }
}

/// A request that the sled is done with; a read waits for the bus.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    start: Time,
    timing: Timing,
    energy: Spent,
}

impl Interleaved {
    /// A sled inactive at its parking position.
    pub fn new(params: &MemsParams) -> Result<Self> {
        if params.servo_bits == 0 {
            // A sled that comes too early reads servo bits while it waits; without any it could not wait.
            return Err(Error::user("device.pipeline = \"interleaved\" needs servo bits")
                .with_remedy("set device.servo_bits to 1 or more, or device.pipeline = \"serial\""));
        }
        Ok(Interleaved {
            unit: SledUnit::new(params)?,
            overhead: Span::from_ms(params.command_overhead_ms),
            bus: Bus::new(Span::from_ms(params.block_transfer_us / 1e3)),
            asking: VecDeque::new(),
            active: None,
            following: VecDeque::new(),
            work: Work::default(),
            leaving: HashMap::new(),
        })
    }

    /// Starts the next request of the batch at `now`; false if there is none.
    fn begin_next(&mut self, now: Time) -> bool {
        let Some(request) = self.following.pop_front() else { return false };
        self.unit.note_tips(&request);
        let (pass, phase) = self.plan(now, &request, 0);
        let (timing, work) = (Timing::default(), Work::default());
        self.active = Some(Active { request, start: now, timing, done: 0, pass, phase, work });
        true
    }

    /// The next pass of a request of which `done` blocks are read or written, planned at `now` from where the
    /// sled is, and what comes of it first.
    fn plan(&self, now: Time, request: &Queued, done: u32) -> (Pass, Phase) {
        let Queued { id, lbn, blocks, op, .. } = *request;
        let arrived = if op == Op::Read { blocks } else { self.bus.arrived(id, now) };
        let most = arrived.saturating_sub(done).max(1);
        let pass = self.unit.sled.plan(self.unit.at, lbn + u64::from(done), blocks - done, most);
        let servo_start = now + pass.positioning();
        let phase = if arrived > done {
            Phase::PassEnd(servo_start + self.unit.sled.row_time)
        } else {
            Phase::ServoStart(servo_start)
        };
        (pass, phase)
    }

    /// The sled's next step, due at `now`; returns whether it has become free.
    fn step_sled(&mut self, now: Time, served: &mut Vec<Served>) -> bool {
        let Some(mut active) = self.active.take() else { return false };
        match active.phase {
            Phase::ServoStart(_) => {
                active.phase = if self.bus.arrived(active.request.id, now) > active.done {
                    Phase::PassEnd(now + self.unit.sled.row_time)
                } else {
                    Phase::WastedEnd(now + self.unit.sled.geometry.servo_time())
                };
                self.active = Some(active);
                false
            }
            Phase::WastedEnd(_) => {
                self.waste(&mut active);
                (active.pass, active.phase) = self.plan(now, &active.request, active.done);
                self.active = Some(active);
                false
            }
            Phase::PassEnd(_) => self.end_pass(now, active, served),
        }
    }

    /// Servo bits were read with one tip; the sled stands behind them.
    fn waste(&mut self, active: &mut Active) {
        let Pass { x_bit, row, direction, .. } = active.pass;
        let geometry = &self.unit.sled.geometry;
        let servo = geometry.servo_time();
        let y_bit = geometry.start(row, direction) + i32::from(direction) * geometry.servo_bits;
        let after = SledState { x_bit, y_bit, direction };
        self.unit.note_exact(&active.pass, geometry.servo_bits, servo);
        self.unit.at = self.unit.sled.spot(after);
        let seek = active.pass.positioning();
        active.work += Work { seek, access: servo, tip_ns: servo.as_ns(), dark_tip_ns: 0 };
        active.note_pass(servo);
    }

    fn end_pass(&mut self, now: Time, mut active: Active, served: &mut Vec<Served>) -> bool {
        active.work += self.unit.sled.work(&active.pass);
        let row_bits = self.unit.sled.geometry.pitch_bits;
        self.unit.note_exact(&active.pass, row_bits, self.unit.sled.row_time);
        self.unit.at = self.unit.sled.after(&active.pass);
        active.note_pass(self.unit.sled.row_time);
        active.done += active.pass.blocks;
        let Active { request, start, timing, done, mut work, .. } = active;
        if request.op == Op::Read {
            self.bus.read_until(now, request, done);
        }
        if done < request.blocks {
            (active.pass, active.phase) = self.plan(now, &active.request, active.done);
            self.active = Some(active);
            return false;
        }
        self.unit.darken(&mut work, &request);
        self.work += work;
        let leaving = Leaving { start, timing, energy: self.unit.rates().spent(&work) };
        if request.op == Op::Read {
            self.leaving.insert(request.id, leaving);
        } else {
            let bus_done = self.bus.forget_write(request.id);
            served.push(leaving.finish(request, (now + WRITE_COMPLETION).max(bus_done)));
        }
        true
    }

    /// The bus has moved all blocks it had of its owner.
    fn step_bus(&mut self, now: Time, served: &mut Vec<Served>) {
        if let Some(request) = self.bus.end_transfer(now)
            && let Some(leaving) = self.leaving.remove(&request.id)
        {
            served.push(leaving.finish(request, now));
        }
    }
}

impl Active {
    /// Enters the pass that ends into the timing; `access` is the time from the end of positioning on.
    fn note_pass(&mut self, access: Span) {
        // A pass takes time after the positioning, so a timing without transfer has seen none.
        if self.timing.transfer == Span::ZERO {
            self.timing = first_pass(&self.pass, access);
        } else {
            note_further_pass(&mut self.timing, &self.pass, access);
        }
    }
}

impl Leaving {
    /// The transfer part ends with completion, whatever it waited for.
    fn finish(self, request: Queued, completion: Time) -> Served {
        let Leaving { start, timing, energy } = self;
        let transfer = completion.since(start).saturating_sub(timing.positioning());
        Served { request, start, completion, timing: Timing { transfer, ..timing }, energy }
    }
}

impl Device for Interleaved {
    fn mechanics(&self) -> &dyn Mechanics {
        &self.unit
    }

    /// What the mechanism alone would take; waiting for the bus depends on what else crosses it.
    fn probe(&self, _now: Time, request: &Queued) -> Timing {
        self.unit.serve(request).0
    }

    fn tell_time(&mut self, _now: Time) {}

    fn admit(&mut self, now: Time, request: &Queued) -> Time {
        let ready = now + self.overhead;
        if request.op == Op::Write {
            self.asking.push_back((ready, *request));
        }
        ready
    }

    fn let_in(&mut self) -> Option<Queued> {
        None
    }

    fn issue(&mut self, now: Time, batch: &[Queued], _served: &mut Vec<Served>) -> Option<Busy> {
        self.following.extend(batch);
        self.begin_next(now);
        None
    }

    fn takes_more(&self) -> bool {
        false
    }

    fn has_own_work(&self) -> bool {
        true
    }

    fn next_wakeup(&self) -> Option<Time> {
        let asking = self.asking.front().map(|(at, _)| *at);
        let sled = self.active.as_ref().map(|active| active.phase.at());
        [asking, sled, self.bus.next_event()].into_iter().flatten().min()
    }

    fn wake(&mut self, now: Time, served: &mut Vec<Served>) -> Option<Work> {
        while let Some((at, request)) = self.asking.front().copied()
            && at <= now
        {
            self.asking.pop_front();
            self.bus.write(at, request);
        }
        while self.bus.next_event().is_some_and(|at| at <= now) {
            self.step_bus(now, served);
        }
        let due = self.active.as_ref().is_some_and(|active| active.phase.at() <= now);
        let free = due && self.step_sled(now, served) && !self.begin_next(now);
        free.then(|| std::mem::take(&mut self.work))
    }

    fn faults(&self) -> Option<FaultCounts> {
        None
    }

    fn forgo_energy(&mut self) {}

    fn rest(&mut self, rest: Rest) {
        self.unit.rest(rest);
    }
}
