//! Requests as schedulers and devices handle them, and the timing, work and energy of their service.

use sledlab_core::{Op, Request, Span, Time};

use crate::power::{MechanicalWork, RequestEnergy};

/// A request that is queued by a scheduler or served by a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedRequest {
    /// Number in order of arrival, from 0.
    pub id: u64,
    /// When the request reached the system.
    pub arrival: Time,
    /// When the request joined the queue from which the mechanism selects.
    pub queue_time: Time,
    /// First block on the device.
    pub lbn: u64,
    /// Number of blocks, at least 1.
    pub blocks: u32,
    /// Read or write.
    pub op: Op,
    /// Whether the request accesses the file system's own data.
    pub metadata: bool,
    /// The blocks of which the host requested only a part.
    pub partial: PartialBlocks,
}

/// Blocks of a request that the host requested only in part: its last ones, with equally many words requested of each.
/// Those of merged requests are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartialBlocks {
    /// Number of blocks.
    pub blocks: u32,
    /// Number of 8-byte words in all these blocks that the host did not request.
    pub unrequested_words: u32,
}

impl PartialBlocks {
    /// Those of `request`.
    pub fn new(request: &Request) -> Self {
        let words = u32::from(request.unrequested_words);
        let blocks = if request.is_partial_throughout { request.blocks } else { 1 };
        if words == 0 {
            return PartialBlocks::default();
        }
        PartialBlocks { blocks, unrequested_words: words.saturating_mul(blocks) }
    }

    /// Those among `blocks` blocks of the request; `has_last` if its last block is one of them. Either the last block
    /// alone or every block of the request is partial.
    #[must_use]
    pub fn in_part(self, blocks: u32, has_last: bool) -> Self {
        match self.blocks {
            0 | 1 if has_last => self,
            0 | 1 => PartialBlocks::default(),
            all => PartialBlocks { blocks, unrequested_words: self.unrequested_words / all * blocks },
        }
    }

    /// Those of two requests that are served as one.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        PartialBlocks {
            blocks: self.blocks.saturating_add(other.blocks),
            unrequested_words: self.unrequested_words.saturating_add(other.unrequested_words),
        }
    }
}

impl Default for QueuedRequest {
    fn default() -> Self {
        QueuedRequest::new(0, &Request::default())
    }
}

impl QueuedRequest {
    /// Request number `id` as it joins a queue on arrival.
    pub fn new(id: u64, request: &Request) -> Self {
        let Request { arrival, lbn, blocks, op, metadata, .. } = *request;
        let partial = PartialBlocks::new(request);
        QueuedRequest { id, arrival, queue_time: arrival, lbn, blocks, op, metadata, partial }
    }
}

/// The parts of the service time of a request.
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
    /// From the end of seek and settling until the first sector of a disk is under the head.
    pub rotation: Span,
    /// From the end of the first positioning to completion.
    pub transfer: Span,
    /// The part of `transfer` spent moving to further rows, tracks and columns.
    pub reposition: Span,
    /// The part of a start-up for which the request waited; part of its queue time, not of its service time.
    pub startup: Span,
}

impl Timing {
    /// Positioning time of the first access: x and y move in parallel (Hong 2006, equation 1), a disk waits for
    /// its sector afterwards.
    #[inline]
    pub fn positioning(&self) -> Span {
        (self.seek_x + self.settle).max(self.seek_y + self.turnaround) + self.rotation
    }

    /// Service time, from start to completion.
    pub fn service(&self) -> Span {
        self.overhead + self.positioning() + self.transfer
    }
}

/// A mechanism at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusyPeriod {
    /// When the mechanism will be free.
    pub until: Time,
    /// The work of the device until then.
    pub work: MechanicalWork,
}

