//! MEMS caching disk (Wang 2005, section 4.2): the front device holds segments of the back
//! device, any segment in any slot. All requests are served from the front device.
//!
//! Segments move through the speed-matching buffer: the dirty blocks of a victim move from its slot to the buffer and
//! then to the back device, and a missing segment moves from the back device to the buffer and then to its slot. A
//! segment that is fetched before its slot is free never takes the last place in the buffer. So a victim always finds a
//! place, and even a buffer with a single place cannot deadlock.

mod adjacent_reads;
mod copying;
mod destaging;
mod directory;
mod groups;
mod headers;
mod managers;
mod moves;
mod neighbors;
mod params;
mod resident;
mod serving;
mod steps;

use std::collections::VecDeque;

use sledlab_core::hash::Map;
use sledlab_core::{Error, Op, Result, Time};
use smallvec::SmallVec;

use self::copying::Arrivals;
use self::destaging::{Destage, WriteBehindQueue};
use self::directory::{Directory, SlotOf};
use self::groups::Members;
use self::headers::Headers;
use self::managers::Managers;
use self::moves::{EarlyFetch, Fetch, SlotRequest};
pub use self::params::CachingDiskParams;
use self::params::{DestageTime, Sizes};
use super::blocks::{BlockSets, Blocks};
use super::buffer::Buffer;
use super::io::{Io, Part, Tier};
use super::streams::Streams;
use super::system::Logic;
use super::{Capacities, KB_BLOCKS, Model, PlantDefect};
use crate::cache::BlockRun;
use crate::device::QueuedRequest;
use crate::replacement::CustomPolicy;
use crate::system::{Completion, Contents, HybridCounts, Residency};

/// Enabled techniques of Wang 2005, section 4.2.
#[derive(Clone, Copy, Debug)]
struct Techniques {
    shortcut: bool,
    immediate_report: bool,
    partial_write: bool,
}

/// The state of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The slot holds nothing.
    #[default]
    Free,
    /// The slot holds a segment, or those of its blocks that were written.
    Resident,
    /// The blocks that the slot lacks of its segment are being fetched to the buffer.
    Fetching,
    /// The blocks that the slot lacks of its segment are being written from the buffer.
    Filling,
    /// The segment is being evicted: its dirty blocks are destaged to the back device.
    Leaving,
}

/// A place for a segment on the front device.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    segment: u64,
    /// Number of the segment's stay in this slot; stays are numbered in order.
    stay: u64,
    /// Number of accesses to the slot in flight.
    users: u32,
    phase: Phase,
    /// Whether another segment may be waiting for the slot, or a part for blocks of the segment in it.
    has_waiters: bool,
    /// Whether the slot has changed since the parts that wait for its segment were last tried, so that some may be
    /// served now.
    is_changed: bool,
    /// Whether a waiting part needs blocks that the slot lacks and that are not being fetched.
    is_missing: bool,
}

/// Parts that wait, in order of arrival: most often one.
type Parts = SmallVec<[Part; 1]>;

/// A segment that was assigned a slot still used by earlier segments, and the parts that wait for the segment.
#[derive(Debug)]
struct Next {
    segment: u64,
    stay: u64,
    parts: Parts,
    /// Whether some of the parts need blocks of the back device.
    needs_fetch: bool,
    early: EarlyFetch,
}

/// Work to do when an access is complete.
pub(super) enum Job {
    /// A part has been read from or written to its slot.
    Served { slot: u32, part: Part },
    /// Parts of a read have been read from adjacent slots with one access.
    Stretch { parts: Vec<(u32, Part)> },
    /// A read that bypasses the front device has been read from the back device.
    Bypassed { part: Part },
    /// A group of segments, or a piece of it, has been fetched to the buffer.
    Fetched { segment: u64, members: Members },
    /// Some blocks of a segment have been written from the buffer to its slot.
    Filled { slot: u32 },
    /// Blocks of a victim have been read from its slot to the buffer.
    Collected { destage: usize, run: BlockRun },
    /// A run of a victim is on the back device.
    Destaged { destage: usize },
    /// The header of a slot has been written to the front device.
    Header { slot: u32 },
}

