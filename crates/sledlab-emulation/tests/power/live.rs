//! A client that drives the model directly, in simulated time, and stores the data itself.

use std::collections::{HashMap, HashSet};

use rand::RngExt;
use sledlab_core::{Op, Request, Result as Outcome, Time, seed};
use sledlab_emulation::Versions;
use sledlab_emulation::store::versions::RecoveredBlocks;
use sledlab_models::system::{Content, Contents};
use sledlab_sim::{Answer, LiveRun};

use super::BLOCKS;
use super::history::{BLOCK, History};
use super::operations::{Kind, Operation};
use super::systems::System;

/// Planted defects that the checks must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// The store takes a write for complete when it arrives.
    ArrivedIsComplete,
    /// The store takes a write for durable when it is complete, although a volatile cache or buffer holds it.
    CompleteIsSafe,
    /// The store takes a flush for complete when it arrives.
    FlushedAtOnce,
    /// The system loses a block that was written.
    LosesBlock,
}

/// The result of a power failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whether operations were in flight.
    pub interrupted: bool,
    /// Whether an acknowledged write was lost.
    pub lost: bool,
    /// Number of blocks whose data in the store differed from the model.
    pub restored: usize,
    /// The contents of the store after the failure.
    pub store: Vec<u8>,
}

struct Client {
    live: LiveRun,
    versions: Versions,
    history: History,
    /// Completions that the model has announced, some for a later time.
    answers: Vec<Answer>,
    /// Writes with force unit access in flight, and flushes of such writes, each with the write.
    fua_writes: HashSet<u64>,
    fua_flushes: HashMap<u64, u64>,
    defect: Option<Defect>,
}

/// A block of the contents at the beginning: a third of the blocks are zeroes.
fn initial_block(lbn: u64) -> [u8; BLOCK] {
    if lbn.is_multiple_of(3) { [0; BLOCK] } else { block_pattern(u64::MAX, lbn) }
}

/// Data of a block that differs from that of every other write and block.
fn block_pattern(number: u64, lbn: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    for (index, word) in block.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *word = [number, lbn][index % 2].to_le_bytes();
    }
    block
}

impl Client {
    fn new(live: LiveRun, system: &System, defect: Option<Defect>) -> Self {
        let image = (0..BLOCKS).flat_map(initial_block).collect();
        Client {
            versions: Versions::new(live.is_volatile() && defect != Some(Defect::CompleteIsSafe)),
            history: History::new(image, system.needs_flushes()),
            live,
            answers: Vec::new(),
            fua_writes: HashSet::new(),
            fua_flushes: HashMap::new(),
            defect,
        }
    }

    /// Simulates the events due up to `now`, one by one.
    fn advance(&mut self, now: Time) -> Outcome<()> {
        while let Some(due) = self.live.next_event().filter(|due| *due <= now) {
            self.live.advance(due, &mut self.answers)?;
            self.take_answers(due)?;
        }
        self.take_answers(now)
    }

    /// Submits an operation, with force unit access if `is_fua`.
    fn submit(&mut self, now: Time, operation: Operation, is_fua: bool) -> Outcome<()> {
        let Operation { kind, first, end } = operation;
        let op = match kind {
            Kind::Read => Op::Read,
            Kind::Write | Kind::WriteZeroes => Op::Write,
            Kind::Trim => Op::Trim,
            Kind::Flush => Op::Flush,
        };
        let request = Request { op, lbn: first, blocks: (end - first) as u32, ..Request::default() };
        let id = self.history.len() as u64;
        let (id_in_model, arrival) = self.live.submit(now, request, &mut self.answers)?;
        assert_eq!(id_in_model, id);
        // Completions from before the operation arrived are handled first; its own comes afterwards.
        let index = self.answers.iter().position(|answer| answer.id == id);
        let answer = index.map(|index| self.answers.remove(index));
        let mut flushes = self.complete_due_operations(arrival);
        let bytes = first as usize * BLOCK..end as usize * BLOCK;
        match op {
            Op::Write => {
                self.versions.arrive(id, first, &self.history.store[bytes.clone()]);
                if self.defect == Some(Defect::ArrivedIsComplete) {
                    self.versions.complete(id, now);
                }
            }
            Op::Trim => self.versions.trim(first, end - first),
            Op::Flush if self.defect == Some(Defect::FlushedAtOnce) => self.versions.flush(id),
            _ => {}
        }
        if kind == Kind::Write {
            let data = (first..end).flat_map(|lbn| block_pattern(id, lbn));
            self.history.store[bytes].iter_mut().zip(data).for_each(|(to, byte)| *to = byte);
        } else if kind.is_change() {
            self.history.store[bytes].fill(0);
        }
        self.history.send(operation, arrival.as_ns(), true, is_fua);
        if is_fua {
            self.fua_writes.insert(id);
        }
        self.answers.extend(answer);
        flushes.extend(self.complete_due_operations(arrival));
        flushes.into_iter().try_for_each(|write| self.flush_after(write, arrival))
    }

    /// Handles the completions due by `now`.
    fn take_answers(&mut self, now: Time) -> Outcome<()> {
        let writes = self.complete_due_operations(now);
        writes.into_iter().try_for_each(|write| self.flush_after(write, now))
    }