/// A request that has been, or is certain to be, completed.
#[derive(Clone, Copy, Debug)]
pub struct ServedRequest {
    /// The request.
    pub request: QueuedRequest,
    /// When the mechanism selected the request.
    pub start: Time,
    /// When the host gets the acknowledgement.
    pub completion: Time,
    /// From completion until the data of a write is durable: zero unless the write is complete when it is in a volatile
    /// buffer.
    pub write_behind: Span,
    /// The parts of the time from start to completion.
    pub timing: Timing,
    /// Energy of the request; of a service shared with other requests, its share.
    pub energy: RequestEnergy,
    /// Number of the device of the system, from 0, that served the request; `None` if a cache answered.
    pub device: Option<u32>,
}

impl ServedRequest {
    /// A request that is complete at once, at `now`, without a device.
    pub fn immediate(request: QueuedRequest, now: Time) -> Self {
        let (timing, energy) = (Timing::default(), RequestEnergy::default());
        let write_behind = Span::ZERO;
        ServedRequest { request, start: now, completion: now, write_behind, timing, energy, device: None }
    }

    /// Reduces the energy to the part that was spent after `opening`, as a [`Ledger`](crate::power::Ledger) counts it.
    pub fn discard_energy_before(&mut self, opening: Time) {
        if self.start >= opening {
            return;
        }
        let service_ns = self.completion.since(self.start).as_ns().max(1);
        let counted_ns = self.completion.since(opening).as_ns();
        let RequestEnergy { seek_uj, access_uj, .. } =
            self.energy.scale(counted_ns as f64 / service_ns as f64);
        self.energy = RequestEnergy { seek_uj, access_uj, startup_uj: 0.0 };
    }

    /// When the data of a write is durable; the completion of a read.
    #[inline]
    pub fn durable_time(&self) -> Time {
        self.completion + self.write_behind
    }

    /// A request that is complete at `completion` by means of this access, which has ended by then: the parts of its
    /// service time are those of the access. If the access began before the request arrived, the entire time from
    /// arrival on counts as transfer.
    #[must_use]
    pub fn for_request(&self, request: QueuedRequest, completion: Time, energy: RequestEnergy) -> Self {
        let extra_transfer = completion.since(self.completion);
        let (start, timing) = if self.start < request.arrival {
            let transfer = completion.since(request.arrival);
            (request.arrival, Timing { transfer, ..Timing::default() })
        } else {
            (self.start, Timing { transfer: self.timing.transfer + extra_transfer, ..self.timing })
        };
        let write_behind = self.durable_time().since(completion);
        ServedRequest { request, start, completion, write_behind, timing, energy, device: self.device }
    }

    /// Renumbers the device for a larger system, in which `first` devices come before the device that was number 0.
    pub fn offset_device(&mut self, first: u32) {
        self.device = self.device.map(|device| device + first);
    }
}

/// How a device passed the time without requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleOutcome {
    /// Idle for the entire time.
    Idle(Span),
    /// Idle until the timeout, then parked.
    Parked,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partial(blocks: u32, unrequested_words: u32) -> PartialBlocks {
        PartialBlocks { blocks, unrequested_words }
    }

    #[test]
    fn parts_keep_their_partial_blocks() {
        let request = Request { blocks: 10, unrequested_words: 60, ..Request::default() };
        let last_block = PartialBlocks::new(&request);
        assert_eq!(last_block, partial(1, 60));
        assert_eq!(
            [false, true].map(|has_last| last_block.in_part(4, has_last)),
            [partial(0, 0), partial(1, 60)]
        );
        let every_block = PartialBlocks::new(&Request { is_partial_throughout: true, ..request });
        assert_eq!(every_block, partial(10, 600));
        assert_eq!([false, true].map(|has_last| every_block.in_part(4, has_last)), [partial(4, 240); 2]);
        let whole_blocks = Request { unrequested_words: 0, is_partial_throughout: true, ..request };
        assert_eq!(PartialBlocks::new(&whole_blocks), PartialBlocks::default());
        assert_eq!(last_block.join(every_block), partial(11, 660));
    }
}
