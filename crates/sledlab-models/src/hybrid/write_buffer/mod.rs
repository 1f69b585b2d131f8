//! MEMS write buffer (Wang 2005, section 4.1): every write is appended to a log on the front device, and
//! complete once the log has it. Reads of blocks that were written recently are answered from the logs.
//!
//! Logs form a ring. The oldest logs are destaged when a large share of the ring is in use, or when the back device has
//! been idle: the newest versions of blocks in them are read into the speed-matching buffer and destaged to the back
//! device, adjacent blocks by one access. This is done in ascending order of blocks for as many logs as the buffer
//! holds, or log by log in the order of writing. A clean log can be read until it is overwritten.
//!
//! Every record has a header before its data, with the record's number, its blocks and a checksum. After a crash each
//! log is read from its beginning as long as the numbers follow each other, and later records win over earlier ones. In
//! a log that is partly overwritten, an older version of a block may be left while the newer version that was destaged
//! with it is gone; so the buffer keeps the number of the last record that recovery must ignore. Writes are
//! acknowledged in the order of their records, so that a record lost in the crash never hides an acknowledged one
//! behind it.

mod cleaning;
mod logs;
mod lookup;
mod params;
mod recovery;

use std::collections::VecDeque;

use sledlab_core::{Error, Op, Result, Span, Time};
use smallvec::SmallVec;

use self::cleaning::LogDestage;
use self::logs::{HEADER_BLOCKS, Logs, Phase, Record};
use self::lookup::{Lookup, Piece};
pub use self::params::WriteBufferParams;
use super::io::{Io, Part, Tier, without_startup};
use super::system::Logic;
use super::{Capacities, Model, PlantDefect};
use crate::cache::BlockRun;
use crate::device::QueuedRequest;
use crate::replacement::CustomPolicy;
use crate::system::{Completion, Contents, HybridCounts, Residency};

/// Work to do when an access is complete.
pub(super) enum Job {
    /// Records have been written to a log.
    Appended { append: u64 },
    /// A part has been read from a log.
    ReadFront { part: Part, at: u64 },
    /// Blocks have been read from the back device; those in `missing` are not in the logs.
    ReadBack { part: Part, missing: SmallVec<[BlockRun; 2]> },
    /// The newest versions of blocks in a log have been read into the buffer.
    Collected { from: BlockRun },
    /// A run has been destaged to the back device.
    Destaged,
}

/// Records with the parts of writes in them: one without `gather`.
type Records = SmallVec<[(Part, Record); 1]>;

/// Records that are written with one access, in order.
struct Append {
    parts: Records,
    /// The completed access, where an earlier append is not complete. Boxed, as this is rare.
    access: Option<Box<Completion>>,
}

/// See the module.
pub struct WriteBuffer {
    params: WriteBufferParams,
    /// The parameter `idle_ms`.
    idle_time: Span,
    logs: Logs,
    lookup: Lookup,
    /// Parts of writes that wait for room in the logs.
    pending_parts: VecDeque<Part>,
    /// Appends that are not acknowledged; the first entry is append number `first_append`.
    appends: VecDeque<Append>,
    first_append: u64,
    /// Number of appends whose access is not complete.
    appending: usize,
    cleaning: Option<LogDestage>,
    /// Number of reads of the back device in flight.
    back_reads: usize,
    /// When the latest read of the back device was completed.
    back_idle_since: Time,
    counts: HybridCounts,
    dirty_blocks: u64,
    /// Whether logs count as clean before their blocks have been destaged: a planted defect that tests must detect.
    frees_early: bool,
}

impl Model for WriteBuffer {
    type Params = WriteBufferParams;
    const NAME: &'static str = "write-buffer";
    const MEANING: &'static str =
        "MEMS write buffer: writes are appended to logs on the front device and destaged later";

    fn new(params: &WriteBufferParams, capacities: Capacities, _: &[CustomPolicy]) -> Result<Self> {
        let logs = params.logs(capacities.front)?;
        Ok(WriteBuffer {
            logs,
            params: params.clone(),
            idle_time: Span::from_ms(params.idle_ms),
            lookup: Lookup::default(),
            pending_parts: VecDeque::new(),
            appends: VecDeque::new(),
            first_append: 0,
            appending: 0,
            cleaning: None,
            back_reads: 0,
            back_idle_since: Time::ZERO,
            counts: HybridCounts::default(),
            dirty_blocks: 0,
            frees_early: false,
        })
    }
}