/// See the module.
pub struct CachingDisk {
    sizes: Sizes,
    back_blocks: u64,
    techniques: Techniques,
    directory: Directory,
    slots: Vec<Slot>,
    /// Blocks that the slots hold.
    valid: BlockSets,
    /// Dirty blocks: the slots hold them, or they are being written to the slots, and they have not been destaged.
    dirty: BlockSets,
    /// For each slot that other segments wait for: those segments, in order.
    next: Map<u32, VecDeque<Next>>,
    /// Number of parts whose segment waits for its slot.
    queued_parts: usize,
    /// For each slot: parts that wait for blocks of the segment in it.
    waiting_parts: Map<u32, Parts>,
    /// Stays of evicted segments that have not ended, by segment and in order: a later stay of the segment begins after
    /// them. In an overloaded cache of few slots a segment has very many.
    ending_stays: Map<u64, VecDeque<u64>>,
    /// By segment: slots assigned to it that it cannot take until an earlier stay in another slot has ended.
    blocked_slots: Map<u64, Vec<u32>>,
    stays: u64,
    buffer: Buffer<SlotRequest>,
    /// Whether a segment is fetched before its slot is free.
    fetches_early: bool,
    fetches: Map<u32, Fetch>,
    arrivals: Arrivals,
    destages: Vec<Option<Destage>>,
    write_behind_queue: WriteBehindQueue,
    /// By slot: dirty blocks that are being destaged with a neighboring victim.
    cleaned_blocks: Map<u32, Blocks>,
    /// Whether slots count as free before the buffer has the victim's dirty blocks: a defect that tests must find.
    frees_early: bool,
    headers: Headers,
    streams: Streams,
    /// Virtual segment managers, where these choose how many segments to fetch at once.
    managers: Option<Managers>,
    /// Parts of a read in adjacent slots, collected for one access.
    collected_parts: Vec<(u32, Part)>,
    /// Slots whose state has changed, to be stepped.
    ready: Vec<u32>,
    /// Requests longer than [`MAX_PARTS`], in order of arrival.
    unentered_parts: Vec<UnenteredPart>,
    counts: HybridCounts,
}

/// Maximum parts of one request in progress at once. Of a longer request, each part that is answered makes room for the
/// next one, so that a request takes the same memory whatever its length.
const MAX_PARTS: u32 = 1 << 14;

/// The blocks of a request whose parts have not been entered.
struct UnenteredPart {
    part: Part,
    /// Number of segments that the blocks are in.
    segments: u32,
}

impl Model for CachingDisk {
    type Params = CachingDiskParams;
    const NAME: &'static str = "caching-disk";
    const MEANING: &'static str =
        "MEMS caching disk: the front device is a fully associative write-back cache in segments";

    fn new(params: &CachingDiskParams, capacities: Capacities, policies: &[CustomPolicy]) -> Result<Self> {
        let (sizes, policy) = (params.sizes(capacities.front)?, params.policy(policies)?);
        let sets = || BlockSets::new(sizes.slots as usize, sizes.segment_blocks);
        Ok(CachingDisk {
            sizes,
            back_blocks: capacities.back,
            techniques: Techniques {
                shortcut: params.shortcut,
                immediate_report: params.immediate_report,
                partial_write: params.partial_write,
            },
            directory: Directory::new(&policy, sizes.slots)?,
            slots: vec![Slot::default(); sizes.slots as usize],
            valid: sets(),
            dirty: sets(),
            next: Map::default(),
            queued_parts: 0,
            waiting_parts: Map::default(),
            ending_stays: Map::default(),
            blocked_slots: Map::default(),
            stays: 0,
            buffer: Buffer::new(sizes.buffer_slots, sizes.reserved_slots()),
            fetches_early: params.shortcut && params.early_fetch,
            fetches: Map::default(),
            arrivals: Arrivals::default(),
            destages: Vec::new(),
            write_behind_queue: WriteBehindQueue::new(params.destage == DestageTime::BehindReads),
            cleaned_blocks: Map::default(),
            frees_early: false,
            headers: Headers::new(sizes),
            streams: Streams::new(params.bypass_kb * KB_BLOCKS),
            managers: params.managers(sizes, &policy)?,
            collected_parts: Vec::new(),
            ready: Vec::new(),
            unentered_parts: Vec::new(),
            counts: HybridCounts::default(),
        })
    }
}

impl CachingDisk {
    /// Number of blocks of a segment: the last one may be shorter.
    fn segment_len(&self, segment: u64) -> u64 {
        self.sizes.segment_blocks.min(self.back_blocks - segment * self.sizes.segment_blocks)
    }

