//! A disk that takes turns on its bus: with several commands in it at once, or on a bus with other drives.
//!
//! A command holds the bus while its overhead runs, and data holds it while it crosses. A drive that takes several
//! commands takes the next while the mechanism works on another: its overhead is over when its turn comes, and the data
//! of a write crosses while the arm moves. The mechanism keeps a read until its data has crossed, a write until it is on
//! the medium. The rules are facts about the reference simulator: of its public description, and measured on its runs.

use std::collections::VecDeque;

use sledlab_core::hash::Map;
use sledlab_core::{Error, Op, Result, Span, Time};

use super::controller::{Begun, CommandEntry, Controller, Done};
use super::drive::Drive;
use super::params::DiskParams;
use crate::device::bus::{Bus, By, Port};
use crate::device::{Busy, Device, FaultCounts, MechanicalWork, Mechanics, Queued, Rest, Served, Timing};

/// The shortest time there is.
const INSTANT: Span = Span::from_ns(1);

/// A disk that takes turns on its bus.
#[derive(Debug)]
pub struct Connected {
    drive: Drive,
    controller: Controller,
    port: Port,
    /// Commands in it at once. One: it is served as it comes. Several: it tells which have come.
    depth: usize,
    /// Commands that wait for others to leave.
    outside: VecDeque<Queued>,
    /// Commands that have asked for the bus, and are not complete.
    inside: usize,
    /// Commands that have asked for the bus, in that order.
    asking: VecDeque<Queued>,
    /// What the bus is held for.
    hold: Option<Hold>,
    /// Commands that have come over the bus and were not told of yet.
    arrived: VecDeque<Queued>,
    /// When the overhead of each command ends that has come and that the mechanism has not turned to.
    ready: Map<u64, Time>,
    active: Option<Active>,
    /// The rest of its batch.
    following: VecDeque<Queued>,
    /// What the mechanism did for the batch so far.
    work: MechanicalWork,
    /// Until when it writes what was complete before the active command came.
    behind: Time,
    /// Whether the mechanism is about to be given one of the commands that are ready: nobody comes between.
    selecting: bool,
}

#[derive(Clone, Copy, Debug)]
enum Hold {
    /// The overhead of a command.
    Command {
        id: u64,
        since: Time,
        until: Time,
    },
    Data {
        until: Time,
    },
    /// The completion of a write to the medium.
    Answer {
        until: Time,
    },
}

impl Hold {
    fn until(self) -> Time {
        match self {
            Hold::Command { until, .. } | Hold::Data { until } | Hold::Answer { until } => until,
        }
    }
}

/// The command on the mechanism.
#[derive(Clone, Copy, Debug)]
struct Active {
    request: Queued,
    start: Time,
    begun: Option<Begun>,
    done: Option<Done>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Wants the bus from then on.
    Wants(Time),
    /// Waits for the bus, or has it.
    OnBus,
    /// Complete; the mechanism is busy with it until then.
    Behind(Time),
}

impl Connected {
    /// A parked disk on `bus` with its arm over the first track and an empty buffer.
    ///
    /// # Errors
    /// Parameters that make no sense together.
    pub fn new(params: &DiskParams, bus: &Bus) -> Result<Self> {
        let drive = Drive::new(params)?;
        let depth = params.flat.queue_depth as usize;
        Ok(Connected {
            controller: Controller::new(params, drive.overheads())?,
            drive,
            port: bus.attach(),
            depth,
            outside: VecDeque::new(),
            inside: 0,
            asking: VecDeque::new(),
            hold: None,
            arrived: VecDeque::new(),
            ready: Map::default(),
            active: None,
            following: VecDeque::new(),
            work: MechanicalWork::default(),
            behind: Time::ZERO,
            selecting: false,
        })
    }

    /// A command asks for the bus.
    fn call_in(&mut self, now: Time, request: Queued) {
        self.inside += 1;
        self.asking.push_back(request);
        self.port.ask(now, By::Host);
    }

    /// Lets commands ask for the bus as far as there is room for them in the drive.
    fn fill_up(&mut self, now: Time) {
        while self.inside < self.depth
            && let Some(request) = self.outside.pop_front()
        {
            self.call_in(now, request);
        }
    }

