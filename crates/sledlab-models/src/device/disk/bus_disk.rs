//! A disk that takes turns on its bus: it holds several commands at once, or shares the bus with other drives.
//!
//! A command holds the bus during its overhead, and data holds it while crossing. A drive of several commands accepts
//! the next command while the mechanism works on another: the overhead is over when that command's turn comes, and
//! the data of a write crosses while the arm moves. The mechanism is occupied by a read until its data has crossed,
//! by a write until it is on the medium. The rules are facts about the reference simulator: from its public
//! description, and measured on its runs.

use std::collections::VecDeque;

use sledlab_core::hash::Map;
use sledlab_core::{Op, Result, Span, Time};

use super::controller::{CommandEntry, CommandResult, Controller, StartedCommand};
use super::drive::Drive;
use super::params::DiskParams;
use crate::device::bus::{Bus, Port, Requester};
use crate::device::{BusyPeriod, Device, Mechanics, QueuedRequest, ServedRequest, Timing};
use crate::power::MechanicalWork;

/// The shortest span that times can express.
const MIN_SPAN: Span = Span::from_ns(1);

/// A disk that takes turns on its bus.
#[derive(Debug)]
pub struct BusDisk {
    drive: Drive,
    controller: Controller,
    port: Port,
    /// Queue depth: commands in the drive at once. With one, a command is served as it comes; with several, the drive
    /// reports through `pop_admitted` which commands have arrived.
    depth: usize,
    /// Commands that wait outside the drive until others complete.
    delayed_commands: VecDeque<QueuedRequest>,
    /// Number of commands that have requested the bus and are not complete.
    accepted_commands: usize,
    /// Commands that wait for the bus, in the order of their requests for it.
    bus_requests: VecDeque<QueuedRequest>,
    /// The use of the bus by this drive, if it has the bus.
    hold: Option<BusHold>,
    /// Commands that have come over the bus and that `pop_admitted` has not returned yet.
    arrived_commands: VecDeque<QueuedRequest>,
    /// End of the overhead of each command that has arrived and that the mechanism has not selected.
    ready_times: Map<u64, Time>,
    active: Option<Active>,
    /// The remaining commands of the batch of the active command.
    batch_rest: VecDeque<QueuedRequest>,
    /// Work of the mechanism for the batch so far.
    work: MechanicalWork,
    /// Until when the mechanism writes data of writes that were complete before the active command came.
    write_behind_end: Time,
    /// Whether the scheduler is about to choose one of the ready commands: until then no other command takes the bus.
    is_selecting: bool,
}

#[derive(Clone, Copy, Debug)]
enum BusHold {
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

impl BusHold {
    fn until(self) -> Time {
        match self {
            BusHold::Command { until, .. } | BusHold::Data { until } | BusHold::Answer { until } => until,
        }
    }
}

/// The command on the mechanism.
#[derive(Clone, Copy, Debug)]
struct Active {
    request: QueuedRequest,
    start: Time,
    started: Option<StartedCommand>,
    result: Option<CommandResult>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Requests the bus at this time.
    NeedsBus(Time),
    /// Waits for the bus, or holds it.
    OnBus,
    /// Complete; the mechanism is busy with the command until this time.
    Behind(Time),
}

impl BusDisk {
    /// A parked disk on `bus` with its arm over the first track and an empty buffer.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub fn new(params: &DiskParams, bus: &Bus) -> Result<Self> {
        let drive = Drive::new(params)?;
        let depth = params.flat.queue_depth as usize;
        Ok(BusDisk {
            controller: Controller::new(params, drive.overheads())?,
            drive,
            port: bus.attach(),
            depth,
            delayed_commands: VecDeque::new(),
            accepted_commands: 0,
            bus_requests: VecDeque::new(),
            hold: None,
            arrived_commands: VecDeque::new(),
            ready_times: Map::default(),
            active: None,
            batch_rest: VecDeque::new(),
            work: MechanicalWork::default(),
            write_behind_end: Time::ZERO,
            is_selecting: false,
        })
    }

    /// Requests the bus for a command.
    fn request_bus_for_command(&mut self, now: Time, request: QueuedRequest) {
        self.accepted_commands += 1;
        self.bus_requests.push_back(request);
        self.port.request(now, Requester::Host);
    }

    /// Requests the bus for as many commands as the drive can accept.
    fn fill_command_slots(&mut self, now: Time) {
        while self.accepted_commands < self.depth
            && let Some(request) = self.delayed_commands.pop_front()
        {
            self.request_bus_for_command(now, request);
        }
    }

