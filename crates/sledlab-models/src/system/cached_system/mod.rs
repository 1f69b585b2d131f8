//! A cache in front of a system.

mod contents;
mod flushes;
mod room;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use sledlab_core::hash::Map;
use sledlab_core::{BLOCK_BYTES, Error, Op, Result, Span, Time};

use self::contents::CachedContents;
use self::flushes::Flush;
use self::room::requested_blocks;
use super::completion_queue::CompletionQueue;
use super::{
    Completion, Content, Contents, Durable, HybridCounts, Residency, Station, System, advance_by_events,
    earliest,
};
use crate::cache::{BlockRun, CacheCounts, CacheParams, Destage, Lines};
use crate::device::{FaultCounts, PartialBlocks, QueuedRequest, Timing};
use crate::power::{RequestEnergy, TotalEnergy};

/// A write-back cache and the system behind it.
///
/// Reads are answered from the cache; blocks that it does not hold are fetched from the devices. Writes are complete
/// once the cache holds them; they wait while the cache is full of dirty lines. So do reads with `read_destage =
/// "first"`.
pub struct CachedSystem {
    backing: Box<dyn System>,
    /// Time of the next event of the system behind.
    next_backing_event: Option<Time>,
    lines: Lines,
    params: CacheParams,
    access: Span,
    block_ns: f64,
    /// The parameter `destage_idle_ms`.
    destage_idle: Span,
    /// Accesses to the system behind, numbered as they begin: the first entry is access number `first_access`.
    accesses: VecDeque<Option<Access>>,
    first_access: u64,
    /// Number of accesses that are not complete.
    in_flight: usize,
    /// Fetches in flight that further reads may wait for, by first block: their ends and access numbers. They do not
    /// overlap.
    fetching: BTreeMap<u64, (u64, u64)>,
    destaging: usize,
    /// Reads that wait for fetches, by request.
    reads: Map<u64, WaitingRead>,
    /// Requests that wait for room, and of writes the first block that is not in the cache.
    room_queue: VecDeque<(QueuedRequest, u64)>,
    /// Completions that lie in the future.
    answers: CompletionQueue,
    /// The present time.
    now: Time,
    /// Start of the current period without work except destages.
    idle_since: Time,
    longest_queue: usize,
    /// The block after the run whose destage began last.
    last_destage_end: u64,
    background: TotalEnergy,
    background_end: Time,
    counts: CacheCounts,
    completed: Vec<Completion>,
    /// Flushes of a volatile cache that wait for destages.
    flushes: Vec<Flush>,
    /// Contents of the cached blocks, where media keep contents.
    contents: Option<CachedContents>,
}

/// An access to the system behind the cache.
struct Access {
    run: BlockRun,
    kind: Kind,
}

enum Kind {
    /// A fetch of blocks for the cache, and the reads that wait for it. The blocks are not cached where some were
    /// written meanwhile (`is_current` is false).
    Fetch { readers: Vec<u64>, is_current: bool },
    /// A destage of dirty blocks.
    Destage,
}

/// A read that waits for fetches.
struct WaitingRead {
    request: QueuedRequest,
    fetches: usize,
    energy: RequestEnergy,
}

impl CachedSystem {
    /// An empty cache in front of the system `backing`; it keeps contents where that system does.
    ///
    /// # Errors
    /// An unknown replacement policy, or one that a cache with dirty lines cannot use.
    pub fn new(params: &CacheParams, mut backing: Box<dyn System>) -> Result<Self> {
        let contents = backing.durable().map(|_| CachedContents::default());
        Ok(CachedSystem {
            next_backing_event: backing.next_event(),
            backing,
            lines: Lines::new(params)?,
            access: Span::from_ms(params.access_us / 1e3),
            block_ns: BLOCK_BYTES as f64 * 1e3 / params.bus_mb_s,
            destage_idle: Span::from_ms(params.destage_idle_ms),
            params: params.clone(),
            accesses: VecDeque::new(),
            first_access: 0,
            in_flight: 0,
            fetching: BTreeMap::new(),
            destaging: 0,
            reads: Map::default(),
            room_queue: VecDeque::new(),
            answers: CompletionQueue::default(),
            now: Time::ZERO,
            idle_since: Time::ZERO,
            longest_queue: 0,
            last_destage_end: 0,
            background: TotalEnergy::default(),
            background_end: Time::ZERO,
            counts: CacheCounts::default(),
            completed: Vec::new(),
            flushes: Vec::new(),
            contents,
        })
    }