    /// The mechanism turns to the next command of its batch; false if there is none.
    fn turn_to_next(&mut self, now: Time) -> bool {
        let Some(request) = self.following.pop_front() else { return false };
        self.active = Some(Active { request, start: now, begun: None, done: None, phase: Phase::OnBus });
        if self.depth == 1 {
            self.call_in(now, request);
            return true;
        }
        let ready = self.ready.remove(&request.id).unwrap_or(now);
        match self.hold {
            Some(Hold::Command { id, since, .. }) if id == request.id && since == now => {
                self.begin(now, CommandEntry::Fresh);
            }
            _ => self.begin(now, CommandEntry::Waited(ready)),
        }
        true
    }

    /// The active command begins at `now`. One that has just come keeps the bus if it has a use for it.
    fn begin(&mut self, now: Time, entry: CommandEntry) {
        let Some(mut active) = self.active.take() else { return };
        let begun = self.controller.begin(&mut self.drive, now, &active.request, entry).since(active.start);
        active.begun = Some(begun);
        active.phase = Phase::Wants(begun.wants);
        self.active = Some(active);
        if matches!(entry, CommandEntry::Fresh) && begun.keeps_bus() {
            self.cross(begun.wants);
        }
    }

    /// The data of the active command gets the bus at `granted`.
    fn cross(&mut self, granted: Time) {
        let Some(Active { begun: Some(begun), done, phase, .. }) = &mut self.active else { return };
        let crossing = self.controller.transfer(&mut self.drive, begun, granted);
        self.hold = Some(Hold::Data { until: crossing.crossed });
        (*done, *phase) = (Some(crossing), Phase::OnBus);
    }

    /// The bus is the next command's.
    fn take_command(&mut self, now: Time) {
        let Some(request) = self.asking.pop_front() else { return };
        let ready = now + self.controller.admission(request.op);
        // An idle mechanism turns to it before it lets the bus go, be it only for an instant.
        let until = if self.depth == 1 { ready } else { ready.max(now + INSTANT) };
        self.hold = Some(Hold::Command { id: request.id, since: now, until });
        if self.depth == 1 {
            self.begin(now, CommandEntry::Fresh);
        } else {
            self.ready.insert(request.id, ready);
            self.arrived.push_back(request);
        }
    }

    /// The bus is the active command's: for its data, or to tell that it is on the medium.
    fn go_on(&mut self, now: Time) {
        let Some(Active { done: Some(done), .. }) = &mut self.active else {
            self.cross(now);
            return;
        };
        let until = now + done.answer.unwrap_or_default();
        done.timing.transfer += until.since(done.completion);
        done.completion = until;
        self.hold = Some(Hold::Answer { until });
    }

    /// Whether a write that has just come goes on where the one on the mechanism ends, which is complete, and nothing
    /// else waits: the mechanism turns to it at once. Returns what it has done so far.
    fn gives_way(&mut self, now: Time) -> Option<MechanicalWork> {
        let Some(Active { phase: Phase::Behind(until), .. }) = self.active else { return None };
        let request = self.arrived.back().filter(|request| request.op == Op::Write)?;
        if self.ready.len() > 1 || !self.following.is_empty() || !self.controller.appends(now, request) {
            return None;
        }
        self.active = None;
        self.behind = until;
        // What it still has to write was charged to that command.
        let left = until.since(now);
        let rest = MechanicalWork { seek: left.min(self.work.seek), ..MechanicalWork::default() };
        let rest = MechanicalWork { access: left - rest.seek, ..rest };
        let all = std::mem::replace(&mut self.work, rest);
        Some(MechanicalWork { seek: all.seek - rest.seek, access: all.access - rest.access, ..all })
    }

    /// What holds the bus is over at `now`.
    fn let_go(&mut self, now: Time, served: &mut Vec<Served>) {
        let hold = self.hold.take();
        let answer = self.active.as_ref().and_then(|active| active.done).is_some_and(|d| d.answer.is_some());
        match hold {
            Some(Hold::Data { .. }) if answer => {
                if let Some(Active { done: Some(done), phase, .. }) = &mut self.active {
                    *phase = Phase::Wants(done.on_medium);
                }
            }
            Some(Hold::Data { .. } | Hold::Answer { .. }) => {
                self.complete(served);
                self.fill_up(now);
            }
            Some(Hold::Command { .. }) | None => {}
        }
        self.port.let_go(now);
    }

