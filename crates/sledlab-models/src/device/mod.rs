//! Devices: geometry, mechanics and power of what stores the blocks.

pub mod disk;
pub mod disksim;
pub mod mems;
pub mod preset;
pub mod ram;

use std::sync::Arc;

use sledlab_core::{Error, Op, Request, Result, Span, Time};

use crate::power::{PowerRates, Spent};

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
    /// Whether it is about the file system's own data.
    pub metadata: bool,
    /// Words of 8 bytes among its blocks that the host has no use for.
    pub unwanted_words: u16,
}

impl Default for Queued {
    fn default() -> Self {
        Queued::new(0, &Request::default())
    }
}

impl Queued {
    /// Request number `id` as it joins a queue on arrival.
    pub fn new(id: u64, request: &Request) -> Self {
        let Request { arrival, lbn, blocks, op, metadata, unwanted_words, .. } = *request;
        let unwanted_words = unwanted_words.into();
        Queued { id, arrival, queued: arrival, lbn, blocks, op, metadata, unwanted_words }
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
    /// From then until the first sector of a disk is under the head.
    pub rotation: Span,
    /// From the end of the first positioning to completion.
    pub transfer: Span,
    /// The part of `transfer` spent moving to further rows, tracks and columns.
    pub reposition: Span,
    /// Start-up before the request was selected; part of its queue time, not of its service time.
    pub startup: Span,
}

impl Timing {
    /// Positioning time of the first access: x and y move in parallel (paper 000, equation 1), a disk waits for
    /// its sector afterwards.
    pub fn positioning(&self) -> Span {
        (self.seek_x + self.settle).max(self.seek_y + self.turnaround) + self.rotation
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
    /// Tips that stayed dark for words nobody wants, times how long.
    pub dark_tip_ns: u64,
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
        self.dark_tip_ns += other.dark_tip_ns;
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
    /// What it cost; of a service shared with others, its share.
    pub energy: Spent,
}

impl Served {
    /// A request that is done in the moment `now`, without a device.
    pub fn at_once(request: Queued, now: Time) -> Self {
        Served { request, start: now, completion: now, timing: Timing::default(), energy: Spent::default() }
    }

    /// A request that is done at `completion` with the help of this access, which has ended by then: the times from
    /// selection on are those of the access. One that began before the request arrived tells nothing of it.
    #[must_use]
    pub fn answering(&self, request: Queued, completion: Time, energy: Spent) -> Self {
        let more = completion.since(self.completion);
        let (start, timing) = if self.start < request.arrival {
            let transfer = completion.since(request.arrival);
            (request.arrival, Timing { transfer, ..Timing::default() })
        } else {
            (self.start, Timing { transfer: self.timing.transfer + more, ..self.timing })
        };
        Served { request, start, completion, timing, energy }
    }
}

/// Where a device's mechanism is; what a position index starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// Position and direction of a MEMS sled.
    Sled(mems::SledState),
    /// Track of a disk, and the time.
    Disk(disk::DiskState),
    /// Of a device in which nothing moves.
    Still,
}

impl DeviceState {
    /// Where that is along x and y, in the units of [`Location`].
    pub fn place(self) -> (i32, i32) {
        match self {
            DeviceState::Sled(at) => (at.x_bit, at.y_bit),
            DeviceState::Disk(at) => (at.track.cylinder as i32, 0),
            DeviceState::Still => (0, 0),
        }
    }

    /// The state of a sled.
    ///
    /// # Panics
    /// If it is another device's: sleds are only ever asked about states of their own.
    #[inline]
    pub(crate) fn sled(self) -> mems::SledState {
        match self {
            DeviceState::Sled(at) => at,
            other => unreachable!("a sled was asked about {other:?}"),
        }
    }

    /// The state of a disk.
    ///
    /// # Panics
    /// As for a sled.
    pub(crate) fn disk(self) -> disk::DiskState {
        match self {
            DeviceState::Disk(at) => at,
            other => unreachable!("a disk was asked about {other:?}"),
        }
    }
}

/// How a device passed the time without requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Idle for the whole time.
    Idle(Span),
    /// Idle until the timeout, then parked.
    Parked,
}

/// Where a block lies, as schedulers that think in places see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Cylinder, from 0: the place along x.
    pub cylinder: u32,
    /// Row, from 0 at the lowest y; the head of a disk.
    pub row: u32,
    /// Displacement of the cylinder, in bits from the centre; of a disk, the cylinder.
    pub x_bit: i32,
    /// Where an upward access to the row starts, in bits from the centre.
    pub up_bit: i32,
    /// Where a downward access to the row starts.
    pub down_bit: i32,
}

