//! Cleaning: the newest versions of the blocks in the oldest logs are destaged to the back device, adjacent pieces by
//! one access.

use std::collections::VecDeque;

use super::logs::Phase;
use super::params::DestageOrder as Order;
use super::{Job, Piece, WriteBuffer};
use crate::cache::BlockRun;
use crate::hybrid::io::{Io, Tier};
use crate::system::{Completion, Content};

/// Logs that are being destaged.
pub(super) struct LogDestage {
    logs: Vec<usize>,
    /// Whether destaging continues while reads of the back device are in flight.
    is_urgent: bool,
    /// Number of reads of logs in flight.
    pending_reads: usize,
    /// The blocks of the logs that are the newest versions, in the order in which they are destaged.
    pieces: Vec<Piece>,
    /// The contents read from the front device, where contents are kept.
    collected_runs: Vec<(BlockRun, Vec<Content>)>,
    /// Runs that are still to be written to the back device.
    writes: VecDeque<BlockRun>,
    is_writing: bool,
}

impl WriteBuffer {
    /// Starts destaging, or makes it urgent, if the share of logs in use has reached `clean_from`.
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

    /// Starts destaging the oldest logs, as many as are destaged together. Logs without any newest version of a block
    /// become clean without an access.
    pub(super) fn clean(&mut self, io: &mut Io<Job>, is_urgent: bool) {
        loop {
            let logs = self.logs.oldest(self.params.concurrent_logs());
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
            let (writes, pending_reads) = (merge_runs(&pieces), reads.len());
            self.cleaning = Some(LogDestage {
                logs,
                is_urgent,
                pending_reads,
                pieces,
                collected_runs: Vec::new(),
                writes,
                is_writing: false,
            });
            for front_run in reads {
                io.read(Tier::Front, front_run, Job::Collected { from: front_run });
            }
            return;
        }
    }

    /// The newest versions of blocks in `logs`, in the order in which they are destaged, and the runs of the front
    /// device to read for them.
    fn take(&mut self, logs: &[usize]) -> (Vec<Piece>, Vec<BlockRun>) {
        let (mut pieces, mut reads): (Vec<Piece>, Vec<BlockRun>) = (Vec::new(), Vec::new());
        for log in logs {
            let log = self.logs.log(*log);
            log.phase = Phase::Cleaning;
            let pieces_before = pieces.len();
            // Of each record, the blocks that no later record has replaced.
            for record in log.records.iter().filter(|record| record.newest_blocks > 0) {
                if record.is_newest() {
                    pieces.push(Piece { run: record.run, front_block: record.data_block });
                } else {
                    let newest_pieces = self.lookup.find(record.run);
                    pieces.extend(newest_pieces.into_iter().filter(|piece| record.holds(piece.front_block)));
                }
            }
            if let [first, ..] = pieces[pieces_before..]
                && let Some(last) = pieces.last()
            {
                reads.push(BlockRun {
                    first: first.front_block,
                    end: last.front_block + u64::from(last.run.blocks()),
                });
            }
        }
        if self.params.cleaning == Order::Elevator {
            pieces.sort_unstable_by_key(|piece| piece.run.first);
        }
        let block_count: u64 = pieces.iter().map(|piece| u64::from(piece.run.blocks())).sum();
        self.dirty_blocks -= block_count;
        self.counts.destaged_blocks += block_count;
        (pieces, reads)
    }

    /// The newest versions of blocks in a log have been read into the buffer.
    pub(super) fn complete_log_read(&mut self, io: &mut Io<Job>, front_run: BlockRun, access: &Completion) {
        io.charge_background(access);
        let contents = io.contents(Tier::Front, access);
        if let Some(cleaning) = &mut self.cleaning {
            cleaning.pending_reads -= 1;
            cleaning.collected_runs.push((front_run, contents));
            if self.frees_early && cleaning.pending_reads == 0 {
                for log in std::mem::take(&mut cleaning.logs) {
                    self.logs.clean(log);
                }
            }
        }
        self.destage_next(io);
    }

    /// Writes the next run to the back device, one at a time, so that reads can be served in between. Destaging that is
    /// not urgent waits until no read of the back device is in flight.
    pub(super) fn destage_next(&mut self, io: &mut Io<Job>) {
        let Some(cleaning) = &mut self.cleaning else { return };
        let waits_for_idleness = !cleaning.is_urgent && self.back_reads > 0;
        if cleaning.pending_reads > 0 || cleaning.is_writing || waits_for_idleness {
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

    /// A run is on the back device.
    pub(super) fn complete_destage(&mut self, io: &mut Io<Job>, access: &Completion) {
        io.charge_background(access);
        if let Some(cleaning) = &mut self.cleaning {
            cleaning.is_writing = false;
        }
        self.destage_next(io);
    }

    /// All runs are on the back device: the logs are clean. Urgent destaging continues until the share in use is at
    /// most `clean_to`.
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

/// The runs of the pieces in order; a piece that continues the one before is joined with it.
fn merge_runs(pieces: &[Piece]) -> VecDeque<BlockRun> {
    let mut runs: VecDeque<BlockRun> = VecDeque::new();
    for Piece { run, .. } in pieces {
        match runs.back_mut() {
            Some(last) if last.end == run.first => last.end = run.end,
            _ => runs.push_back(*run),
        }
    }
    runs
}

impl LogDestage {
    /// Number of runs whose contents are in the buffer and wait to be written, and number of runs being written.
    pub fn writes(&self) -> (usize, usize) {
        let waiting = if self.pending_reads == 0 { self.writes.len() } else { 0 };
        (waiting, usize::from(self.is_writing))
    }

    /// The contents of blocks `run` in the buffer.
    fn contents(&self, run: BlockRun) -> Vec<Content> {
        let pieces =
            self.pieces.iter().filter(|piece| run.first <= piece.run.first && piece.run.end <= run.end);
        let contents =
            pieces.flat_map(|piece| (piece.front_block..).take(piece.run.blocks() as usize)).map(|at| {
                let log = self.collected_runs.iter().find(|(from, _)| (from.first..from.end).contains(&at));
                log.map(|(from, contents)| contents[(at - from.first) as usize].clone()).unwrap_or_default()
            });
        contents.collect()
    }
}