impl WriteBuffer {
    /// A write arrives: one record, or several where it is larger than a log.
    fn begin_write(&mut self, io: &mut Io<Job>, request: QueuedRequest) {
        let max_blocks = self.logs.log_blocks - HEADER_BLOCKS;
        let (first, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let parts = (end - first).div_ceil(max_blocks);
        let index = io.begin(request, parts as u32);
        for part in 0..parts {
            let run =
                BlockRun { first: first + part * max_blocks, end: end.min(first + (part + 1) * max_blocks) };
            self.pending_parts.push_back(Part { request: index, run, op: Op::Write });
        }
        self.append_pending(io);
        self.counts.writes += 1;
        self.counts.write_hits += u64::from(self.pending_parts.is_empty());
        self.counts.written_blocks += end - first;
    }

    /// Appends the waiting parts of writes, as far as the logs have room.
    fn append_pending(&mut self, io: &mut Io<Job>) {
        while !self.pending_parts.is_empty() {
            if self.params.gather && self.appending > 0 {
                return;
            }
            let mut parts = Records::new();
            while let Some(part) = self.pending_parts.front().copied() {
                let fits = self.logs.has_room(u64::from(part.run.blocks()));
                if !fits && (!parts.is_empty() || !self.open_next_log()) {
                    break;
                }
                self.pending_parts.pop_front();
                parts.push((part, self.logs.append(part.run)));
                if !self.params.gather {
                    break;
                }
            }
            let (Some((_, first)), Some((_, last))) = (parts.first(), parts.last()) else { return };
            let end = last.data_block + u64::from(last.run.blocks());
            let run = BlockRun { first: first.data_block - HEADER_BLOCKS, end };
            self.append(io, parts, run);
        }
    }

    /// Opens the next log, and removes its old records from the lookup table; false where that log cannot be
    /// overwritten yet.
    fn open_next_log(&mut self) -> bool {
        let Some(mut records) = self.logs.open_next() else { return false };
        for record in records.iter().filter(|record| record.newest_blocks > 0) {
            if record.is_newest() {
                self.lookup.remove_piece(record.run);
            } else {
                self.lookup.remove(record.run, |at| record.holds(at));
            }
        }
        records.clear();
        self.logs.reuse(records);
        true
    }

    /// Writes adjacent records with one access to the blocks `run` of the front device.
    fn append(&mut self, io: &mut Io<Job>, parts: Records, run: BlockRun) {
        let append = self.first_append + self.appends.len() as u64;
        let mut data = Vec::new();
        if io.keeps_contents() {
            let contents =
                parts.iter().flat_map(|(part, record)| recovery::record_contents(record, io, part));
            data.extend(contents);
        }
        io.write(Tier::Front, run, Job::Appended { append }, || data);
        self.appends.push_back(Append { parts, access: None });
        self.appending += 1;
    }

    /// The access of an append is complete. Its records are entered and acknowledged once all earlier appends are
    /// complete.
    fn complete_append(&mut self, io: &mut Io<Job>, append: u64, access: &Completion) {
        self.appending -= 1;
        if append > self.first_append {
            self.appends[(append - self.first_append) as usize].access = Some(Box::new(*access));
            return;
        }
        self.acknowledge(io, access);
        while let Some(access) = self.appends.front_mut().and_then(|first| first.access.take()) {
            self.acknowledge(io, &access);
        }
    }

    /// Enters and acknowledges the records of the first append.
    fn acknowledge(&mut self, io: &mut Io<Job>, access: &Completion) {
        let Some(Append { parts, .. }) = self.appends.pop_front() else { return };
        self.first_append += 1;
        for (number, (part, record)) in parts.iter().enumerate() {
            self.enter(*record);
            if number == 0 {
                io.charge_request(part, access);
                io.complete_part(part, access);
            } else {
                io.complete_part(part, &without_startup(access));
            }
        }
    }

    /// Enters a record into the lookup table: its blocks are the newest versions from now on.
    fn enter(&mut self, record: Record) {
        let blocks = record.run.end - record.run.first;
        let log = self.logs.log_at(record.data_block);
        // Records are acknowledged in order.
        let place = log.records.len() - log.unacknowledged as usize;
        log.records[place].newest_blocks = blocks;
        log.unacknowledged -= 1;
        let piece = Piece { run: record.run, front_block: record.data_block };
        self.lookup.insert(piece, |Piece { run, front_block: at }| {
            let (log, blocks) = (self.logs.log_at(at), run.end - run.first);
            if let Some(record) = log.record_at(at) {
                record.newest_blocks -= blocks;
            }
            if matches!(log.phase, Phase::Open | Phase::Full) {
                self.counts.superseded_blocks += blocks;
                self.dirty_blocks -= blocks;
            }
        });
        self.dirty_blocks += blocks;
    }

    /// A read arrives: blocks in the logs are read from the front device, the others from the back device with one
    /// access.
    fn begin_read(&mut self, io: &mut Io<Job>, request: QueuedRequest) {
        let run = BlockRun { first: request.lbn, end: request.lbn + u64::from(request.blocks) };
        let pieces = self.lookup.find(run);
        let mut missing: SmallVec<[BlockRun; 2]> = SmallVec::new();
        let mut first = run.first;
        for end in pieces.iter().map(|piece| piece.run).chain([BlockRun { first: run.end, end: run.end }]) {
            if first < end.first {
                missing.push(BlockRun { first, end: end.first });
            }
            first = end.end;
        }
        let index = io.begin(request, (pieces.len() + usize::from(!missing.is_empty())) as u32);
        self.counts.reads += 1;
        self.counts.read_hits += u64::from(missing.is_empty());
        for Piece { run, front_block: at } in pieces {
            let part = Part { request: index, run, op: Op::Read };
            self.logs.log_at(at).readers += 1;
            io.serve(Tier::Front, at, &part, Job::ReadFront { part, at });
        }
        if let (Some(first_missing), Some(last_missing)) = (missing.first(), missing.last()) {
            let part = Part {
                request: index,
                run: BlockRun { first: first_missing.first, end: last_missing.end },
                op: Op::Read,
            };
            self.back_reads += 1;
            io.serve(Tier::Back, first_missing.first, &part, Job::ReadBack { part, missing });
        }
    }

    fn read_front(&mut self, io: &mut Io<Job>, part: &Part, front_block: u64, access: &Completion) {
        self.logs.log_at(front_block).readers -= 1;
        io.charge_request(part, access);
        let contents = io.contents(Tier::Front, access);
        io.deliver(part, contents);
        io.complete_part(part, access);
    }

    fn read_back(&mut self, io: &mut Io<Job>, part: &Part, missing: &[BlockRun], access: &Completion) {
        io.charge_request(part, access);
        let contents = io.contents(Tier::Back, access);
        for run in missing.iter().filter(|_| !contents.is_empty()) {
            let offset = (run.first - part.run.first) as usize;
            let run_contents = contents[offset..offset + run.blocks() as usize].to_vec();
            io.deliver(&Part { run: *run, ..*part }, run_contents);
        }
        io.complete_part(part, access);
        self.back_reads -= 1;
        self.back_idle_since = io.now;
        self.destage_next(io);
    }
}

impl Logic for WriteBuffer {
    type Job = Job;

