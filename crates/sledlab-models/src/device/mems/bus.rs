//! A bus that moves the blocks of one request at a time, first come first served.

use std::collections::VecDeque;

use sledlab_core::hash::Map;
use sledlab_core::{Op, Span, Time};

use crate::device::QueuedRequest;

/// Time from the end of one request's transfer to the start of the next that was waiting.
const HANDOVER: Span = Span::from_ns(1);

/// The bus, and the progress of the requests that use it.
#[derive(Debug)]
pub(super) struct Bus {
    block_time: Span,
    owner: Option<Transfer>,
    waiting: VecDeque<QueuedRequest>,
    /// By number of each unfinished write: when it began to cross, and its number of blocks.
    writes: Map<u64, (Time, u32)>,
    /// By number of each unfinished read: blocks that the tips have read, and blocks that have crossed.
    reads: Map<u64, ReadProgress>,
}

/// The transfer that owns the bus: the request's blocks up to `target` will have crossed at `until`.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    request: QueuedRequest,
    target: u32,
    until: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct ReadProgress {
    read: u32,
    crossed: u32,
}

impl Bus {
    pub fn new(block_time: Span) -> Self {
        Bus {
            block_time,
            owner: None,
            waiting: VecDeque::new(),
            writes: Map::default(),
            reads: Map::default(),
        }
    }

    /// When the present transfer ends; `None` while the bus is free.
    pub fn next_event(&self) -> Option<Time> {
        self.owner.as_ref().map(|owner| owner.until)
    }

    /// Number of blocks of write `id` that have crossed by `now`; none at the very time when the write gets the bus,
    /// even if blocks take no time.
    pub fn crossed_blocks(&self, id: u64, now: Time) -> u32 {
        match self.writes.get(&id) {
            Some((start, blocks)) if *start < now => {
                let crossed = now.since(*start).as_ns().checked_div(self.block_time.as_ns());
                crossed.map_or(*blocks, |n| n.min(u64::from(*blocks)) as u32)
            }
            _ => 0,
        }
    }

    /// Asks for the bus for all blocks of a write.
    pub fn write(&mut self, now: Time, request: QueuedRequest) {
        self.request_bus(now, request);
    }

    /// Records that a pass has read the blocks of `request` up to `read_blocks`, and requests the bus unless `request`
    /// owns it or waits for it.
    pub fn record_read(&mut self, now: Time, request: QueuedRequest, read_blocks: u32) {
        self.reads.entry(request.id).or_default().read = read_blocks;
        let is_owner = self.owner.as_ref().is_some_and(|owner| owner.request.id == request.id);
        if !is_owner && !self.waiting.iter().any(|waiting| waiting.id == request.id) {
            self.request_bus(now, request);
        }
    }

    fn request_bus(&mut self, now: Time, request: QueuedRequest) {
        if self.owner.is_none() { self.begin(now, request) } else { self.waiting.push_back(request) }
    }

    /// Gives `request` the bus at `time` for all blocks that are ready to cross.
    fn begin(&mut self, time: Time, request: QueuedRequest) {
        let (crossed, target) = if request.op == Op::Write {
            self.writes.insert(request.id, (time, request.blocks));
            (0, request.blocks)
        } else {
            let ReadProgress { read, crossed } = self.reads.get(&request.id).copied().unwrap_or_default();
            (crossed, read)
        };
        let until = time + self.block_time.saturating_mul(u64::from(target - crossed));
        self.owner = Some(Transfer { request, target, until });
    }

    /// Ends the present transfer at `now`: the same request continues if more of its blocks have been read meanwhile,
    /// otherwise the next one begins. Returns the request if it was a read all of whose blocks have crossed.
    pub fn end_transfer(&mut self, now: Time) -> Option<QueuedRequest> {
        let Transfer { request, target, .. } = self.owner.take()?;
        if let Some(progress) = self.reads.get_mut(&request.id) {
            progress.crossed = target;
            if progress.read > target {
                self.begin(now, request);
                return None;
            }
        }
        if let Some(next) = self.waiting.pop_front() {
            self.begin(now + HANDOVER, next);
        }
        let is_complete = request.op == Op::Read && target == request.blocks;
        is_complete.then(|| {
            self.reads.remove(&request.id);
            request
        })
    }

    /// Forgets a write; returns when its last block crossed.
    pub fn remove_write(&mut self, id: u64) -> Time {
        let end = |(start, blocks): (Time, u32)| start + self.block_time.saturating_mul(blocks.into());
        self.writes.remove(&id).map_or(Time::ZERO, end)
    }
}