    /// Selects the next command of its batch; false if the batch is done.
    fn start_next_command(&mut self, now: Time) -> bool {
        let Some(request) = self.batch_rest.pop_front() else { return false };
        self.active = Some(Active { request, start: now, started: None, result: None, phase: Phase::OnBus });
        if self.depth == 1 {
            self.request_bus_for_command(now, request);
            return true;
        }
        let ready = self.ready_times.remove(&request.id).unwrap_or(now);
        match self.hold {
            Some(BusHold::Command { id, since, .. }) if id == request.id && since == now => {
                self.begin(now, CommandEntry::Fresh);
            }
            _ => self.begin(now, CommandEntry::Waited(ready)),
        }
        true
    }

    /// Begins the active command at `now`. A command that has just come keeps the bus if its data can follow.
    fn begin(&mut self, now: Time, entry: CommandEntry) {
        let Some(mut active) = self.active.take() else { return };
        let started =
            self.controller.begin(&mut self.drive, now, &active.request, entry).with_start(active.start);
        active.started = Some(started);
        active.phase = Phase::NeedsBus(started.bus_ready);
        self.active = Some(active);
        if matches!(entry, CommandEntry::Fresh) && started.keeps_bus() {
            self.transfer_data(started.bus_ready);
        }
    }

    /// Grants the bus to the data of the active command at `grant_time`.
    fn transfer_data(&mut self, grant_time: Time) {
        let Some(Active { started: Some(started), result, phase, .. }) = &mut self.active else { return };
        let new_result = self.controller.transfer(&mut self.drive, started, grant_time);
        self.hold = Some(BusHold::Data { until: new_result.transfer_end });
        (*result, *phase) = (Some(new_result), Phase::OnBus);
    }

    /// Gives the bus, which the drive has just taken, to the next command that requested it.
    fn take_command(&mut self, now: Time) {
        let Some(request) = self.bus_requests.pop_front() else { return };
        let ready = now + self.controller.admission(request.op);
        // The command keeps the bus for at least an instant, so that an idle mechanism selects the command before the
        // bus is released.
        let until = if self.depth == 1 { ready } else { ready.max(now + MIN_SPAN) };
        self.hold = Some(BusHold::Command { id: request.id, since: now, until });
        if self.depth == 1 {
            self.begin(now, CommandEntry::Fresh);
        } else {
            self.ready_times.insert(request.id, ready);
            self.arrived_commands.push_back(request);
        }
    }

    /// Gives the bus, which the drive has just taken, to the active command: for its data, or for the completion of a
    /// write to the medium.
    fn resume_active(&mut self, now: Time) {
        let Some(Active { result: Some(result), .. }) = &mut self.active else {
            self.transfer_data(now);
            return;
        };
        let until = now + result.answer.unwrap_or_default();
        result.timing.transfer += until.since(result.completion);
        result.completion = until;
        self.hold = Some(BusHold::Answer { until });
    }

    /// Makes the mechanism select at once a write that has just come if it continues the blocks of the active write,
    /// which is complete, and no other command waits. Returns the mechanical work so far; `None` if the mechanism
    /// does not select that write.
    fn try_append_write(&mut self, now: Time) -> Option<MechanicalWork> {
        let Some(Active { phase: Phase::Behind(until), .. }) = self.active else { return None };
        let request = self.arrived_commands.back().filter(|request| request.op == Op::Write)?;
        if self.ready_times.len() > 1 || !self.batch_rest.is_empty() || !self.controller.appends(now, request)
        {
            return None;
        }
        self.active = None;
        self.write_behind_end = until;
        // The time still needed to write the blocks was charged to the active write; it is left for the next one.
        let remaining_time = until.since(now);
        let remaining_work =
            MechanicalWork { seek: remaining_time.min(self.work.seek), ..MechanicalWork::default() };
        let remaining_work =
            MechanicalWork { access: remaining_time - remaining_work.seek, ..remaining_work };
        let total_work = std::mem::replace(&mut self.work, remaining_work);
        Some(MechanicalWork {
            seek: total_work.seek - remaining_work.seek,
            access: total_work.access - remaining_work.access,
            ..total_work
        })
    }

    /// Ends the current hold of the bus at `now`, and releases the bus.
    fn release_bus(&mut self, now: Time, served: &mut Vec<ServedRequest>) {
        let hold = self.hold.take();
        let needs_answer =
            self.active.as_ref().and_then(|active| active.result).is_some_and(|d| d.answer.is_some());
        match hold {
            Some(BusHold::Data { .. }) if needs_answer => {
                if let Some(Active { result: Some(result), phase, .. }) = &mut self.active {
                    *phase = Phase::NeedsBus(result.arm_free);
                }
            }
            Some(BusHold::Data { .. } | BusHold::Answer { .. }) => {
                self.complete(served);
                self.fill_command_slots(now);
            }
            Some(BusHold::Command { .. }) | None => {}
        }
        self.port.release_bus(now);
    }