    fn capacity_blocks(&self, back_blocks: u64) -> u64 {
        back_blocks
    }

    fn arrive(&mut self, io: &mut Io<Job>, request: QueuedRequest) {
        if request.op == Op::Read {
            self.begin_read(io, request);
        } else {
            self.begin_write(io, request);
        }
    }

    fn complete(&mut self, io: &mut Io<Job>, job: Job, access: &Completion) {
        match job {
            Job::Appended { append } => self.complete_append(io, append, access),
            Job::ReadFront { part, at } => self.read_front(io, &part, at, access),
            Job::ReadBack { part, missing } => self.read_back(io, &part, &missing, access),
            Job::Collected { from } => self.complete_log_read(io, from, access),
            Job::Destaged => self.complete_destage(io, access),
        }
        self.clean_if_full(io);
        if !self.pending_parts.is_empty() {
            self.append_pending(io);
        }
    }

    fn due(&self) -> Option<Time> {
        let can_clean = self.cleaning.is_none() && self.back_reads == 0 && self.logs.has_full();
        can_clean.then(|| self.back_idle_since + self.idle_time)
    }

    fn wake(&mut self, io: &mut Io<Job>) {
        self.clean(io, false);
    }

    fn waiting_requests(&self) -> usize {
        self.pending_parts.len()
    }

    fn place(&self, read: &QueuedRequest) -> (Tier, u64) {
        match self.lookup.find(BlockRun { first: read.lbn, end: read.lbn + 1 }).first() {
            Some(piece) => (Tier::Front, piece.front_block),
            None => (Tier::Back, read.lbn),
        }
    }

    fn counts(&self) -> HybridCounts {
        let capacity_blocks = self.logs.len() as f64 * self.logs.log_blocks as f64;
        HybridCounts {
            dirty_blocks: self.dirty_blocks,
            live_share: self.lookup.len() as f64 / capacity_blocks,
            ..self.counts
        }
    }

    fn residency(&self) -> Residency {
        let (waiting, writing) = self.cleaning.as_ref().map_or((0, 0), LogDestage::writes);
        Residency {
            unit: "log",
            slot_blocks: self.logs.log_blocks,
            has_places: true,
            since: Time::ZERO,
            slots: self.logs.slots(),
            waiting,
            writing,
        }
    }

    fn forget(&mut self) {
        self.counts = HybridCounts::default();
    }

    fn recover(&mut self, (front, back): (Contents, Contents)) -> Contents {
        recovery::recover(&front, back, &self.logs)
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }
}

impl PlantDefect for WriteBuffer {
    fn free_early(&mut self) {
        self.frees_early = true;
    }
}
