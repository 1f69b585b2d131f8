//! Service of pages by a controller that chooses what each die and each channel does next.
//!
//! In contrast to [`Lines`](super::lines::Lines), a die can be held until its page has crossed the channel, commands
//! can need the channel, and reads can go first. With none of these, the times are those of `Lines`.
//!
//! A free channel first takes a page that has been read; only then are commands sent, to the dies in turn. So under
//! more load than a channel can carry, its dies read in step (as in MQSim: Tavakkol et al., FAST 2018).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use slab::Slab;
use sledlab_core::{Span, Time};

use super::lines::{Event, Line};
use super::pages::{PageWrite, Pages};
use super::params::{Costs, Rules, Shape};

/// One page of a command.
#[derive(Clone, Copy, Debug)]
struct Page {
    step: Step,
    role: Role,
    /// Slot of the command in the device, if it is for one.
    command: u32,
    /// Number of the page among those of the host.
    logical: u32,
    /// Blocks of 512 bytes that cross the bus.
    blocks: u32,
    /// Blocks that cross a channel after the die has read them.
    fetched_blocks: u32,
    /// Blocks that cross a channel before the die programs them.
    loaded_blocks: u32,
    source_die: u32,
    target_die: u32,
    /// Block on the target die.
    target_block: u32,
    /// Whether the old page stays in the die until it is programmed with the new blocks.
    is_copyback: bool,
    /// Time for which the die is busy with programming, including the moves and erases before it that make room.
    program_time: Span,
    /// Energy of dies and channels, in mW ns.
    energy: u64,
}

/// What a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Read,
    Write,
    /// Garbage collection moves the page.
    Move,
    /// Not a page: the block from which pages were moved.
    Erase,
}

/// The step that a page is in or waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The page begins.
    Begin,
    /// The blocks of a write cross the bus.
    Accept,
    /// The command to read crosses the channel.
    Command,
    /// The die reads the page, for a read or for a write of a part of the page.
    Sense,
    /// The blocks that the die has read cross the channel.
    Fetch,
    /// The blocks of a read cross the bus.
    Send,
    /// The blocks to program cross the channel.
    Load,
    /// The die programs the page.
    Program,
    /// The die erases the block.
    Erase,
    /// The page is done.
    Done,
}

/// A die, and the pages that wait for it.
#[derive(Clone, Debug, Default)]
struct Die {
    is_busy: bool,
    /// Pages served in order of arrival: reads if they go first, otherwise all.
    first: VecDeque<u32>,
    /// Writes if reads go first.
    second: VecDeque<u32>,
    /// When the collection of a block began, if one is being collected, so that the die serves no page of the host.
    collecting_since: Option<Time>,
    /// Pages of that block, then the block to be erased.
    collection: VecDeque<u32>,
    /// Number of pages of the block that are not programmed yet.
    moves_left: u32,
    /// The page whose write began the collection, and is charged its energy.
    collected_for: u32,
    /// Pages of the host that wait for an erased block.
    held: VecDeque<u32>,
}

/// A channel, and the pages that wait for it.
#[derive(Clone, Debug, Default)]
struct Channel {
    is_busy: bool,
    /// Pages that wait to cross, in order of arrival.
    waiting: VecDeque<u32>,
    /// Rank on the channel of the die that may send the next command.
    turn: u32,
}

/// Dies, channels and the bus, and the pages of commands.
#[derive(Debug)]
pub(super) struct Controller {
    shape: Shape,
    costs: Costs,
    rules: Rules,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    bus: Line,
    pages: Slab<Page>,
    /// Ends of steps, with the slots of their pages.
    events: BinaryHeap<Event>,
    next_order: u64,
    /// Pages that are done, with their slots.
    done_pages: BinaryHeap<Event>,
    /// Time of collections that have ended, summed over the dies.
    pub collection_time: Span,
}

impl Controller {
    pub fn new(shape: Shape, costs: Costs, rules: Rules) -> Self {
        Controller {
            dies: vec![Die::default(); shape.dies as usize],
            channels: vec![Channel::default(); shape.channels as usize],
            bus: Line::default(),
            pages: Slab::new(),
            events: BinaryHeap::new(),
            next_order: 0,
            done_pages: BinaryHeap::new(),
            collection_time: Span::ZERO,
            shape,
            costs,
            rules,
        }
    }

    /// When the next step that is not simulated yet ends, or the next page is done, whichever is earlier.
    pub fn next_event(&self) -> Option<Time> {
        let at = |events: &BinaryHeap<Event>| events.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
        let next = at(&self.events).min(at(&self.done_pages));
        (next < Time::MAX).then_some(next)
    }

