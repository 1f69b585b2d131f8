//! Requests in the hands of schedulers and devices, and what came of them.

use sledlab_core::{Op, Request, Span, Time};

use crate::power::Spent;

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
    #[inline]
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
pub struct MechanicalWork {
    /// Moving without tips.
    pub seek: Span,
    /// Reading or writing, servo included.
    pub access: Span,
    /// Tips switched on, times how long: tip-nanoseconds.
    pub tip_ns: u64,
    /// The part of `tip_ns` in which tips wrote.
    pub written_tip_ns: u64,
    /// Tips that stayed dark for words nobody wants, times how long.
    pub dark_tip_ns: u64,
}

impl MechanicalWork {
    /// Time the mechanism was busy.
    pub fn busy(&self) -> Span {
        self.seek + self.access
    }
}

impl std::ops::AddAssign for MechanicalWork {
    fn add_assign(&mut self, other: MechanicalWork) {
        self.seek += other.seek;
        self.access += other.access;
        self.tip_ns += other.tip_ns;
        self.written_tip_ns += other.written_tip_ns;
        self.dark_tip_ns += other.dark_tip_ns;
    }
}

/// A mechanism at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// When it will be free.
    pub until: Time,
    /// What it does until then.
    pub work: MechanicalWork,
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
    /// Which device of the system it was, from 0, whose times these are; nothing where a cache answered.
    pub device: Option<u32>,
}

impl Served {
    /// A request that is done in the moment `now`, without a device.
    pub fn at_once(request: Queued, now: Time) -> Self {
        let (timing, energy) = (Timing::default(), Spent::default());
        Served { request, start: now, completion: now, timing, energy, device: None }
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
        Served { request, start, completion, timing, energy, device: self.device }
    }

    /// The same in a system of several, in which so many devices come before those that knew of this one.
    pub fn counted_from(&mut self, first: u32) {
        self.device = self.device.map(|device| device + first);
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
