//! The flash device: accepts commands up to its queue depth, and completes each when its last page is done.
//!
//! A command starts up to [`MAX_PAGES`] pages at once. Of a longer command, each page that is done starts the next one,
//! so that a command takes the same memory whatever its length.
//!
//! The device is busy from the arrival of the first command to the completion of the last. The energy of the
//! controller in that time is shared evenly among the commands in the device; the energy of dies and channels is
//! charged to the command they work for, to a write also that of the pages moved for it. So the device does no work
//! between commands.

use sledlab_core::{Op, Result, Span, Time};

use super::allocation::Allocation;
use super::controller::Controller;
use super::lines::{Lines, PageOperation, Step};
use super::pages::{PageCounts, Pages};
use super::params::{Costs, Rules, Shape, SsdParams};
use crate::device::{
    BusyPeriod, Device, DeviceState, Extent, FlashCounts, Location, Mechanics, QueuedRequest, ServedRequest,
    Timing,
};
use crate::power::{MechanicalWork, PowerRates};

/// Pages of one command in the device at once: more than dies, channels and bus work on at a time.
const MAX_PAGES: u32 = 4096;

/// A flash device.
#[derive(Debug)]
pub(super) struct Drive {
    flash: Flash,
    pages: Pages,
    service: Service,
    queue_depth: usize,
    /// Commands by slot; `empty` lists the free slots.
    commands: Vec<Command>,
    empty: Vec<u32>,
    /// When the device became busy.
    since: Time,
    /// Energy of dies and channels since then, in mW ns.
    energy: u64,
    shares: Shares,
}

/// Who decides what dies and channels do next.
#[derive(Debug)]
enum Service {
    /// Each serves pages in order of arrival, which takes fewer events.
    InOrder(Lines),
    Controlled(Controller),
}

/// A command in the device.
#[derive(Clone, Copy, Debug)]
struct Command {
    request: QueuedRequest,
    start: Time,
    /// Number of pages that have started and are not done.
    pages: u32,
    /// First block of the pages that have not started.
    next: u64,
    /// Energy of dies and channels for the command, in mW ns.
    energy: u64,
    /// [`Shares::each_ns`] when the command came.
    share_at_start_ns: f64,
}

/// The controller time of each command, if time is shared evenly among the commands in the device.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    /// Share of a command that has been in the device since the device became busy.
    each_ns: f64,
    until: Time,
}

/// Unit of power in which the energy of dies and channels is counted, in mW ns.
const UNIT_MW: f64 = 1.0;
/// Microjoules in a mW ns.
const UJ: f64 = 1e-6;

impl Shares {
    /// Shares out the time up to `now` among `commands` commands.
    fn pass(&mut self, now: Time, commands: usize) {
        self.each_ns += now.since(self.until).as_ns() as f64 / commands.max(1) as f64;
        self.until = now;
    }
}

impl Drive {
    /// A device without commands.
    pub fn new(params: &SsdParams) -> Result<Self> {
        let (shape, costs, rules) = (Shape::new(params)?, Costs::new(params), Rules::new(params));
        let rates = PowerRates {
            active_mw: params.active_mw,
            tip_mw: UNIT_MW,
            writing_tip_mw: UNIT_MW,
            startup_mw: params.startup_mw,
            inactive_mw: params.inactive_mw,
            startup: Span::from_ms(params.startup_ms),
        };
        Ok(Drive {
            flash: Flash { shape, costs, rates, idle_mw: params.idle_mw },
            pages: Pages::new(shape, Allocation::new(params)?),
            service: if rules.is_in_order(&shape, &costs) {
                Service::InOrder(Lines::new(shape, costs))
            } else {
                Service::Controlled(Controller::new(shape, costs, rules))
            },
            queue_depth: params.queue_depth as usize,
            commands: Vec::new(),
            empty: Vec::new(),
            since: Time::ZERO,
            energy: 0,
            shares: Shares::default(),
        })
    }

    fn outstanding_commands(&self) -> usize {
        self.commands.len() - self.empty.len()
    }

    /// Accepts a command.
    fn take(&mut self, now: Time, request: &QueuedRequest) {
        if self.outstanding_commands() == 0 {
            (self.since, self.energy) = (now, 0);
            self.shares = Shares { each_ns: 0.0, until: now };
        }
        self.shares.pass(now, self.outstanding_commands());
        let place = self.empty.pop().unwrap_or(self.commands.len() as u32);
        let share_at_start_ns = self.shares.each_ns;
        let command = Command {
            request: *request,
            start: now,
            pages: 0,
            next: request.lbn,
            energy: 0,
            share_at_start_ns,
        };
        if let Some(slot) = self.commands.get_mut(place as usize) {
            *slot = command;
        } else {
            self.commands.push(command);
        }
        self.start_pages(now + self.flash.costs.command, place);
    }

