//! What dies, channels and the bus do and when: each serves first what comes first, one thing at a time.
//!
//! No command gets to them sooner than its overhead after it came. So what happens until that long after the present is
//! settled, and is seen to at once: the device is woken less often.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sledlab_core::{Span, Time};

use super::params::{Costs, Shape};

/// The way of one page of a command.
///
/// A read goes from its die over its channel and the bus. A write comes over the bus and its channel to its die; one of
/// a part of a page whose rest holds data has that page read before, over the channel where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageWay {
    pub step: Step,
    /// The command, by its place in the device.
    pub command: u32,
    /// The die that reads.
    pub from: u32,
    /// The die that programs.
    pub to: u32,
    /// Blocks of 512 bytes that cross the bus.
    pub blocks: u32,
    /// Blocks that cross a channel after reading.
    pub fetched: u32,
    /// How long the die programs, with all that is done there before to make room.
    pub programs: Span,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A write crosses the bus.
    Accept,
    /// The die reads the page that a write changes a part of, or that is read.
    Sense { writes: bool },
    /// What was read crosses the channel.
    Fetch { writes: bool },
    /// A read crosses the bus.
    Send,
    /// The page crosses the channel to its die.
    Load,
    /// The die programs.
    Program,
    /// It is done.
    Done,
}

/// Something that serves one thing at a time: it is free from then on.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    free: Time,
}

impl Line {
    /// What comes at `now` and takes `span` is done then.
    fn serve(&mut self, now: Time, span: Span) -> Time {
        self.free = self.free.max(now) + span;
        self.free
    }
}

/// A page, by its place, and when its next step comes; of equal times, what was begun first comes first.
type Event = Reverse<(Time, u64, u32)>;

/// Dies, channels and the bus, and the pages on their way.
#[derive(Debug)]
pub(super) struct Lines {
    shape: Shape,
    costs: Costs,
    dies: Vec<Line>,
    channels: Vec<Line>,
    bus: Line,
    events: BinaryHeap<Event>,
    begun: u64,
    /// Pages by their places, and which places are empty.
    pages: Vec<PageWay>,
    empty: Vec<u32>,
    /// Commands of pages that are done, and when.
    done: BinaryHeap<Event>,
}

impl Lines {
    pub fn new(shape: Shape, costs: Costs) -> Self {
        Lines {
            dies: vec![Line::default(); shape.dies as usize],
            channels: vec![Line::default(); shape.channels as usize],
            bus: Line::default(),
            events: BinaryHeap::new(),
            begun: 0,
            pages: Vec::new(),
            empty: Vec::new(),
            done: BinaryHeap::new(),
            shape,
            costs,
        }
    }

    /// When something comes next that has not been seen to.
    pub fn next_event(&self) -> Option<Time> {
        let at = |events: &BinaryHeap<Event>| events.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
        let next = at(&self.events).min(at(&self.done));
        (next < Time::MAX).then_some(next)
    }

    /// A page takes its first step at `at`.
    pub fn begin(&mut self, at: Time, way: PageWay) {
        let place = if let Some(place) = self.empty.pop() {
            self.pages[place as usize] = way;
            place
        } else {
            self.pages.push(way);
            self.pages.len() as u32 - 1
        };
        self.events.push(Reverse((at, self.begun, place)));
        self.begun += 1;
    }

    /// Takes all steps that come before any of a command that has yet to arrive at `now` or later.
    pub fn see_to(&mut self, now: Time) {
        let horizon = now + self.costs.command;
        while let Some(Reverse((at, _, place))) = self.events.peek().copied()
            && at <= horizon
        {
            self.events.pop();
            let way = self.pages[place as usize];
            let (until, step) = self.serve(at, &way);
            let order = self.begun;
            self.begun += 1;
            if step == Step::Done {
                self.empty.push(place);
                self.done.push(Reverse((until, order, way.command)));
            } else {
                self.pages[place as usize].step = step;
                self.events.push(Reverse((until, order, place)));
            }
        }
    }

    /// The command of a page that is done by `now`, if there is one, and when it was.
    pub fn next_done(&mut self, now: Time) -> Option<(Time, u32)> {
        let Reverse((at, _, command)) = *self.done.peek()?;
        (at <= now).then(|| {
            self.done.pop();
            (at, command)
        })
    }

    /// Until when a step that comes at `at` takes, and what follows.
    fn serve(&mut self, at: Time, way: &PageWay) -> (Time, Step) {
        let Lines { shape, costs, dies, channels, bus, .. } = self;
        let mut cross = |die, blocks| channels[shape.channel(die) as usize].serve(at, costs.channel(blocks));
        match way.step {
            Step::Accept => {
                let next = if way.fetched > 0 { Step::Sense { writes: true } } else { Step::Load };
                (bus.serve(at, costs.bus(way.blocks)), next)
            }
            Step::Sense { writes } => (dies[way.from as usize].serve(at, costs.read), Step::Fetch { writes }),
            Step::Fetch { writes } => {
                let next = if writes { Step::Load } else { Step::Send };
                (cross(way.from, way.fetched), next)
            }
            Step::Send => (bus.serve(at, costs.bus(way.blocks)), Step::Done),
            Step::Load => (cross(way.to, shape.page_blocks), Step::Program),
            Step::Program => (dies[way.to as usize].serve(at, way.programs), Step::Done),
            Step::Done => (at, Step::Done),
        }
    }
}