    /// Begins page `logical` of a command at `time`: `blocks` of it are read or written.
    pub fn begin(&mut self, time: Time, command: u32, is_write: bool, logical: u32, blocks: u32) {
        let role = if is_write { Role::Write } else { Role::Read };
        let slot = self.pages.insert(Page { role, command, logical, blocks, ..Page::NEW });
        self.end_step_at(time, slot as u32, Step::Begin);
    }

    /// Simulates all steps that end before a page of a command that arrives at `now` or later can begin.
    pub fn advance(&mut self, now: Time, map: &mut Pages) {
        let horizon = now + self.costs.command;
        while let Some(Reverse((time, _, slot))) = self.events.peek().copied()
            && time <= horizon
        {
            self.events.pop();
            self.end_step(time, slot, map);
        }
    }

    /// The next page that is done by `now`, if any: when it was done, the slot of its command, and its energy in mW ns.
    pub fn next_completion(&mut self, now: Time) -> Option<(Time, u32, u64)> {
        let Reverse((time, _, slot)) = *self.done_pages.peek()?;
        (time <= now).then(|| {
            self.done_pages.pop();
            let page = self.pages.remove(slot as usize);
            (time, page.command, page.energy)
        })
    }

    /// Notes that a page is in `step` until `time`.
    fn end_step_at(&mut self, time: Time, slot: u32, step: Step) {
        self.pages[slot as usize].step = step;
        let events = if step == Step::Done { &mut self.done_pages } else { &mut self.events };
        events.push(Reverse((time, self.next_order, slot)));
        self.next_order += 1;
    }

    /// Ends the step of a page, and starts or queues the next.
    fn end_step(&mut self, time: Time, slot: u32, map: &mut Pages) {
        let page = self.pages[slot as usize];
        match page.step {
            Step::Begin if page.role == Role::Write => self.cross_bus(time, slot, Step::Accept),
            Step::Begin => {
                let die = map.die(page.logical);
                let page = &mut self.pages[slot as usize];
                (page.source_die, page.fetched_blocks) = (die, page.blocks);
                page.energy += self.costs.read_energy + self.costs.channel_energy(page.blocks);
                self.queue_read(time, slot);
            }
            Step::Accept => self.allocate(time, slot, map),
            Step::Command => {
                let (span, step) = self.costs.die_step(page.role == Role::Erase);
                self.end_step_at(time + span, slot, step);
                self.free_channel(time, page.source_die);
            }
            Step::Sense => {
                self.pages[slot as usize].step = if page.is_copyback { Step::Load } else { Step::Fetch };
                self.channel(page.source_die).waiting.push_back(slot);
                self.dies[page.source_die as usize].is_busy = page.is_copyback || !self.rules.cache_registers;
                self.dispatch(time, page.source_die);
            }
            Step::Fetch => {
                if page.role == Role::Read {
                    self.cross_bus(time, slot, Step::Send);
                } else {
                    self.queue_write(slot);
                }
                if !self.rules.cache_registers {
                    self.dies[page.source_die as usize].is_busy = false;
                }
                self.free_channel(time, page.source_die);
                if page.role == Role::Write {
                    self.dispatch(time, page.target_die);
                }
            }
            Step::Load => {
                if self.rules.cache_registers && !page.is_copyback {
                    self.pages[slot as usize].step = Step::Program;
                    self.queue(slot);
                    self.start(time, page.target_die);
                } else {
                    self.end_step_at(time + page.program_time, slot, Step::Program);
                }
                self.free_channel(time, page.target_die);
            }
            Step::Program => {
                self.dies[page.target_die as usize].is_busy = false;
                if page.role == Role::Move {
                    self.end_move(slot);
                } else {
                    self.end_step_at(time, slot, Step::Done);
                    if self.shape.collects_blocks {
                        map.programmed(page.target_die, page.target_block);
                        self.collect_for_held(page.target_die, time, map);
                    }
                }
                self.dispatch(time, page.target_die);
            }
            Step::Erase => self.end_erase(time, slot, map),
            Step::Send => self.end_step_at(time, slot, Step::Done),
            Step::Done => {}
        }
    }

    fn cross_bus(&mut self, time: Time, slot: u32, step: Step) {
        let until = self.bus.serve(time, self.costs.bus(self.pages[slot as usize].blocks));
        self.end_step_at(until, slot, step);
    }