    /// Starts pages of the command `place` at `time`, as many as there is room for.
    fn start_pages(&mut self, time: Time, place: u32) {
        let mut command = self.commands[place as usize];
        let page_blocks = u64::from(self.flash.shape.page_blocks);
        let end = command.request.lbn + u64::from(command.request.blocks);
        while command.next < end && command.pages < MAX_PAGES {
            let page = command.next / page_blocks;
            let next = ((page + 1) * page_blocks).min(end);
            let (logical, blocks) = (page as u32, (next - command.next) as u32);
            let is_write = command.request.op == Op::Write;
            if let Service::Controlled(controller) = &mut self.service {
                controller.begin(time, place, is_write, logical, blocks);
            } else {
                command.energy += self.start_page(time, place, is_write, logical, blocks);
            }
            command.pages += 1;
            command.next = next;
        }
        self.commands[place as usize] = command;
    }

    /// Starts a page that is served in order of arrival; returns its energy.
    fn start_page(&mut self, time: Time, command: u32, is_write: bool, logical: u32, blocks: u32) -> u64 {
        let (operation, energy) = if is_write {
            self.write_page(command, logical, blocks)
        } else {
            self.read_page(command, logical, blocks)
        };
        if let Service::InOrder(lines) = &mut self.service {
            lines.begin(time, operation);
        }
        self.energy += energy;
        energy
    }

    /// The steps of a page that is read, and their energy.
    fn read_page(&self, command: u32, logical: u32, blocks: u32) -> (PageOperation, u64) {
        let costs = &self.flash.costs;
        let die = self.pages.die(logical);
        let step = Step::Sense { writes: false };
        let operation = PageOperation {
            step,
            command,
            source_die: die,
            target_die: die,
            blocks,
            fetched_blocks: blocks,
            loaded_blocks: 0,
            program_time: Span::ZERO,
        };
        (operation, costs.read_energy + costs.channel_energy(blocks))
    }

    /// The steps of a page that is written, and their energy.
    fn write_page(&mut self, command: u32, logical: u32, blocks: u32) -> (PageOperation, u64) {
        let Flash { shape, costs, .. } = &self.flash;
        let written = self.pages.write(logical);
        let (fetched_blocks, loaded_blocks) = written.channel_blocks(shape, blocks);
        let operation = PageOperation {
            step: Step::Accept,
            command,
            source_die: written.old_die.unwrap_or(written.new_die),
            target_die: written.new_die,
            blocks,
            fetched_blocks,
            loaded_blocks,
            program_time: written.program_time(costs),
        };
        (operation, written.energy(costs, fetched_blocks > 0, fetched_blocks + loaded_blocks))
    }

    /// Simulates the steps of pages up to `now`.
    fn advance(&mut self, now: Time) {
        match &mut self.service {
            Service::InOrder(lines) => lines.advance(now),
            Service::Controlled(controller) => controller.advance(now, &mut self.pages),
        }
    }

    /// The next page that is done by `now`, if any: when it was done, and the slot of its command, which is charged the
    /// energy of the page.
    fn next_completion(&mut self, now: Time) -> Option<(Time, u32)> {
        match &mut self.service {
            Service::InOrder(lines) => lines.next_completion(now),
            Service::Controlled(controller) => {
                let (completion, place, energy) = controller.next_completion(now)?;
                self.commands[place as usize].energy += energy;
                self.energy += energy;
                Some((completion, place))
            }
        }
    }

    /// Completes a command, whose last page is done at `at`.
    fn complete(&mut self, at: Time, place: u32) -> ServedRequest {
        self.shares.pass(at, self.outstanding_commands());
        let Command { request, start, energy, share_at_start_ns, .. } = self.commands[place as usize];
        self.empty.push(place);
        let overhead = self.flash.costs.command;
        let transfer = at.since(start).saturating_sub(overhead);
        let controller_uj = self.flash.rates.active_mw * (self.shares.each_ns - share_at_start_ns) * UJ;
        let mut spent_energy =
            self.flash.rates.energy(&MechanicalWork { tip_ns: energy, ..MechanicalWork::default() });
        spent_energy.access_uj += controller_uj;
        let timing = Timing { overhead, transfer, ..Timing::default() };
        let (write_behind, device) = (Span::ZERO, Some(0));
        ServedRequest { request, start, completion: at, write_behind, timing, energy: spent_energy, device }
    }
}

impl Device for Drive {
    fn mechanics(&self) -> &dyn Mechanics {
        &self.flash
    }

    /// The timing of the request in an idle device.
    fn probe(&self, _now: Time, request: &QueuedRequest) -> Timing {
        Timing { overhead: self.flash.costs.command, ..self.flash.idle_timing(request) }
    }