    fn begin_read(&mut self, now: Time, request: QueuedRequest) {
        let requested = requested_blocks(&request);
        if self.read_waits(requested) {
            self.counts.read_misses += 1;
            self.wait_for_room(now, request);
        } else if self.serve_read(now, request) {
            self.counts.read_hits += 1;
        } else {
            self.counts.read_misses += 1;
        }
    }

    /// Answers a read from the cache, or fetches the blocks that the cache does not hold; returns whether it held all
    /// of them.
    fn serve_read(&mut self, now: Time, request: QueuedRequest) -> bool {
        let requested = requested_blocks(&request);
        let missing = self.lines.read(requested);
        if let Some(contents) = &mut self.contents {
            contents.begin_read(request.id, requested);
        }
        let Some(last) = missing.last() else {
            self.answer_from_cache(now, request);
            return true;
        };
        let reads_ahead = last.end == requested.end;
        let mut fetches = 0;
        for run in missing {
            fetches += self.fetch(now, run, &request);
        }
        self.reads.insert(request.id, WaitingRead { request, fetches, energy: RequestEnergy::default() });
        self.destage_after_read(now, requested);
        if reads_ahead {
            self.read_ahead(now, requested.end, &request);
        }
        false
    }

    /// Lets a read wait for the fetches of `run`, those in flight and new ones; returns their number.
    fn fetch(&mut self, now: Time, run: BlockRun, request: &QueuedRequest) -> usize {
        let (mut fetches, mut first) = (0, run.first);
        while first < run.end {
            let (end, in_flight) = self.next_fetch(first, run.end);
            match in_flight.and_then(|number| self.access_mut(number)) {
                Some(Access { kind: Kind::Fetch { readers, .. }, .. }) => readers.push(request.id),
                _ => self.begin_fetch(now, BlockRun { first, end }, vec![request.id], request),
            }
            fetches += 1;
            first = end;
        }
        fetches
    }

    /// Returns the end, at most `end`, of the blocks from `first` on that one fetch in flight brings, with its number,
    /// or that no fetch brings.
    fn next_fetch(&self, first: u64, end: u64) -> (u64, Option<u64>) {
        if let Some((_, (fetch_end, number))) = self.fetching.range(..=first).next_back()
            && *fetch_end > first
        {
            return (end.min(*fetch_end), Some(*number));
        }
        let next = self.fetching.range(first..).next().map_or(end, |(at, _)| *at);
        (end.min(next), None)
    }

    fn begin_fetch(&mut self, now: Time, run: BlockRun, readers: Vec<u64>, request: &QueuedRequest) {
        self.counts.fetches += 1;
        self.counts.fetched_blocks += u64::from(run.blocks());
        self.fetching.insert(run.first, (run.end, self.next_access()));
        let kind = Kind::Fetch { readers, is_current: true };
        // Blocks are cached completely, so all words are fetched.
        self.begin(
            now,
            run,
            kind,
            QueuedRequest { partial: PartialBlocks::default(), op: Op::Read, ..*request },
        );
    }

    /// Reads ahead from block `end` on, as far as the blocks are neither cached nor being fetched.
    fn read_ahead(&mut self, now: Time, end: u64, request: &QueuedRequest) {
        let limit = (end + self.params.read_ahead_blocks).min(self.backing.capacity_blocks());
        let (ahead_end, in_flight) = self.next_fetch(end, self.lines.missing_end(end, limit));
        if ahead_end > end && in_flight.is_none() {
            let run = BlockRun { first: end, end: ahead_end };
            self.counts.read_ahead_blocks += ahead_end - end;
            self.lines.prefetch(run);
            self.begin_fetch(now, run, Vec::new(), request);
        }
    }

    /// The number of the next access.
    fn next_access(&self) -> u64 {
        self.first_access + self.accesses.len() as u64
    }

    fn access_mut(&mut self, number: u64) -> Option<&mut Access> {
        self.accesses.get_mut((number - self.first_access) as usize)?.as_mut()
    }

    /// Takes out an access that is complete.
    fn take_access(&mut self, number: u64) -> Option<Access> {
        let access = self.accesses.get_mut((number - self.first_access) as usize)?.take()?;
        self.in_flight -= 1;
        while let Some(None) = self.accesses.front() {
            self.accesses.pop_front();
            self.first_access += 1;
        }
        Some(access)
    }

    /// Starts an access to the system behind; all fields but the number and the blocks are those of `template`.
    fn begin(&mut self, now: Time, run: BlockRun, kind: Kind, template: QueuedRequest) {
        let id = self.next_access();
        self.accesses.push_back(Some(Access { run, kind }));
        self.in_flight += 1;
        self.backing.arrive(now, QueuedRequest { id, lbn: run.first, blocks: run.blocks(), ..template });
        self.next_backing_event = self.backing.next_event();
    }