/// How far locations reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Cylinders.
    pub cylinders: u32,
    /// Rows of a cylinder.
    pub rows: u32,
    /// Blocks of a track.
    pub blocks_per_track: u64,
}

/// The mechanism of a device: geometry, motion and power, all of it pure. This is what schedulers see.
///
/// Like [`Scheduler`](crate::scheduler::Scheduler), it has no defaults that a wrapper could forget to forward.
pub trait Mechanics: Send + Sync {
    /// Number of blocks, at least 1.
    fn capacity_blocks(&self) -> u64;

    /// Where the mechanism is.
    fn state(&self) -> DeviceState;

    /// Where block `lbn` lies.
    fn location(&self, lbn: u64) -> Location;

    /// How far locations reach.
    fn extent(&self) -> Extent;

    /// Blocks that can be accessed at once: what requests are merged up to. Where no more than one sector is, a track.
    fn blocks_at_once(&self) -> u32;

    /// Positioning time of `request` from `state`, as schedulers see it.
    fn positioning_from(&self, state: DeviceState, request: &Queued) -> Span;

    /// Positioning time of `request` from the present state.
    fn positioning(&self, request: &Queued) -> Span;

    /// Distance in x to `request`, in tracks: the first tie-breaker between equal positioning times.
    fn distance(&self, request: &Queued) -> u64;

    /// Whether equal positioning times go to the lowest LBN instead of the smallest distance.
    fn ties_to_lowest_lbn(&self) -> bool;

    /// What serving `request` alone from `state` takes, command overhead left out, and where it ends.
    fn serve_from(&self, state: DeviceState, request: &Queued) -> (Timing, DeviceState);

    /// Whether `candidate` can be served in one pass together with all of `batch`: its next block lies at
    /// the same place, and there are tips enough for the blocks of all there (SC-22).
    fn joins(&self, batch: &[Queued], candidate: &Queued) -> bool;

    /// An empty index over queued requests that finds the best by `aim` exactly, where there is one.
    fn position_index(&self, aim: &Aim) -> Option<Box<dyn PositionIndex>>;

    /// The same mechanism as it is now, to keep.
    fn snapshot(&self) -> Box<dyn Mechanics>;

    /// Power in each state.
    fn power_rates(&self) -> PowerRates;

    /// Power while idle in the present state, in mW.
    fn idle_mw(&self) -> f64;
}

/// What stores the blocks: its mechanics and what happens around them.
///
/// A simple device answers [`issue`](Device::issue) with everything that will happen. A device
/// with work of its own (a bus, read-ahead) also says when it wants to be woken. No method has a default that a wrapper
/// could forget to forward.
pub trait Device: Send {
    /// Geometry, motion and power.
    fn mechanics(&self) -> &dyn Mechanics;

    /// What serving `request` at `now` would take, in every part. Pure; [`issue`](Device::issue) agrees with it.
    fn probe(&self, now: Time, request: &Queued) -> Timing;

    /// A choice is about to be made at `now`: [`mechanics`](Device::mechanics) is to judge requests as of then, where
    /// that makes a difference.
    fn tell_time(&mut self, now: Time);

    /// A command reaches the device; returns when the mechanism may select it (`now` or later), or [`Time::MAX`] if
    /// [`let_in`](Device::let_in) will tell.
    fn admit(&mut self, now: Time, request: &Queued) -> Time;

    /// The next command that the mechanism may select from now on, of those whose [`admit`](Device::admit) did not tell;
    /// asked whenever the device was woken.
    fn let_in(&mut self) -> Option<Queued>;

    /// Starts serving `batch` on an idle mechanism: together what one pass can serve, the rest in order.
    ///
    /// Requests whose completion is certain are appended to `served` in order of completion. Returns until
    /// when the mechanism is busy, or `None` if [`wake`](Device::wake) will tell.
    fn issue(&mut self, now: Time, batch: &[Queued], served: &mut Vec<Served>) -> Option<Busy>;

    /// Whether the device has work of its own or delays commands: whether [`admit`](Device::admit),
    /// [`next_wakeup`](Device::next_wakeup) and [`wake`](Device::wake) do anything.
    fn has_own_work(&self) -> bool;

    /// When the device wants to be woken for work of its own.
    fn next_wakeup(&self) -> Option<Time>;

    /// Does the device's own work that is due at `now`. When the mechanism becomes free, returns what it
    /// did since it was issued its last batch.
    fn wake(&mut self, now: Time, served: &mut Vec<Served>) -> Option<Work>;

    /// From now on nobody asks what requests cost, as far as the device can do without.
    fn forgo_energy(&mut self);

    /// The mechanism has rested and is about to move again.
    fn rest(&mut self, rest: Rest);
}

