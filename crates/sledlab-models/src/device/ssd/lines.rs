//! Service of pages by dies, channels and the bus: each serves one page at a time, first come first served.
//!
//! A command that arrives later reaches them only after its overhead. So all steps that begin until one overhead after
//! the current time are certain and are simulated at once, so that the device needs fewer events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slab::Slab;
use sledlab_core::{Span, Time};

use super::params::{Costs, Shape};

/// One page of a command, and the steps it goes through.
///
/// A page that is read goes from its die over its channel and the bus. A page that is written comes over the bus and
/// its channel to its die; if only a part is written and the other part contains data, the old page is read first, over
/// its own channel, and the complete page goes to the die.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageOperation {
    pub step: Step,
    /// Slot of the command in the device.
    pub command: u32,
    /// The die that reads the page.
    pub source_die: u32,
    /// The die that programs the page.
    pub target_die: u32,
    /// Blocks of 512 bytes that cross the bus.
    pub blocks: u32,
    /// Blocks that cross a channel after the die has read them.
    pub fetched_blocks: u32,
    /// Blocks that cross a channel before the die programs them.
    pub loaded_blocks: u32,
    /// Time for which the die is busy with programming, including the moves and erases before it that make room.
    pub program_time: Span,
}

/// The next step of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The blocks of a write cross the bus.
    Accept,
    /// The die reads a page, for a read or for a write of a part of the page.
    Sense { writes: bool },
    /// The blocks that the die has read cross the channel.
    Fetch { writes: bool },
    /// The blocks of a read cross the bus.
    Send,
    /// The page crosses the channel to its die.
    Load,
    /// The die programs the page.
    Program,
    /// The page is done.
    Done,
}

/// A die, a channel or the bus: serves one page at a time, and is free from `free_at` on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    free_at: Time,
}

impl Line {
    /// Serves a page that comes at `now` and takes `span`; returns when it is done.
    pub fn serve(&mut self, now: Time, span: Span) -> Time {
        self.free_at = self.free_at.max(now) + span;
        self.free_at
    }
}

/// Time of an event, its number in order of creation, which decides between equal times, and the slot of its page or
/// command.
pub(super) type Event = Reverse<(Time, u64, u32)>;

/// Dies, channels and the bus, and the pages in transfer.
#[derive(Debug)]
pub(super) struct Lines {
    shape: Shape,
    costs: Costs,
    dies: Vec<Line>,
    channels: Vec<Line>,
    bus: Line,
    events: BinaryHeap<Event>,
    next_order: u64,
    pages: Slab<PageOperation>,
    /// Pages that are done: when, and the slot of the command.
    done_pages: BinaryHeap<Event>,
}

impl Lines {
    pub fn new(shape: Shape, costs: Costs) -> Self {
        Lines {
            dies: vec![Line::default(); shape.dies as usize],
            channels: vec![Line::default(); shape.channels as usize],
            bus: Line::default(),
            events: BinaryHeap::new(),
            next_order: 0,
            pages: Slab::new(),
            done_pages: BinaryHeap::new(),
            shape,
            costs,
        }
    }

    /// When the next step that is not simulated yet begins, or the next page is done, whichever is earlier.
    pub fn next_event(&self) -> Option<Time> {
        let at = |events: &BinaryHeap<Event>| events.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
        let next = at(&self.events).min(at(&self.done_pages));
        (next < Time::MAX).then_some(next)
    }

    /// Starts a page, whose first step begins at `time`.
    pub fn begin(&mut self, time: Time, operation: PageOperation) {
        let place = self.pages.insert(operation) as u32;
        self.events.push(Reverse((time, self.next_order, place)));
        self.next_order += 1;
    }

    /// Simulates all steps that begin before any step of a command that arrives at `now` or later.
    pub fn advance(&mut self, now: Time) {
        let horizon = now + self.costs.command;
        while let Some(Reverse((time, _, place))) = self.events.peek().copied()
            && time <= horizon
        {
            self.events.pop();
            let operation = self.pages[place as usize];
            let (until, step) = self.serve(time, &operation);
            let order = self.next_order;
            self.next_order += 1;
            if step == Step::Done {
                self.pages.remove(place as usize);
                self.done_pages.push(Reverse((until, order, operation.command)));
            } else {
                self.pages[place as usize].step = step;
                self.events.push(Reverse((until, order, place)));
            }
        }
    }

    /// The next page that is done by `now`, if any: when it was done, and the slot of its command.
    pub fn next_completion(&mut self, now: Time) -> Option<(Time, u32)> {
        let Reverse((time, _, command)) = *self.done_pages.peek()?;
        (time <= now).then(|| {
            self.done_pages.pop();
            (time, command)
        })
    }

    /// Serves the step that begins at `time`: when it ends, and the step that follows.
    fn serve(&mut self, time: Time, operation: &PageOperation) -> (Time, Step) {
        let Lines { shape, costs, dies, channels, bus, .. } = self;
        let mut cross =
            |die, blocks| channels[shape.channel(die) as usize].serve(time, costs.channel(blocks));
        match operation.step {
            Step::Accept => {
                let next =
                    if operation.fetched_blocks > 0 { Step::Sense { writes: true } } else { Step::Load };
                (bus.serve(time, costs.bus(operation.blocks)), next)
            }
            Step::Sense { writes } => {
                (dies[operation.source_die as usize].serve(time, costs.read), Step::Fetch { writes })
            }
            Step::Fetch { writes } => {
                let next = if writes { Step::Load } else { Step::Send };
                (cross(operation.source_die, operation.fetched_blocks), next)
            }
            Step::Send => (bus.serve(time, costs.bus(operation.blocks)), Step::Done),
            Step::Load => (cross(operation.target_die, operation.loaded_blocks), Step::Program),
            Step::Program => {
                (dies[operation.target_die as usize].serve(time, operation.program_time), Step::Done)
            }
            Step::Done => (time, Step::Done),
        }
    }
}