    fn begin_write(&mut self, now: Time, request: QueuedRequest) {
        self.wait_for_room(now, request);
        if self.room_queue.is_empty() { self.counts.write_hits += 1 } else { self.counts.write_waits += 1 }
    }

    /// Marks the fetches in flight that overlap `run` as stale, because these blocks have been written.
    fn invalidate_fetches(&mut self, run: BlockRun) {
        while let Some(number) = self.next_invalidated(run) {
            let Some(Access { run, kind: Kind::Fetch { is_current, .. } }) = self.access_mut(number) else {
                break;
            };
            *is_current = false;
            let first = run.first;
            self.fetching.remove(&first);
        }
    }

    fn next_invalidated(&self, run: BlockRun) -> Option<u64> {
        let last = self.fetching.range(..run.end).next_back();
        last.filter(|(_, (end, _))| *end > run.first).map(|(_, (_, number))| *number)
    }

    fn destage(&mut self, now: Time, run: BlockRun) {
        self.lines.begin_destage(run);
        self.destaging += 1;
        self.last_destage_end = run.end;
        self.counts.destages += 1;
        self.counts.destaged_blocks += u64::from(run.blocks());
        self.flushes.iter_mut().for_each(|flush| flush.begin(run));
        let number = self.next_access();
        if let (Some(contents), Some(backing)) = (&self.contents, self.backing.durable()) {
            backing.supply_data(number, contents.contents(run));
        }
        let write =
            QueuedRequest { arrival: now, queue_time: now, op: Op::Write, ..QueuedRequest::default() };
        self.begin(now, run, Kind::Destage, write);
    }

    /// Time of the transfer between cache and host.
    fn transfer(&self, request: &QueuedRequest) -> Span {
        self.access + Span::from_ns((self.block_ns * f64::from(request.blocks)).round() as u64)
    }

    fn answer_from_cache(&mut self, now: Time, request: QueuedRequest) {
        let transfer = self.transfer(&request);
        let timing = Timing { transfer, ..Timing::default() };
        let completion = now + transfer;
        self.answers.insert(Completion { completion, timing, ..Completion::immediate(request, now) });
    }

    /// An access to the system behind is complete.
    fn finish(&mut self, access: &Completion) {
        let Some(Access { run, kind }) = self.take_access(access.request.id) else { return };
        let now = access.completion;
        match kind {
            Kind::Destage => {
                self.destaging -= 1;
                self.lines.end_destage(run);
                self.spend_in_background(access);
                self.end_flushes(now, run);
            }
            Kind::Fetch { readers, is_current } => {
                self.idle_since = now;
                if let (Some(contents), Some(backing)) = (&mut self.contents, self.backing.durable()) {
                    let fetched = backing.read_contents(access.request.id);
                    contents.complete_fetch(run, &fetched, &readers, is_current);
                }
                if is_current {
                    self.fetching.remove(&run.first);
                    self.lines.fill(run);
                }
                // Energy and start-up of the fetch count for the first read that waits for it.
                match readers.first().and_then(|reader| self.reads.get_mut(reader)) {
                    Some(first_read) => first_read.energy += access.energy,
                    None => self.spend_in_background(access),
                }
                let mut access = *access;
                for reader in readers {
                    self.complete_fetch(reader, &access);
                    access.timing.startup = Span::ZERO;
                }
            }
        }
    }

    fn spend_in_background(&mut self, access: &Completion) {
        self.background += access.energy;
        self.background_end = self.background_end.max(access.completion);
    }

    /// One of the fetches that a read waits for is complete.
    fn complete_fetch(&mut self, reader: u64, fetch: &Completion) {
        let Some(read) = self.reads.get_mut(&reader) else { return };
        read.fetches -= 1;
        if read.fetches > 0 {
            return;
        }
        let WaitingRead { request, energy, .. } = *read;
        self.reads.remove(&reader);
        // The positioning of a fetch does not count for a read that joined it in flight.
        self.answers.insert(fetch.for_request(request, fetch.completion + self.transfer(&request), energy));
    }

    /// Returns whether there is no work except destages.
    fn is_idle(&self) -> bool {
        self.in_flight == self.destaging && self.room_queue.is_empty()
    }

    /// When the next destage begins that waits for idle time; such destages are done one at a time.
    fn next_destage(&self) -> Option<Time> {
        let can_destage = self.params.destage == Destage::Idle
            && self.is_idle()
            && self.destaging == 0
            && self.lines.is_dirty();
        can_destage.then(|| (self.idle_since + self.destage_idle).max(self.background_end))
    }
}