/// What a position index finds the best of.
#[derive(Clone)]
pub enum Aim {
    /// The smallest positioning time; equal ones go to the smaller x distance, then to the earlier number.
    Time,
    /// The smallest Euclidean distance in the plane, to the nearer end of the row; then the earlier number.
    Distance,
    /// The smallest score of a position; then as for `Time`.
    Score(Arc<dyn Score>),
}

/// How good it is to serve a position next; the smallest score wins.
///
/// Scores are never NaN. Both methods must be monotone in floating-point numbers too, which sums, products and
/// quotients of monotone terms are.
pub trait Score: Send + Sync {
    /// The score at `now` of a position reached in `time` where `crowd` waits; `joined` tells when each of them
    /// joined the queue.
    fn of(&self, now: Time, time: Span, crowd: &Crowd, joined: &mut dyn Iterator<Item = Time>) -> f64;

    /// No position of a stretch scores less: the nearest is reached in `least`, the farthest in `most`, the oldest
    /// request joined at `oldest`, and no position has more than `requests`.
    fn bound(&self, now: Time, stretch: &Stretch) -> f64;

    /// Whether bounds depend on the time to the farthest position; where they do not, [`Stretch::most`] is not
    /// worked out.
    fn heeds_farthest(&self) -> bool;
}

/// Positions that are judged together.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Time to reach the nearest.
    pub least: Span,
    /// Time to reach the farthest.
    pub most: Span,
    /// When the oldest request joined the queue.
    pub oldest: Time,
    /// Most requests at one position.
    pub requests: u32,
}

/// The requests that wait at a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    /// When the first of them joined the queue.
    pub oldest: Time,
    /// How many there are.
    pub requests: u32,
    /// Sum of the times at which they joined the queue, in ns.
    pub joined_ns: u128,
}

impl Crowd {
    /// Nobody.
    pub const EMPTY: Crowd = Crowd { oldest: Time::MAX, requests: 0, joined_ns: 0 };

    /// One more request waits.
    pub fn add(&mut self, request: &Queued) {
        self.oldest = self.oldest.min(request.queued);
        self.requests += 1;
        self.joined_ns += u128::from(request.queued.as_ns());
    }

    /// A request has left; `oldest` joined the queue first of those that stay.
    pub fn remove(&mut self, request: &Queued, oldest: Option<Time>) {
        self.oldest = oldest.unwrap_or(Time::MAX);
        self.requests -= 1;
        self.joined_ns -= u128::from(request.queued.as_ns());
    }

    /// Sum of their waiting times at `now`, in ns.
    pub fn waited_ns(&self, now: Time) -> f64 {
        (u128::from(now.as_ns()) * u128::from(self.requests)).saturating_sub(self.joined_ns) as f64
    }
}

/// An index over queued requests by position: finds the best without probing all.
///
/// Requests must be inserted in order of their numbers and of the times at which they joined the queue, as far as
/// they lie at the same position.
#[expect(clippy::len_without_is_empty, reason = "`dyn PositionIndex` has it: it follows from `len`")]
pub trait PositionIndex: Send {
    /// Adds a request.
    fn insert(&mut self, request: Queued);
    /// Removes and returns the best request: the same one as a scan of all would find.
    fn take_best(&mut self, now: Time, mechanics: &dyn Mechanics) -> Option<Queued>;
    /// Moves into `batch` the requests that can be served [together](Mechanics::joins) with its first.
    fn take_joining(&mut self, mechanics: &dyn Mechanics, batch: &mut Vec<Queued>);
    /// How many requests are in the index.
    fn len(&self) -> usize;
}

impl dyn PositionIndex + '_ {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Builds the device a file or preset describes.
pub fn build(description: &preset::DeviceFile) -> Result<Box<dyn Device>> {
    match &description.params {
        preset::DeviceParams::Mems(params) => mems::build(params),
        preset::DeviceParams::Disk(params) => disk::build(params),
        preset::DeviceParams::Ram(params) => Ok(Box::new(ram::Ram::new(params))),
    }
}

/// The same on a bus with others.
///
/// # Errors
/// A device that cannot, and parameters that make no sense together.
pub fn build_on(bus: &disk::Bus, description: &preset::DeviceFile) -> Result<Box<dyn Device>> {
    match &description.params {
        preset::DeviceParams::Disk(params) => Ok(Box::new(disk::Connected::new(params, bus)?)),
        preset::DeviceParams::Mems(_) | preset::DeviceParams::Ram(_) => {
            Err(Error::user("system.bus = \"shared\" is for disks: other devices have a bus of their own")
                .with_remedy("set system.bus = \"own\", or choose a disk"))
        }
    }
}