    /// The blocks of a part within their segment.
    #[inline]
    fn segment_run(&self, segment: u64, part: &Part) -> BlockRun {
        let first = segment * self.sizes.segment_blocks;
        BlockRun { first: part.run.first - first, end: part.run.end - first }
    }

    /// The first block of data in a slot.
    fn first_data_block(&self, slot: u32) -> u64 {
        u64::from(slot) * (self.sizes.segment_blocks + self.sizes.header_blocks) + self.sizes.header_blocks
    }

    /// Enters parts of a request until [`MAX_PARTS`] of them are in progress; returns whether there were any.
    #[inline]
    fn enter_parts(&mut self, io: &mut Io<Job>, unentered: &mut UnenteredPart) -> bool {
        let UnenteredPart { part: Part { request, run, .. }, segments } = *unentered;
        let first = run.first / self.sizes.segment_blocks;
        let last = first + u64::from(segments);
        for segment in first..last {
            if io.missing_parts(request) - unentered.segments >= MAX_PARTS {
                return segment > first;
            }
            let end = ((segment + 1) * self.sizes.segment_blocks).min(run.end);
            let part = Part { run: BlockRun { end, ..unentered.part.run }, ..unentered.part };
            unentered.part.run.first = end;
            unentered.segments -= 1;
            self.enter(io, segment, part);
        }
        segments > 0
    }

    /// Does all that is possible.
    #[inline]
    fn advance_all(&mut self, io: &mut Io<Job>) {
        self.advance(io);
        if !self.unentered_parts.is_empty() {
            self.enter_further_parts(io);
        }
    }

    /// Enters further parts of long requests as others are answered.
    #[cold]
    fn enter_further_parts(&mut self, io: &mut Io<Job>) {
        while !self.unentered_parts.is_empty() {
            let mut parts = std::mem::take(&mut self.unentered_parts);
            let mut has_entered = false;
            for unentered in &mut parts {
                has_entered |= self.enter_parts(io, unentered);
            }
            parts.retain(|unentered| unentered.segments > 0);
            self.unentered_parts = parts;
            if !has_entered {
                return;
            }
            self.advance(io);
        }
    }

    /// A part of a request arrives.
    #[inline]
    fn enter(&mut self, io: &mut Io<Job>, segment: u64, part: Part) {
        let (slot, is_known) = match self.directory.access(segment) {
            SlotOf::Resident(slot) => (slot, true),
            SlotOf::New { slot, victim } => {
                self.assign(segment, slot, victim);
                (slot, false)
            }
        };
        self.count(slot, segment, &part, is_known);
        if self.slots[slot as usize].has_waiters && self.next.contains_key(&slot) {
            self.queue(io, slot, part);
            self.ready.push(slot);
        } else if !self.serve(io, slot, part) {
            let is_missing = self.misses(slot, &part);
            self.waiting_parts.entry(slot).or_default().push(part);
            let state = &mut self.slots[slot as usize];
            (state.has_waiters, state.is_missing) = (true, state.is_missing || is_missing);
            // In other phases the completion of an access makes the slot ready.
            if state.phase == Phase::Resident {
                self.ready.push(slot);
            }
        }
    }

    fn count(&mut self, slot: u32, segment: u64, part: &Part, is_known: bool) {
        if part.op == Op::Read {
            let is_current = !self.slots[slot as usize].has_waiters || !self.next.contains_key(&slot);
            let is_hit = is_known && is_current && self.valid.has_all(slot, self.segment_run(segment, part));
            self.counts.reads += 1;
            self.counts.read_hits += u64::from(is_hit);
        } else {
            self.counts.writes += 1;
            self.counts.write_hits += u64::from(is_known);
            self.counts.written_blocks += u64::from(part.run.blocks());
        }
    }

    /// Assigns a slot to a segment that has none: once the `victim` has left the slot, where there is a victim.
    fn assign(&mut self, segment: u64, slot: u32, victim: Option<u64>) {
        if let Some(victim) = victim {
            let stay = match self.next.get(&slot).and_then(VecDeque::back) {
                Some(next) => next.stay,
                None => self.slots[slot as usize].stay,
            };
            self.ending_stays.entry(victim).or_default().push_back(stay);
        }
        self.stays += 1;
        let (stay, parts) = (self.stays, Parts::new());
        let next = Next { segment, stay, parts, needs_fetch: false, early: EarlyFetch::No };
        self.next.entry(slot).or_insert_with(|| VecDeque::with_capacity(1)).push_back(next);
        self.slots[slot as usize].has_waiters = true;
    }

