//! Half-MEMS RAID 1/0 (Uysal, Merchant and Alvarez 2003): every block is on both devices. Short reads go to the
//! front device, long reads and streams to the back device.
//!
//! A write is complete when the front device and a non-volatile buffer have it; it is destaged from the buffer to the
//! back device later. Writes to the same blocks are served one after the other, so that both copies end alike. Several
//! mirrors striped (`system.kind = "stripe"`) are the array of the paper.

use std::collections::{BTreeMap, VecDeque};

use sledlab_core::{Error, Op, Result, Time};

use super::io::{Io, Part, Tier};
use super::streams::Streams;
use super::system::Logic;
use super::{Capacities, KB_BLOCKS, Model, PlantDefect};
use crate::cache::{BlockRun, CacheParams, Lines};
use crate::device::QueuedRequest;
use crate::replacement::CustomPolicy;
use crate::system::{Completion, Contents, HybridCounts, Residency};

sledlab_core::params! {
    /// A disk and a MEMS device of which each holds all data.
    pub struct MirrorParams {
        /// Length from which a read, or a sequential run of reads, goes to the back device.
        sequential_kb: u64 = 64_u64, "KB", 1..1e6;
        /// Non-volatile memory for writes that are not yet on the back device, in 1024 bytes.
        buffer_kb: u64 = 2048_u64, "KB", 8..1e6;
    }
}

/// Blocks of a line of the buffer, which are inserted and evicted together.
const LINE_BLOCKS: u64 = 16;
/// Most blocks that one access writes to the back device.
const DESTAGE_BLOCKS: u64 = 256;

/// Work to do when an access is complete.
pub(super) enum Job {
    /// A part of a read has been read.
    Read { part: Part, tier: Tier },
    /// A part of a write is on the front device.
    Written { part: Part },
    /// Blocks have been destaged to the back device.
    Destaged { run: BlockRun },
}

/// See the module.
pub struct Mirror {
    blocks: u64,
    min_stream: u64,
    streams: Streams,
    /// Writes that have not been destaged to the back device, in non-volatile memory.
    buffer: Lines,
    contents: Contents,
    /// Maximum blocks of a part of a write: a part is written to either device only when the buffer has all of it, or
    /// reads could find a new version on one device and then an old one on the other.
    max_blocks: u64,
    /// Parts of writes that wait for room in the buffer, or for earlier writes to the same blocks.
    waiting: VecDeque<Part>,
    /// Writes to the front device in flight, as first block and end.
    writing: BTreeMap<u64, u64>,
    back_reads: usize,
    is_destaging: bool,
    destaged_to: u64,
    counts: HybridCounts,
    dirty_blocks: u64,
}

impl Model for Mirror {
    type Params = MirrorParams;
    const NAME: &'static str = "mirror";
    const MEANING: &'static str =
        "half-MEMS RAID 1/0: all data on both devices; short reads from the front, long from the back";

    fn new(params: &MirrorParams, capacities: Capacities, _: &[CustomPolicy]) -> Result<Self> {
        let Capacities { front: front_blocks, back: back_blocks } = capacities;
        let capacity_blocks = params.buffer_kb * KB_BLOCKS;
        if front_blocks == 0 || back_blocks == 0 {
            return Err(Error::user("a mirror needs two devices with blocks"));
        }
        let buffer = CacheParams {
            capacity_blocks,
            line_blocks: LINE_BLOCKS,
            destage_blocks: DESTAGE_BLOCKS,
            ..CacheParams::default()
        };
        Ok(Mirror {
            blocks: front_blocks.min(back_blocks),
            min_stream: params.sequential_kb * KB_BLOCKS,
            streams: Streams::new(params.sequential_kb * KB_BLOCKS),
            buffer: Lines::new(&buffer)?,
            contents: Contents::default(),
            max_blocks: (capacity_blocks / LINE_BLOCKS / 2).max(1) * LINE_BLOCKS,
            waiting: VecDeque::new(),
            writing: BTreeMap::new(),
            back_reads: 0,
            is_destaging: false,
            destaged_to: 0,
            counts: HybridCounts::default(),
            dirty_blocks: 0,
        })
    }
}

impl Mirror {
    fn begin_read(&mut self, io: &mut Io<Job>, part: Part, request: &QueuedRequest) {
        let is_long = self.streams.is_stream(request) || u64::from(request.blocks) >= self.min_stream;
        let back_is_current = || !(part.run.first..part.run.end).any(|block| self.buffer.is_unwritten(block));
        let tier = if is_long && back_is_current() { Tier::Back } else { Tier::Front };
        self.counts.reads += 1;
        if tier == Tier::Back {
            self.counts.bypassed += 1;
            self.back_reads += 1;
        } else {
            self.counts.read_hits += 1;
        }
        io.serve(tier, part.run.first, &part, Job::Read { part, tier });
    }