    /// The active command is complete.
    fn complete(&mut self, served: &mut Vec<Served>) {
        let Some(Active { request, start, done: Some(done), phase, .. }) = &mut self.active else { return };
        let (request, start, Done { completion, timing, on_medium, .. }) = (*request, *start, *done);
        // The host chooses for a drive of one command as soon as that is complete.
        let free = if self.depth == 1 { completion } else { completion.max(on_medium) };
        *phase = Phase::Behind(free);
        // The disk is as active while it takes a command, waits for the bus and moves data as while it seeks.
        let busy = free.since(start.max(self.behind));
        let access = timing.transfer.saturating_sub(timing.reposition).min(busy);
        let work = MechanicalWork { seek: busy - access, access, ..MechanicalWork::default() };
        self.work += work;
        let energy = self.drive.power_rates().spent(&work);
        served.push(Served { request, start, completion, timing, energy, device: Some(0) });
        self.controller.completed(request.op);
        self.inside -= 1;
    }

    /// The active command asks for the bus at `now`, when it wants it; behind the overhead of a command that this
    /// drive is taking.
    fn ask_for_active(&mut self, now: Time) -> bool {
        let hold = self.hold;
        let Some(Active { phase, .. }) = &mut self.active else { return false };
        match (&phase, hold) {
            (Phase::Wants(at), _) if *at > now => return false,
            (Phase::Wants(_), Some(Hold::Command { since, until, .. })) if since < now && until > now => {
                *phase = Phase::Wants(until);
                return true;
            }
            (Phase::Wants(_), _) => {}
            _ => return false,
        }
        *phase = Phase::OnBus;
        self.port.ask(now, By::Drive);
        true
    }
}

impl Device for Connected {
    fn mechanics(&self) -> &dyn Mechanics {
        &self.drive
    }

    /// What the drive takes that has the bus to itself.
    fn probe(&self, now: Time, request: &Queued) -> Timing {
        let (mut drive, mut controller) = (self.drive.clone(), self.controller.clone());
        if self.depth == 1 {
            return controller.serve(&mut drive, now, request).timing;
        }
        let begun = controller.begin(&mut drive, now, request, CommandEntry::Waited(now));
        controller.transfer(&mut drive, &begun, begun.wants).timing
    }

    fn tell_time(&mut self, now: Time) {
        self.controller.look(&mut self.drive, now);
        self.controller.tell_time(&mut self.drive, now);
    }

    fn admit(&mut self, now: Time, request: &Queued) -> Time {
        if self.depth == 1 {
            return now;
        }
        self.outside.push_back(*request);
        self.fill_up(now);
        Time::MAX
    }

    fn let_in(&mut self) -> Option<Queued> {
        self.arrived.pop_front()
    }

    fn issue(&mut self, now: Time, batch: &[Queued], _served: &mut Vec<Served>) -> Option<Busy> {
        self.selecting = false;
        self.following.extend(batch);
        self.turn_to_next(now);
        None
    }

    fn takes_more(&self) -> bool {
        false
    }

    fn has_own_work(&self) -> bool {
        true
    }

    fn next_wakeup(&self) -> Option<Time> {
        let active = match &self.active {
            Some(Active { phase: Phase::Wants(at) | Phase::Behind(at), .. }) => Some(*at),
            _ => None,
        };
        let offered = if self.selecting { None } else { self.port.offered() };
        [self.hold.map(Hold::until), active, offered].into_iter().flatten().min()
    }

    fn wake(&mut self, now: Time, served: &mut Vec<Served>) -> Option<MechanicalWork> {
        loop {
            if self.hold.is_some_and(|hold| hold.until() <= now) {
                self.let_go(now, served);
            } else if self.ask_for_active(now) {
            } else if let Some(Active { phase: Phase::Behind(until), .. }) = self.active
                && until <= now
            {
                self.active = None;
                if !self.turn_to_next(now) {
                    // Who waits for the bus comes too late for the choice that is made now.
                    self.selecting = !self.ready.is_empty();
                    return Some(std::mem::take(&mut self.work));
                }
            } else if !self.selecting
                && let Some(by) = self.port.take()
            {
                match by {
                    By::Host => self.take_command(now),
                    By::Drive => self.go_on(now),
                }
                if let Some(work) = self.gives_way(now) {
                    return Some(work);
                }
            } else {
                return None;
            }
        }
    }

    fn faults(&self) -> Option<FaultCounts> {
        None
    }

    fn forgo_energy(&mut self) {}

    fn rest(&mut self, _rest: Rest) {}

    fn failure(&mut self) -> Option<Error> {
        None
    }
}