    /// Completes the active command.
    fn complete(&mut self, served: &mut Vec<ServedRequest>) {
        let Some(Active { request, start, result: Some(result), phase, .. }) = &mut self.active else {
            return;
        };
        let (request, start, write_behind) = (*request, *start, result.write_behind(request.op));
        let CommandResult { completion, timing, arm_free, .. } = *result;
        // For a drive of one command the scheduler chooses the next as soon as that command is complete.
        let free_at = if self.depth == 1 { completion } else { completion.max(arm_free) };
        *phase = Phase::Behind(free_at);
        // Time for the command overhead, the bus and waits for it counts as seek: the disk draws as much power then.
        let busy = free_at.since(start.max(self.write_behind_end));
        let access = timing.transfer.saturating_sub(timing.reposition).min(busy);
        let work = MechanicalWork { seek: busy - access, access, ..MechanicalWork::default() };
        self.work += work;
        let energy = self.drive.power_rates().energy(&work);
        served.push(ServedRequest {
            request,
            start,
            completion,
            write_behind,
            timing,
            energy,
            device: Some(0),
        });
        self.controller.record_operation(request.op);
        self.accepted_commands -= 1;
    }

    /// Requests the bus for the active command at `now` if the command is ready for the bus, but not before the
    /// overhead of a command that this drive is accepting has ended. Returns whether the state has changed.
    fn request_bus_for_active(&mut self, now: Time) -> bool {
        let hold = self.hold;
        let Some(Active { phase, .. }) = &mut self.active else { return false };
        match (&phase, hold) {
            (Phase::NeedsBus(at), _) if *at > now => return false,
            (Phase::NeedsBus(_), Some(BusHold::Command { since, until, .. }))
                if since < now && until > now =>
            {
                *phase = Phase::NeedsBus(until);
                return true;
            }
            (Phase::NeedsBus(_), _) => {}
            _ => return false,
        }
        *phase = Phase::OnBus;
        self.port.request(now, Requester::Drive);
        true
    }
}

impl Device for BusDisk {
    fn mechanics(&self) -> &dyn Mechanics {
        &self.drive
    }

    /// The timing of the request if the drive had the bus to itself.
    fn probe(&self, now: Time, request: &QueuedRequest) -> Timing {
        let (mut drive, mut controller) = (self.drive.clone(), self.controller.clone());
        if self.depth == 1 {
            return controller.serve(&mut drive, now, request).timing;
        }
        let started = controller.begin(&mut drive, now, request, CommandEntry::Waited(now));
        controller.transfer(&mut drive, &started, started.bus_ready).timing
    }

    fn set_time(&mut self, now: Time) {
        self.controller.enter_buffered_blocks(&mut self.drive, now);
        self.controller.set_time(&mut self.drive, now);
    }

    fn admit(&mut self, now: Time, request: &QueuedRequest) -> Time {
        if self.depth == 1 {
            return now;
        }
        self.delayed_commands.push_back(*request);
        self.fill_command_slots(now);
        Time::MAX
    }

    fn pop_admitted(&mut self) -> Option<QueuedRequest> {
        self.arrived_commands.pop_front()
    }

    fn issue(
        &mut self,
        now: Time,
        batch: &[QueuedRequest],
        _served: &mut Vec<ServedRequest>,
    ) -> Option<BusyPeriod> {
        self.is_selecting = false;
        self.batch_rest.extend(batch);
        self.start_next_command(now);
        None
    }

    fn has_background_work(&self) -> bool {
        true
    }

    fn next_wakeup(&self) -> Option<Time> {
        let phase_end = match &self.active {
            Some(Active { phase: Phase::NeedsBus(at) | Phase::Behind(at), .. }) => Some(*at),
            _ => None,
        };
        let offer_time = if self.is_selecting { None } else { self.port.offer_time() };
        [self.hold.map(BusHold::until), phase_end, offer_time].into_iter().flatten().min()
    }

    fn wake(&mut self, now: Time, served: &mut Vec<ServedRequest>) -> Option<MechanicalWork> {
        loop {
            if self.hold.is_some_and(|hold| hold.until() <= now) {
                self.release_bus(now, served);
            } else if self.request_bus_for_active(now) {
            } else if let Some(Active { phase: Phase::Behind(until), .. }) = self.active
                && until <= now
            {
                self.active = None;
                if !self.start_next_command(now) {
                    // A command that still waits for the bus comes too late for the choice that the scheduler makes
                    // now.
                    self.is_selecting = !self.ready_times.is_empty();
                    return Some(std::mem::take(&mut self.work));
                }
            } else if !self.is_selecting
                && let Some(accepted_by) = self.port.take()
            {
                match accepted_by {
                    Requester::Host => self.take_command(now),
                    Requester::Drive => self.resume_active(now),
                }
                if let Some(work) = self.try_append_write(now) {
                    return Some(work);
                }
            } else {
                return None;
            }
        }
    }

    fn has_volatile_buffer(&self) -> bool {
        self.controller.buffers_writes()
    }
}