    /// Begins the waiting writes in order of arrival, up to the first that finds no room in the buffer or must wait for
    /// an earlier write to its blocks.
    fn write_waiting(&mut self, io: &mut Io<Job>) {
        while let Some(part) = self.waiting.front().copied() {
            let run = part.run;
            let rewritten_blocks =
                (run.first..run.end).filter(|block| self.buffer.is_dirty_at(*block)).count() as u64;
            if self.is_writing(run) || self.buffer.write(run) < run.end {
                return;
            }
            self.counts.superseded_blocks += rewritten_blocks;
            self.dirty_blocks += run.end - run.first - rewritten_blocks;
            if io.keeps_contents() {
                self.contents.extend((run.first..run.end).zip(io.data(&part)));
            }
            self.waiting.pop_front();
            self.writing.insert(run.first, run.end);
            io.serve(Tier::Front, part.run.first, &part, Job::Written { part });
        }
    }

    /// Whether any block of `run` is being written to the front device.
    fn is_writing(&self, run: BlockRun) -> bool {
        self.writing.range(..run.end).next_back().is_some_and(|(_, end)| run.first < *end)
    }

    /// Destages the next dirty blocks, one run at a time, while no read of the back device is in flight or while writes
    /// wait for room.
    fn destage(&mut self, io: &mut Io<Job>) {
        if self.is_destaging || (self.back_reads > 0 && self.waiting.is_empty()) {
            return;
        }
        let Some(run) = self.buffer.next_dirty(self.destaged_to) else { return };
        // Blocks that are still being written to the front device are not destaged, or a crash could leave two
        // different copies.
        if self.is_writing(run) {
            return;
        }
        self.buffer.begin_destage(run);
        self.is_destaging = true;
        self.destaged_to = run.end;
        self.counts.destaged_blocks += u64::from(run.blocks());
        self.dirty_blocks -= u64::from(run.blocks());
        let contents = &self.contents;
        io.write(Tier::Back, run, Job::Destaged { run }, || {
            (run.first..run.end).map(|block| contents.get(&block).cloned().unwrap_or_default()).collect()
        });
    }
}

impl Logic for Mirror {
    type Job = Job;

    fn capacity_blocks(&self, _: u64) -> u64 {
        self.blocks
    }

    fn arrive(&mut self, io: &mut Io<Job>, request: QueuedRequest) {
        let run = BlockRun { first: request.lbn, end: request.lbn + u64::from(request.blocks) };
        if request.op == Op::Read {
            let part = Part { request: io.begin(request, 1), run, op: request.op };
            self.begin_read(io, part, &request);
        } else {
            self.counts.writes += 1;
            self.counts.written_blocks += u64::from(request.blocks);
            let size = self.max_blocks;
            let pieces = run.first / size..run.end.div_ceil(size);
            let index = io.begin(request, (pieces.end - pieces.start) as u32);
            self.waiting.extend(pieces.map(|piece| {
                let run =
                    BlockRun { first: run.first.max(piece * size), end: run.end.min((piece + 1) * size) };
                Part { request: index, run, op: Op::Write }
            }));
            self.write_waiting(io);
            self.counts.write_hits += u64::from(self.waiting.is_empty());
        }
        self.destage(io);
    }

    fn complete(&mut self, io: &mut Io<Job>, job: Job, access: &Completion) {
        match job {
            Job::Read { part, tier } => {
                io.charge_request(&part, access);
                let contents = io.contents(tier, access);
                io.deliver(&part, contents);
                io.complete_part(&part, access);
                self.back_reads -= usize::from(tier == Tier::Back);
            }
            Job::Written { part } => {
                io.charge_request(&part, access);
                io.complete_part(&part, access);
                self.writing.remove(&part.run.first);
            }
            Job::Destaged { run } => {
                io.charge_background(access);
                self.buffer.end_destage(run);
                self.is_destaging = false;
            }
        }
        self.write_waiting(io);
        self.destage(io);
    }

    fn due(&self) -> Option<Time> {
        None
    }

    fn wake(&mut self, _io: &mut Io<Job>) {}

    fn waiting_requests(&self) -> usize {
        self.waiting.len()
    }

    fn place(&self, read: &QueuedRequest) -> (Tier, u64) {
        (Tier::Front, read.lbn)
    }

    fn counts(&self) -> HybridCounts {
        HybridCounts { dirty_blocks: self.dirty_blocks, live_share: 1.0, ..self.counts }
    }

    /// Returns the contents of the non-volatile buffer; the front device has all blocks.
    fn residency(&self) -> Residency {
        Residency {
            unit: "line",
            slot_blocks: LINE_BLOCKS,
            has_places: false,
            since: Time::ZERO,
            slots: self.buffer.slots(),
            waiting: 0,
            writing: usize::from(self.is_destaging),
        }
    }

    fn forget(&mut self) {
        self.counts = HybridCounts::default();
    }

    fn recover(&mut self, (front, _): (Contents, Contents)) -> Contents {
        let mut contents = front;
        for block in self.buffer.unwritten().into_iter().flat_map(|run| run.first..run.end) {
            contents.insert(block, self.contents.get(&block).cloned().unwrap_or_default());
        }
        contents
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl PlantDefect for Mirror {
    /// Without effect: the front device has all data too.
    fn free_early(&mut self) {}
}