    /// Finds a place for a page that is written, and queues it, or the read of its other blocks.
    fn allocate(&mut self, time: Time, slot: u32, map: &mut Pages) {
        let logical = self.pages[slot as usize].logical;
        if !self.shape.collects_blocks {
            let written = map.write(logical);
            self.write(time, slot, &written);
            return;
        }
        let die = map.choose_die(logical);
        self.dies[die as usize].held.push_back(slot);
        self.write_held(time, die, map);
        self.collect_for_held(die, time, map);
    }

    /// Writes the pages that wait for a place on a die, as far as there is room.
    fn write_held(&mut self, time: Time, die: u32, map: &mut Pages) {
        while map.has_room(die)
            && let Some(slot) = self.dies[die as usize].held.pop_front()
        {
            let written = map.write_to(die, self.pages[slot as usize].logical);
            // A write that begins a collection waits for its end.
            self.collect(time, die, slot, map);
            self.write(time, slot, &written);
        }
    }

    /// Queues a page that has a place, or the read of its other blocks.
    fn write(&mut self, time: Time, slot: u32, written: &PageWrite) {
        let Controller { costs, shape, pages, rules, .. } = self;
        let page = &mut pages[slot as usize];
        page.set_target(written, shape, costs);
        let is_rewritten = page.fetched_blocks > 0;
        if is_rewritten && rules.copyback && page.source_die == page.target_die {
            (page.is_copyback, page.fetched_blocks, page.loaded_blocks) = (true, 0, page.blocks);
        }
        page.energy += written.energy(costs, is_rewritten, page.fetched_blocks + page.loaded_blocks);
        if is_rewritten {
            self.queue_read(time, slot);
        } else {
            self.queue_write(slot);
            self.dispatch(time, written.new_die);
        }
    }

    /// Begins to collect a block of a die for the first page that waits for a place there.
    fn collect_for_held(&mut self, die: u32, time: Time, map: &mut Pages) {
        if let Some(slot) = self.dies[die as usize].held.front().copied() {
            self.collect(time, die, slot, map);
        }
    }

    /// Begins to collect a block of a die if that is due; the command of page `slot` is charged the energy.
    fn collect(&mut self, time: Time, number: u32, slot: u32, map: &mut Pages) {
        let Some(moves) = map.begin_collection(number) else { return };
        let page_blocks = self.shape.page_blocks;
        self.pages[slot as usize].energy += self.costs.collection_energy(moves, page_blocks);
        let die = &mut self.dies[number as usize];
        (die.collecting_since, die.collected_for, die.moves_left) = (Some(time), slot, moves);
        let page =
            Page { source_die: number, target_die: number, program_time: self.costs.program, ..Page::NEW };
        for _ in 0..moves {
            let page =
                Page { role: Role::Move, fetched_blocks: page_blocks, loaded_blocks: page_blocks, ..page };
            let slot = self.pages.insert(page) as u32;
            self.queue_read(time, slot);
        }
        if moves == 0 {
            let slot = self.pages.insert(Page { role: Role::Erase, ..page }) as u32;
            self.queue_read(time, slot);
        }
    }

    /// Ends the move of a page; after the last one of its block, the block is erased.
    fn end_move(&mut self, slot: u32) {
        let number = self.pages[slot as usize].target_die;
        let die = &mut self.dies[number as usize];
        die.moves_left -= 1;
        if die.moves_left == 0 {
            let page = &mut self.pages[slot as usize];
            page.role = Role::Erase;
            self.set_read_step(slot);
            self.queue(slot);
        } else {
            self.pages.remove(slot as usize);
        }
    }

    /// Ends the erasure of a block, and collects the next one if there are still too few erased blocks.
    fn end_erase(&mut self, time: Time, slot: u32, map: &mut Pages) {
        let number = self.pages.remove(slot as usize).source_die;
        map.end_collection(number);
        let die = &mut self.dies[number as usize];
        die.is_busy = false;
        let collected_for = die.collected_for;
        if let Some(since) = die.collecting_since.take() {
            self.collection_time += time.since(since);
        }
        self.collect(time, number, collected_for, map);
        self.write_held(time, number, map);
        self.dispatch(time, number);
    }

    /// Queues a page that the die reads, or a block that it erases.
    fn queue_read(&mut self, time: Time, slot: u32) {
        self.set_read_step(slot);
        self.queue(slot);
        self.dispatch(time, self.pages[slot as usize].source_die);
    }

    fn set_read_step(&mut self, slot: u32) {
        let page = &mut self.pages[slot as usize];
        page.step = if self.costs.channel_command > Span::ZERO {
            Step::Command
        } else {
            self.costs.die_step(page.role == Role::Erase).1
        };
    }

