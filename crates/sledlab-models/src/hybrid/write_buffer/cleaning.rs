//! Cleaning: the newest versions in the oldest logs go to the back device, in pieces as large as they come.

use std::collections::VecDeque;

use super::logs::Phase;
use super::params::Cleaning as Order;
use super::{Job, Piece, WriteBuffer};
use crate::cache::BlockRun;
use crate::hybrid::io::{Io, Tier};
use crate::system::{Completion, Content};

/// Logs that are being cleaned.
pub(super) struct Cleaning {
    logs: Vec<usize>,
    /// Whether it goes on though the back device is read.
    is_urgent: bool,
    /// Reads of logs under way.
    collecting: usize,
    /// What is left of the logs, in the order in which it goes to the back device.
    pieces: Vec<Piece>,
    /// What has been read of the front device, where contents are kept.
    found: Vec<(BlockRun, Vec<Content>)>,
    /// What is still to be written.
    writes: VecDeque<BlockRun>,
    is_writing: bool,
}

impl WriteBuffer {
    /// Cleans if too many logs are in use.
    pub(super) fn clean_if_full(&mut self, io: &mut Io<Job>) {
        if self.logs.used_share() < self.params.clean_from {
            return;
        }
        match &mut self.cleaning {
            Some(cleaning) if cleaning.is_urgent => {}
            Some(cleaning) => {
                cleaning.is_urgent = true;
                self.destage_next(io);
            }
            None => self.clean(io, true),
        }
    }

    /// Begins to clean as many of the oldest logs as fit the buffer. Those of which nothing is left are clean already.
    pub(super) fn clean(&mut self, io: &mut Io<Job>, is_urgent: bool) {
        loop {
            let logs = self.logs.oldest(self.params.logs_at_once());
            if logs.is_empty() {
                return;
            }
            let (pieces, reads) = self.take(&logs);
            if reads.is_empty() {
                for log in logs {
                    self.logs.clean(log);
                }
                continue;
            }
            let (writes, collecting) = (join(&pieces), reads.len());
            let found = Vec::new();
            self.cleaning =
                Some(Cleaning { logs, is_urgent, collecting, pieces, found, writes, is_writing: false });
            for from in reads {
                io.read(Tier::Front, from, Job::Collected { from });
            }
            return;
        }
    }

    /// Takes what is left in logs, in the order in which it goes to the back device; and what has to be read for that.
    fn take(&mut self, logs: &[usize]) -> (Vec<Piece>, Vec<BlockRun>) {
        let (mut pieces, mut reads): (Vec<Piece>, Vec<BlockRun>) = (Vec::new(), Vec::new());
        for log in logs {
            let log = self.logs.log(*log);
            log.phase = Phase::Cleaning;
            // Of a record, what no later one has replaced.
            let records = log.records.iter();
            let left = records
                .flat_map(|record| self.lookup.find(record.run).into_iter().filter(|p| record.holds(p.at)));
            let left: Vec<Piece> = left.collect();
            if let (Some(first), Some(last)) = (left.first(), left.last()) {
                reads.push(BlockRun { first: first.at, end: last.at + u64::from(last.run.blocks()) });
            }
            pieces.extend(left);
        }
        if self.params.cleaning == Order::Elevator {
            pieces.sort_unstable_by_key(|piece| piece.run.first);
        }
        let blocks: u64 = pieces.iter().map(|piece| u64::from(piece.run.blocks())).sum();
        self.dirty_blocks -= blocks;
        self.counts.destaged_blocks += blocks;
        (pieces, reads)
    }

    /// What is left in a log is in the buffer.
    pub(super) fn collected(&mut self, io: &mut Io<Job>, from: BlockRun, access: &Completion) {
        io.spend(access);
        let contents = io.contents(Tier::Front, access);
        if let Some(cleaning) = &mut self.cleaning {
            cleaning.collecting -= 1;
            cleaning.found.push((from, contents));
            if self.frees_early && cleaning.collecting == 0 {
                for log in std::mem::take(&mut cleaning.logs) {
                    self.logs.clean(log);
                }
            }
        }
        self.destage_next(io);
    }

    /// Writes the next piece to the back device, one at a time: reads go between.
    pub(super) fn destage_next(&mut self, io: &mut Io<Job>) {
        let Some(cleaning) = &mut self.cleaning else { return };
        let waits_for_idleness = !cleaning.is_urgent && self.back_reads > 0;
        if cleaning.collecting > 0 || cleaning.is_writing || waits_for_idleness {
            return;
        }
        if let Some(run) = cleaning.writes.pop_front() {
            cleaning.is_writing = true;
            let cleaning = &*cleaning;
            io.write(Tier::Back, run, Job::Destaged, || cleaning.contents(run));
            return;
        }
        self.end_cleaning(io);
    }

    /// A piece is on the back device.
    pub(super) fn destaged(&mut self, io: &mut Io<Job>, access: &Completion) {
        io.spend(access);
        if let Some(cleaning) = &mut self.cleaning {
            cleaning.is_writing = false;
        }
        self.destage_next(io);
    }

    /// The logs are clean.
    fn end_cleaning(&mut self, io: &mut Io<Job>) {
        let Some(cleaning) = self.cleaning.take() else { return };
        for log in cleaning.logs {
            self.logs.clean(log);
        }
        if cleaning.is_urgent && self.logs.used_share() > self.params.clean_to {
            self.clean(io, true);
        }
    }
}

/// Pieces, each joined with those before that it goes on.
fn join(pieces: &[Piece]) -> VecDeque<BlockRun> {
    let mut runs: VecDeque<BlockRun> = VecDeque::new();
    for Piece { run, .. } in pieces {
        match runs.back_mut() {
            Some(last) if last.end == run.first => last.end = run.end,
            _ => runs.push_back(*run),
        }
    }
    runs
}

impl Cleaning {
    /// Pieces that are to be written, their contents in the buffer, and those that are being written.
    pub fn writes(&self) -> (usize, usize) {
        let waiting = if self.collecting == 0 { self.writes.len() } else { 0 };
        (waiting, usize::from(self.is_writing))
    }

    /// The contents of blocks `run` in the buffer.
    fn contents(&self, run: BlockRun) -> Vec<Content> {
        let pieces =
            self.pieces.iter().filter(|piece| run.first <= piece.run.first && piece.run.end <= run.end);
        let found = pieces.flat_map(|piece| (piece.at..).take(piece.run.blocks() as usize)).map(|at| {
            let log = self.found.iter().find(|(from, _)| (from.first..from.end).contains(&at));
            log.map(|(from, contents)| contents[(at - from.first) as usize].clone()).unwrap_or_default()
        });
        found.collect()
    }
}