    /// Submits the flush of a complete write with force unit access.
    fn flush_after(&mut self, write: u64, now: Time) -> Outcome<()> {
        self.fua_flushes.insert(self.history.len() as u64, write);
        self.submit(now, Operation::FLUSH, false)
    }

    /// Records the operations that are complete by `now`. Returns the complete writes that need a flush.
    fn complete_due_operations(&mut self, now: Time) -> Vec<u64> {
        let (due_answers, later_answers) =
            std::mem::take(&mut self.answers).into_iter().partition(|answer| answer.time <= now);
        self.answers = later_answers;
        let mut unflushed_writes = Vec::new();
        for Answer { id, time: completion, durable } in due_answers {
            if self.history.kind(id as usize).is_write() {
                self.versions.complete(id, durable);
                if !self.live.is_volatile() {
                    self.history.set_durable(id as usize, durable.as_ns());
                }
            }
            // An operation that arrives at the time of a completion does not follow: the arrival is handled first.
            self.history.complete(id as usize, completion.as_ns() + 1);
            if self.fua_writes.remove(&id) {
                unflushed_writes.push(id);
                continue;
            }
            if self.history.kind(id as usize) == Kind::Flush {
                self.versions.flush(id);
            }
            for id in self.fua_flushes.remove(&id).into_iter().chain([id]) {
                self.versions.acknowledge(id);
                self.history.acknowledge(id as usize);
            }
        }
        self.versions.advance(now);
        unflushed_writes
    }

    /// Cuts the power, and checks every block of the store.
    fn cut_power(mut self, at: Time, survives: &mut dyn FnMut() -> bool) -> Result<Failure, String> {
        self.advance(at).map_err(|error| error.to_string())?;
        let interrupted = self.live.in_flight() > 0 || !self.answers.is_empty();
        let Client { live, versions, history, defect, .. } = self;
        let mut late_answers = Vec::new();
        let (_, mut contents) =
            live.crash(at, survives, &mut late_answers).map_err(|error| error.to_string())?;
        assert!(
            late_answers.iter().all(|answer| answer.time <= at),
            "an answer comes after the power failure"
        );
        if defect == Some(Defect::LosesBlock) {
            lose_block(&mut contents);
        }
        let recovered = versions.recover(&contents).map_err(|error| error.to_string())?;
        let RecoveredBlocks { older: restored, lost: lost_blocks, .. } = recovered;
        let mut store = history.store.clone();
        for (lbn, data) in &restored {
            let at = *lbn as usize * BLOCK;
            if store[at..at + BLOCK] == *data && *data != [0; BLOCK] {
                return Err(format!("block {lbn} is reported as older and is not"));
            }
            store[at..at + BLOCK].copy_from_slice(data);
        }
        let lost = history.check(at.as_ns(), &store, &contents)?;
        if lost != (lost_blocks > 0) {
            return Err(format!("{lost_blocks} blocks are reported as lost after their acknowledgment"));
        }
        Ok(Failure { interrupted, lost, restored: restored.len(), store })
    }
}

/// Removes the first block that was written.
fn lose_block(contents: &mut Contents) {
    let is_written = |content: &Content| matches!(content, Content::Data(version) if *version > 0);
    let written = contents.iter().filter(|(_, content)| is_written(content)).map(|(lbn, _)| *lbn);
    if let Some(lbn) = written.min() {
        contents.remove(&lbn);
    }
}

/// Sends random operations, and cuts the power.
///
/// # Errors
/// What the check of the blocks has found wrong.
pub fn run(system: &System, number: u64, defect: Option<Defect>) -> Result<Failure, String> {
    let mut rng = seed::stream(number, "power failures");
    let live = LiveRun::with_contents(&system.experiment, None);
    let live = live.unwrap_or_else(|error| panic!("{system}: {error}"));
    assert_eq!(live.is_volatile(), system.is_volatile, "{system}");
    let mut client = Client::new(live, system, defect);
    assert!(client.live.capacity_blocks() >= BLOCKS, "{system}");
    let write_share = [0.3, 0.6, 0.9][rng.random_range(0..3_usize)];
    let gap_us = system.mean_gap_us * [0.3, 1.0, 3.0][rng.random_range(0..3_usize)];
    let mut at_us = 0.0;
    for _ in 0..rng.random_range(3..60) {
        let now = Time::from_ns((at_us * 1e3) as u64);
        let mut operation = Operation::draw(&mut rng, write_share, system.has_flushes);
        // File systems trim no blocks with a write in flight.
        if operation.kind == Kind::Trim && client.history.overlaps_write_in_flight(&operation) {
            operation.kind = Kind::Read;
        }
        let outcome = if rng.random_bool(0.5) { client.advance(now) } else { Ok(()) };
        let is_fua = operation.kind == Kind::Write && system.has_flushes && rng.random_bool(0.2);
        outcome.and_then(|()| client.submit(now, operation, is_fua)).map_err(|error| error.to_string())?;
        // Now and then several operations arrive at once.
        at_us += if rng.random_bool(0.3) { 0.0 } else { 2.8 * gap_us * rng.random::<f64>() };
    }
    at_us += system.mean_gap_us * [0.5, 1.0, 10.0][rng.random_range(0..3_usize)] * rng.random::<f64>();
    let survival_share = [0.0, 0.2, 0.5, 0.8, 1.0][rng.random_range(0..5_usize)];
    client.cut_power(Time::from_ns((at_us * 1e3) as u64), &mut || rng.random_bool(survival_share))
}