    /// Queues the blocks to program: for the channel, or for a die that is held meanwhile.
    fn queue_write(&mut self, slot: u32) {
        let page = &mut self.pages[slot as usize];
        page.step = Step::Load;
        let die = page.target_die;
        if self.rules.cache_registers {
            self.channel(die).waiting.push_back(slot);
        } else {
            self.queue(slot);
        }
    }

    /// Queues a page for its die.
    fn queue(&mut self, slot: u32) {
        let page = &self.pages[slot as usize];
        let is_read = matches!(page.step, Step::Command | Step::Sense);
        let die = &mut self.dies[if is_read { page.source_die } else { page.target_die } as usize];
        let queue = match page.role {
            Role::Move | Role::Erase => &mut die.collection,
            _ if is_read || !self.rules.reads_first => &mut die.first,
            _ => &mut die.second,
        };
        queue.push_back(slot);
    }

    fn channel(&mut self, die: u32) -> &mut Channel {
        &mut self.channels[self.shape.channel(die) as usize]
    }

    fn free_channel(&mut self, time: Time, die: u32) {
        self.channel(die).is_busy = false;
        self.dispatch(time, die);
    }

    /// Starts what can start on `die` and its channel.
    fn dispatch(&mut self, time: Time, die: u32) {
        let Shape { channels, dies, .. } = self.shape;
        let channel = self.channel(die);
        if !channel.is_busy
            && let Some(slot) = channel.waiting.pop_front()
        {
            channel.is_busy = true;
            let Page { step, fetched_blocks, loaded_blocks, .. } = self.pages[slot as usize];
            let span = if step == Step::Fetch {
                self.costs.channel(fetched_blocks)
            } else {
                self.costs.channel_command + self.costs.channel(loaded_blocks)
            };
            self.end_step_at(time + span, slot, step);
        }
        for _ in 0..dies / channels {
            let channel = self.channel(die);
            if channel.is_busy {
                break;
            }
            let next_die = die % channels + channel.turn * channels;
            channel.turn = (channel.turn + 1) % (dies / channels);
            self.start(time, next_die);
        }
        self.start(time, die);
    }

    /// Starts the next page on a die, if the die is free, and its channel if the page needs it.
    fn start(&mut self, time: Time, number: u32) {
        let is_channel_busy = self.channel(number).is_busy;
        let die = &mut self.dies[number as usize];
        let queue = if die.collecting_since.is_some() {
            &mut die.collection
        } else if die.first.is_empty() {
            &mut die.second
        } else {
            &mut die.first
        };
        let Some(slot) = queue.front().copied() else { return };
        let Page { step, loaded_blocks, program_time, .. } = self.pages[slot as usize];
        let needs_channel = matches!(step, Step::Command | Step::Load);
        if die.is_busy || needs_channel && is_channel_busy {
            return;
        }
        queue.pop_front();
        die.is_busy = true;
        let span = match step {
            Step::Command => self.costs.channel_command,
            Step::Sense | Step::Erase => self.costs.die_step(step == Step::Erase).0,
            Step::Load => self.costs.channel_command + self.costs.channel(loaded_blocks),
            _ => program_time,
        };
        self.channel(number).is_busy |= needs_channel;
        self.end_step_at(time + span, slot, step);
    }
}

impl Costs {
    /// What a die does after a command, and for how long: it erases or reads.
    fn die_step(&self, is_erase: bool) -> (Span, Step) {
        if is_erase { (self.erase, Step::Erase) } else { (self.read, Step::Sense) }
    }
}

impl Page {
    /// A page of which nothing is known.
    const NEW: Page = Page {
        step: Step::Begin,
        role: Role::Read,
        command: 0,
        logical: 0,
        blocks: 0,
        fetched_blocks: 0,
        loaded_blocks: 0,
        source_die: 0,
        target_die: 0,
        target_block: 0,
        is_copyback: false,
        program_time: Span::ZERO,
        energy: 0,
    };

    /// Notes where the page goes, and for how long the die is busy.
    fn set_target(&mut self, written: &PageWrite, shape: &Shape, costs: &Costs) {
        (self.target_die, self.target_block) = (written.new_die, written.new_block);
        self.source_die = written.old_die.unwrap_or(written.new_die);
        (self.fetched_blocks, self.loaded_blocks) = written.channel_blocks(shape, self.blocks);
        self.program_time = written.program_time(costs);
    }
}