    /// Whether a read bypasses the front device: it is part of a stream, and none of its segments is on the front
    /// device.
    fn bypasses(&mut self, request: &QueuedRequest, segments: &std::ops::RangeInclusive<u64>) -> bool {
        request.op == Op::Read
            && self.streams.is_stream(request)
            && !segments.clone().any(|s| self.directory.holds(s) || self.ending_stays.contains_key(&s))
    }
}

impl Logic for CachingDisk {
    type Job = Job;

    fn capacity_blocks(&self, back_blocks: u64) -> u64 {
        back_blocks
    }

    fn arrive(&mut self, io: &mut Io<Job>, request: QueuedRequest) {
        let run = BlockRun { first: request.lbn, end: request.lbn + u64::from(request.blocks) };
        let size = self.sizes.segment_blocks;
        let segments = run.first / size..=(run.end - 1) / size;
        if self.bypasses(&request, &segments) {
            let part = Part { request: io.begin(request, 1), run, op: request.op };
            self.counts.reads += segments.end() - segments.start() + 1;
            self.counts.bypassed += 1;
            self.write_behind_queue.reads += 1;
            io.serve(Tier::Back, run.first, &part, Job::Bypassed { part });
            return;
        }
        if let Some(managers) = &mut self.managers {
            managers.observe(&request);
        }
        let segments = (segments.end() - segments.start() + 1) as u32;
        let part = Part { request: io.begin(request, segments), run, op: request.op };
        let mut unentered = UnenteredPart { part, segments };
        self.enter_parts(io, &mut unentered);
        if unentered.segments > 0 {
            self.unentered_parts.push(unentered);
        }
        self.advance_all(io);
    }

    fn complete(&mut self, io: &mut Io<Job>, job: Job, access: &Completion) {
        match job {
            Job::Served { slot, part } => self.complete_access(io, slot, &part, access),
            Job::Stretch { parts } => self.complete_collected_read(io, &parts, access),
            Job::Bypassed { part } => {
                self.write_behind_queue.reads -= 1;
                io.charge_request(&part, access);
                let contents = io.contents(Tier::Back, access);
                io.deliver(&part, contents);
                io.complete_part(&part, access);
            }
            Job::Fetched { segment: requested, members } => {
                self.complete_group_fetch(io, requested, &members, access);
            }
            Job::Filled { slot } => self.complete_fill_write(io, slot, access),
            Job::Collected { destage, run } => self.complete_victim_read(io, destage, run, access),
            Job::Destaged { destage } => self.complete_destage(io, destage, access),
            Job::Header { slot } => self.complete_header_write(io, slot, access),
        }
        self.advance_all(io);
    }

    fn due(&self) -> Option<Time> {
        None
    }

    fn wake(&mut self, _io: &mut Io<Job>) {}

    fn waiting_requests(&self) -> usize {
        self.queued_parts + self.buffer.waiting_users()
    }

    fn place(&self, read: &QueuedRequest) -> (Tier, u64) {
        let size = self.sizes.segment_blocks;
        match self.directory.slot(read.lbn / size) {
            Some(slot) => (Tier::Front, self.first_data_block(slot) + read.lbn % size),
            None => (Tier::Back, read.lbn),
        }
    }

    fn counts(&self) -> HybridCounts {
        let capacity_blocks = f64::from(self.sizes.slots) * self.sizes.segment_blocks as f64;
        HybridCounts {
            dirty_blocks: self.dirty_blocks(),
            live_share: self.valid.len() as f64 / capacity_blocks,
            ..self.counts
        }
    }

    fn residency(&self) -> Residency {
        self.residency_now()
    }

    fn forget(&mut self) {
        self.counts = HybridCounts::default();
    }

    fn recover(&mut self, media: (Contents, Contents)) -> Contents {
        headers::recover(self.durable(media))
    }

    fn failure(&mut self) -> Option<Error> {
        self.directory.failure().or_else(|| self.managers.as_mut()?.failure())
    }
}

impl PlantDefect for CachingDisk {
    fn free_early(&mut self) {
        self.frees_early = true;
    }
}