impl System for CachedSystem {
    fn capacity_blocks(&self) -> u64 {
        self.backing.capacity_blocks()
    }

    fn arrive(&mut self, now: Time, request: QueuedRequest) {
        (self.now, self.idle_since) = (now, now);
        if request.op == Op::Read {
            self.begin_read(now, request);
        } else {
            self.begin_write(now, request);
        }
        if !self.room_queue.is_empty() {
            self.longest_queue = self.longest_queue.max(self.queue_length());
        }
    }

    fn next_event(&self) -> Option<Time> {
        earliest(earliest(self.answers.first(), self.next_backing_event), self.next_destage())
    }

    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        self.now = now;
        if self.next_destage().is_some_and(|at| at <= now)
            && let Some(run) = self.lines.next_dirty(self.last_destage_end)
        {
            self.destage(now, run);
        }
        if self.next_backing_event.is_some_and(|at| at <= now) {
            let mut completions = std::mem::take(&mut self.completed);
            self.backing.advance(now, &mut completions);
            self.next_backing_event = self.backing.next_event();
            for access in &completions {
                self.finish(access);
                self.serve_room_queue(access.completion);
                self.lines.insert_waiting();
            }
            completions.clear();
            self.completed = completions;
        }
        // Requests that are served at the time of their arrival do not count as queued.
        if self.next_event().is_none_or(|at| at > now) {
            self.longest_queue = self.longest_queue.max(self.queue_length());
        }
        self.answers.take_due(now, completed);
    }

    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool {
        advance_by_events(self, horizon, completed)
    }

    fn flush(&mut self, now: Time, request: QueuedRequest) -> bool {
        if self.params.volatile {
            self.wait_for_room(now, request);
        }
        self.params.volatile
    }

    fn failure(&mut self) -> Option<Error> {
        self.backing.failure()
    }

    fn stations(&self) -> Vec<&Station> {
        self.backing.stations()
    }

    fn stations_mut(&mut self) -> Vec<&mut Station> {
        self.backing.stations_mut()
    }

    fn queue_length(&self) -> usize {
        self.backing.queue_length() + self.room_queue.len()
    }

    fn longest_queue(&self) -> usize {
        self.longest_queue.max(self.backing.longest_queue())
    }

    fn open_ledgers(&mut self, now: Time) {
        (self.counts, self.background) = (CacheCounts::default(), TotalEnergy::default());
        self.longest_queue = self.queue_length();
        self.backing.open_ledgers(now);
    }

    fn close_ledgers(&mut self, now: Time) {
        self.backing.close_ledgers(now);
    }

    fn background(&self) -> (RequestEnergy, Time) {
        let (mut total, end) = self.backing.background();
        total += self.background.sum();
        (total, end.max(self.background_end))
    }

    fn cache(&self) -> Option<CacheCounts> {
        Some(CacheCounts { background_j: self.background.sum().total_uj() * 1e-6, ..self.counts })
    }

    fn hybrid(&self) -> Option<HybridCounts> {
        self.backing.hybrid()
    }

    fn residency(&self) -> Vec<Residency> {
        let mut residencies = vec![Residency {
            unit: "line",
            slot_blocks: self.params.line_blocks,
            has_places: false,
            since: self.now,
            slots: self.lines.slots(),
            waiting: 0,
            writing: self.destaging,
        }];
        residencies.append(&mut self.backing.residency());
        residencies
    }

    fn faults(&self) -> Option<FaultCounts> {
        self.backing.faults()
    }

    fn positioning(&self, now: Time, read: &QueuedRequest) -> Span {
        self.backing.positioning(now, read)
    }

    fn durable(&mut self) -> Option<&mut dyn Durable> {
        self.contents.is_some().then_some(self as &mut dyn Durable)
    }
}

impl Durable for CachedSystem {
    fn supply_data(&mut self, request: u64, data: Vec<Content>) {
        if let Some(contents) = &mut self.contents {
            contents.supply_data(request, data);
        }
    }

    fn read_contents(&mut self, request: u64) -> Vec<Content> {
        self.contents.as_mut().map(|contents| contents.read_contents(request)).unwrap_or_default()
    }

    fn crash(&mut self, now: Time, survives: &mut dyn FnMut() -> bool) -> Contents {
        let mut recovered =
            self.backing.durable().map(|backing| backing.crash(now, survives)).unwrap_or_default();
        if let Some(contents) = self.contents.as_ref().filter(|_| !self.params.volatile) {
            for run in self.lines.unwritten() {
                recovered.extend((run.first..run.end).zip(contents.contents(run)));
            }
        }
        recovered
    }
}
