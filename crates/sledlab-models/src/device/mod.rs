//! Devices: geometry, mechanics and power of what stores the blocks.

pub mod mems;
pub mod preset;

use sledlab_core::{Op, Request, Result, Span, Time};

use crate::power::PowerRates;

/// A request in the hands of a scheduler or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Number in order of arrival, from 0.
    pub id: u64,
    /// When it reached the system.
    pub arrival: Time,
    /// When it joined the queue the mechanism selects from.
    pub queued: Time,
    /// First block on the device.
    pub lbn: u64,
    /// Number of blocks, at least 1.
    pub blocks: u32,
    /// Read or write.
    pub op: Op,
}

impl Queued {
    /// Request number `id` as it joins a queue on arrival.
    pub fn new(id: u64, request: &Request) -> Self {
        let Request { arrival, lbn, blocks, op, .. } = *request;
        Queued { id, arrival, queued: arrival, lbn, blocks, op }
    }
}

/// Where the service time of a request went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Command overhead that the mechanism waits for.
    pub overhead: Span,
    /// First positioning in x, without settling.
    pub seek_x: Span,
    /// Settling after moving in x.
    pub settle: Span,
    /// First positioning in y, without turnarounds.
    pub seek_y: Span,
    /// Turnarounds of the first positioning.
    pub turnaround: Span,
    /// From the end of the first positioning to completion.
    pub transfer: Span,
    /// The part of `transfer` spent moving to further rows, tracks and columns.
    pub reposition: Span,
    /// Start-up before the request was selected; part of its queue time, not of its service time.
    pub startup: Span,
}

impl Timing {
    /// Positioning time of the first access: x and y move in parallel (paper 000, equation 1).
    pub fn positioning(&self) -> Span {
        (self.seek_x + self.settle).max(self.seek_y + self.turnaround)
    }

    /// Start to completion.
    pub fn service(&self) -> Span {
        self.overhead + self.positioning() + self.transfer
    }
}

/// What the mechanism did during a service: the raw facts of its energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Moving without tips.
    pub seek: Span,
    /// Reading or writing, servo included.
    pub access: Span,
    /// Tips switched on, times how long: tip-nanoseconds.
    pub tip_ns: u64,
}

impl Work {
    /// Time the mechanism was busy.
    pub fn busy(&self) -> Span {
        self.seek + self.access
    }
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.seek += other.seek;
        self.access += other.access;
        self.tip_ns += other.tip_ns;
    }
}

/// A mechanism at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// When it will be free.
    pub until: Time,
    /// What it does until then.
    pub work: Work,
}

/// A request that has been, or is certain to be, completed.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// The request.
    pub request: Queued,
    /// When the mechanism selected it.
    pub start: Time,
    /// When the host is told.
    pub completion: Time,
    /// Where the time between went.
    pub timing: Timing,
}

/// Where a device's mechanism is; what a position index starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// Position and direction of a MEMS sled.
    Sled(mems::SledState),
}

/// How a device passed the time without requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Idle for the whole time.
    Idle(Span),
    /// Idle until the timeout, then parked.
    Parked,
}

/// What stores the blocks: its mechanics and its power.
///
/// A simple device answers [`issue`](Device::issue) with everything that will happen. A device
/// with work of its own (a bus, read-ahead) also says when it wants to be woken.
pub trait Device: Send {
    /// Number of blocks, at least 1.
    fn capacity_blocks(&self) -> u64;

    /// Positioning time of `request` from the present state, as schedulers see it. Pure.
    fn positioning(&self, request: &Queued) -> Span;

    /// Distance in x to `request`, in tracks: the first tie-breaker between equal positioning times.
    fn distance(&self, request: &Queued) -> u64;

    /// Whether equal positioning times go to the lowest LBN instead of the smallest distance.
    fn ties_to_lowest_lbn(&self) -> bool {
        false
    }

    /// What serving `request` now would take, in every part. Pure; [`issue`](Device::issue) agrees with it.
    fn probe(&self, request: &Queued) -> Timing;

    /// A command reaches the device; returns when the mechanism may select it (`now` or later).
    fn admit(&mut self, now: Time, _request: &Queued) -> Time {
        now
    }

    /// Starts serving `batch`, in order, on an idle mechanism.
    ///
    /// Requests whose completion is certain are appended to `served` in order of completion. Returns until
    /// when the mechanism is busy, or `None` if [`wake`](Device::wake) will tell.
    fn issue(&mut self, now: Time, batch: &[Queued], served: &mut Vec<Served>) -> Option<Busy>;

    /// Whether the device has work of its own or delays commands: whether [`admit`](Device::admit),
    /// [`next_wakeup`](Device::next_wakeup) and [`wake`](Device::wake) do anything.
    fn has_own_work(&self) -> bool {
        false
    }

    /// When the device wants to be woken for work of its own.
    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    /// Does the device's own work that is due at `now`. When the mechanism becomes free, returns what it
    /// did since it was issued its last batch.
    fn wake(&mut self, _now: Time, _served: &mut Vec<Served>) -> Option<Work> {
        None
    }

    /// The mechanism has rested and is about to move again.
    fn rest(&mut self, _rest: Rest) {}

    /// Power in each state.
    fn power_rates(&self) -> PowerRates;

    /// Power while idle in the present state, in mW.
    fn idle_mw(&self) -> f64;

    /// Where the mechanism is.
    fn state(&self) -> DeviceState;

    /// An empty index over queued requests that finds the cheapest exactly, where the device has one.
    fn position_index(&self) -> Option<Box<dyn PositionIndex>>;
}

/// An index over queued requests by position.
///
/// Finds the request with the smallest positioning time without probing all; equal times go to
/// the smaller x distance, then to the earlier arrival: the same choice as a scan of all would make.
pub trait PositionIndex: Send {
    /// Adds a request.
    fn insert(&mut self, request: Queued);
    /// Removes and returns the cheapest request from `state`.
    fn take_nearest(&mut self, state: DeviceState) -> Option<Queued>;
    /// How many requests are in the index.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Builds the device a file or preset describes.
pub fn build(description: &preset::DeviceFile) -> Result<Box<dyn Device>> {
    match &description.params {
        preset::DeviceParams::Mems(params) => mems::build(params),
    }
}
