//! Logs on the front device: a ring in which the oldest is written again when its blocks are on the back device.

use crate::cache::BlockRun;
use crate::system::SlotState;

/// What a log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing that is not on the back device too.
    Clean,
    /// Records, and room for more.
    Open,
    /// Records.
    Full,
    /// Records of which the newest versions are on their way to the back device.
    Cleaning,
}

/// What a write has left in a log: a header and data behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Blocks of the host.
    pub run: BlockRun,
    /// Where the data begins on the front device.
    pub at: u64,
    /// Number of the record; they go up by one all along the logs.
    pub number: u64,
}

impl Record {
    /// Whether a place on the front device is in its data.
    pub fn holds(&self, at: u64) -> bool {
        (self.at..self.at + u64::from(self.run.blocks())).contains(&at)
    }
}

#[derive(Debug)]
pub(super) struct Log {
    pub phase: Phase,
    pub records: Vec<Record>,
    /// Records that do not count yet: it must not be cleaned before.
    pub coming: u32,
    /// Reads of it under way: it must not be written again before.
    pub readers: u32,
}

/// A ring of logs.
#[derive(Debug)]
pub(super) struct Logs {
    pub log_blocks: u64,
    all: Vec<Log>,
    /// The log that is written, and its blocks so far.
    head: usize,
    /// The oldest log that is not clean.
    tail: usize,
    filled: u64,
    records: u64,
    /// Number of the last record in a log that is written again. Those up to it do not count, whatever is left of them:
    /// the memory that keeps its contents knows it before anything is overwritten.
    pub given_up: u64,
    /// Logs that are not clean.
    used: usize,
}

/// Blocks of a header.
pub(super) const HEADER_BLOCKS: u64 = 1;

impl Logs {
    pub fn new(logs: usize, log_blocks: u64) -> Self {
        let clean = || Log { phase: Phase::Clean, records: Vec::new(), coming: 0, readers: 0 };
        let mut all: Vec<Log> = (0..logs).map(|_| clean()).collect();
        all[0].phase = Phase::Open;
        Logs { log_blocks, all, head: 0, tail: 0, filled: 0, records: 0, given_up: 0, used: 1 }
    }

    /// Number of logs.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Share of the logs that are not clean.
    pub fn used_share(&self) -> f64 {
        self.used as f64 / self.all.len() as f64
    }

    /// What every log is. A clean one can be read until it is written again; without records there is nothing to read.
    pub fn slots(&self) -> Vec<SlotState> {
        let slot = |log: &Log| match log.phase {
            Phase::Clean if log.records.is_empty() => SlotState::Free,
            Phase::Clean => SlotState::Clean,
            Phase::Open => SlotState::Filling,
            Phase::Full => SlotState::Dirty,
            Phase::Cleaning => SlotState::Destaging,
        };
        self.all.iter().map(slot).collect()
    }

    /// The log of a place on the front device.
    pub fn of(&mut self, at: u64) -> &mut Log {
        &mut self.all[(at / self.log_blocks) as usize]
    }

    pub fn phase(&self, at: u64) -> Phase {
        self.all[(at / self.log_blocks) as usize].phase
    }

    /// A log by its number.
    pub fn log(&mut self, number: usize) -> &mut Log {
        &mut self.all[number]
    }

    /// Whether a record of so many blocks fits behind the others.
    pub fn has_room(&self, blocks: u64) -> bool {
        self.filled + HEADER_BLOCKS + blocks <= self.log_blocks
    }

    /// Goes on to the next log, if that is clean and nobody reads it; what was known of it must be forgotten first.
    /// Returns its records.
    pub fn turn(&mut self) -> Option<Vec<Record>> {
        let next = (self.head + 1) % self.all.len();
        let log = &mut self.all[next];
        if log.phase != Phase::Clean || log.readers > 0 {
            return None;
        }
        log.phase = Phase::Open;
        let records = std::mem::take(&mut log.records);
        self.given_up = records.last().map_or(self.given_up, |record| record.number);
        self.all[self.head].phase = Phase::Full;
        (self.head, self.filled) = (next, 0);
        self.used += 1;
        Some(records)
    }

    /// Adds a record, for which there is room.
    pub fn append(&mut self, run: BlockRun) -> Record {
        let at = self.head as u64 * self.log_blocks + self.filled + HEADER_BLOCKS;
        self.filled += HEADER_BLOCKS + u64::from(run.blocks());
        self.records += 1;
        let record = Record { run, at, number: self.records };
        self.all[self.head].records.push(record);
        self.all[self.head].coming += 1;
        record
    }

    /// The oldest full logs, `most` of them.
    pub fn oldest(&self, most: usize) -> Vec<usize> {
        let ring = (0..self.all.len()).map(|step| (self.tail + step) % self.all.len());
        let is_ready = |log: &usize| self.all[*log].phase == Phase::Full && self.all[*log].coming == 0;
        ring.take_while(is_ready).take(most).collect()
    }

    /// Whether there is a full log.
    pub fn has_full(&self) -> bool {
        let Log { phase, coming, .. } = self.all[self.tail];
        phase == Phase::Full && coming == 0
    }

    /// Blocks of a log are on the back device.
    pub fn clean(&mut self, log: usize) {
        self.all[log].phase = Phase::Clean;
        self.used -= 1;
        while self.all[self.tail].phase == Phase::Clean {
            self.tail = (self.tail + 1) % self.all.len();
        }
    }
}