    fn issue(
        &mut self,
        now: Time,
        batch: &[QueuedRequest],
        _served: &mut Vec<ServedRequest>,
    ) -> Option<BusyPeriod> {
        for request in batch {
            self.take(now, request);
        }
        self.advance(now);
        None
    }

    fn can_accept_batch(&self) -> bool {
        self.outstanding_commands() < self.queue_depth
    }

    fn has_background_work(&self) -> bool {
        true
    }

    fn next_wakeup(&self) -> Option<Time> {
        match &self.service {
            Service::InOrder(lines) => lines.next_event(),
            Service::Controlled(controller) => controller.next_event(),
        }
    }

    fn wake(&mut self, now: Time, served: &mut Vec<ServedRequest>) -> Option<MechanicalWork> {
        let outstanding_before = self.outstanding_commands();
        self.advance(now);
        while let Some((completion, place)) = self.next_completion(now) {
            self.commands[place as usize].pages -= 1;
            // Steps that begin up to one overhead from now are simulated already.
            self.start_pages(now + self.flash.costs.command, place);
            if self.commands[place as usize].pages == 0 {
                let completed = self.complete(completion, place);
                served.push(completed);
            }
        }
        (outstanding_before > 0 && self.outstanding_commands() == 0).then(|| MechanicalWork {
            access: now.since(self.since),
            tip_ns: std::mem::take(&mut self.energy),
            ..MechanicalWork::default()
        })
    }

    fn flash(&self) -> Option<FlashCounts> {
        let PageCounts { host_pages, moved_pages, erased_blocks } = self.pages.counts;
        Some(FlashCounts {
            written_pages: host_pages,
            moved_pages,
            erased_blocks,
            collection_time: match &self.service {
                Service::Controlled(controller) if self.flash.shape.collects_blocks => {
                    controller.collection_time
                }
                _ => self.flash.costs.collection_time(moved_pages, erased_blocks),
            },
            dies: self.flash.shape.dies,
            steady_write_amplification: self.pages.steady_write_amplification(),
        })
    }
}

/// The device as schedulers see it: blocks have no positions.
#[derive(Clone, Debug)]
struct Flash {
    shape: Shape,
    costs: Costs,
    rates: PowerRates,
    idle_mw: f64,
}

impl Flash {
    /// The timing of a request in an idle device, without command overhead, its pages spread evenly over dies. It is
    /// exact for one complete page, and for a read of less than a page, if no pages are moved; otherwise it is an
    /// estimate.
    fn idle_timing(&self, request: &QueuedRequest) -> Timing {
        let Flash { shape, costs, .. } = self;
        let page_blocks = u64::from(shape.page_blocks);
        let end = request.lbn + u64::from(request.blocks);
        let pages = end.div_ceil(page_blocks) - request.lbn / page_blocks;
        let rounds = pages.div_ceil(u64::from(shape.dies));
        let pages_per_channel = pages.div_ceil(u64::from(shape.channels));
        let blocks_per_page = if pages == 1 { request.blocks } else { shape.page_blocks };
        let (die_time, channel_time) = if request.op == Op::Write {
            (costs.program, costs.channel(shape.page_blocks))
        } else {
            (costs.read, costs.channel(blocks_per_page))
        };
        // The slowest of dies, channels and bus is never idle; the time of the other two counts once.
        let parts =
            [(die_time, rounds), (channel_time, pages_per_channel), (costs.bus(blocks_per_page), pages)];
        let slowest =
            parts.iter().map(|(span, times)| span.saturating_mul(times - 1)).max().unwrap_or(Span::ZERO);
        let transfer = slowest + costs.channel_command + die_time + channel_time + costs.bus(blocks_per_page);
        Timing { transfer, ..Timing::default() }
    }
}

impl Mechanics for Flash {
    fn capacity_blocks(&self) -> u64 {
        self.shape.capacity_blocks()
    }

    fn state(&self) -> DeviceState {
        DeviceState::ORIGIN
    }

    fn location(&self, _lbn: u64) -> Location {
        Location::ORIGIN
    }

    fn extent(&self) -> Extent {
        Extent { cylinders: 1, rows: 1, blocks_per_track: self.capacity_blocks() }
    }

    /// A page of each die.
    fn parallel_blocks(&self) -> u32 {
        self.shape.page_blocks * self.shape.dies
    }

    fn positioning_from(&self, _state: DeviceState, _request: &QueuedRequest) -> Span {
        Span::ZERO
    }

    fn serve_from(&self, state: DeviceState, request: &QueuedRequest) -> (Timing, DeviceState) {
        (self.idle_timing(request), state)
    }

    fn snapshot(&self) -> Box<dyn Mechanics> {
        Box::new(self.clone())
    }

    fn power_rates(&self) -> PowerRates {
        self.rates
    }

    fn idle_mw(&self) -> f64 {
        self.idle_mw
    }
}
