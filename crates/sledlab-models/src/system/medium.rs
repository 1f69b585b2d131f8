//! Contents of media, for tests of where data are and what a crash leaves.

use std::collections::BTreeMap;
use std::sync::Arc;

use sledlab_core::hash::Map;
use sledlab_core::{Error, Op, Span, Time};

use super::{Completion, Durable, HybridCounts, Residency, Station, System, advance_by_events};
use crate::cache::CacheCounts;
use crate::device::{FaultCounts, Queued};
use crate::power::Spent;

/// The content of a block: a number that stands for its data, or the words of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Data; 0 where the block was never written.
    Data(u64),
    /// Words of 8 bytes, at most 64.
    Header(Arc<[u64]>),
}

impl Default for Content {
    fn default() -> Self {
        Content::Data(0)
    }
}

/// The contents of blocks, by block number. Blocks that are missing here were never written.
pub type Contents = Map<u64, Content>;

/// A system whose media keep the contents that are written.
///
/// Data reach the medium when their write is complete. At a power failure, any blocks of a write under way may have
/// reached it.
pub struct Medium {
    system: Box<dyn System>,
    contents: Contents,
    /// Data of writes that have been handed over and have not arrived, by access.
    write_data: Map<u64, Vec<Content>>,
    /// First block and data of writes under way, by access.
    writing: BTreeMap<u64, (u64, Vec<Content>)>,
    /// What completed reads found, by access, until it is taken by `found`.
    found: Map<u64, Vec<Content>>,
    loses_headers: bool,
    answers_early: bool,
    /// Writes that are acknowledged although they are still under way.
    early: Vec<Completion>,
}

impl Medium {
    /// `system` with empty media.
    pub fn new(system: Box<dyn System>) -> Self {
        Medium {
            system,
            contents: Map::default(),
            write_data: Map::default(),
            writing: BTreeMap::new(),
            found: Map::default(),
            loses_headers: false,
            answers_early: false,
            early: Vec::new(),
        }
    }

    /// The same system, whose media drop headers: a defect that tests must find.
    #[must_use]
    pub fn losing_headers(self) -> Self {
        Medium { loses_headers: true, ..self }
    }

    /// The same system, which acknowledges writes in the moment they arrive: a defect that tests must find.
    #[must_use]
    pub fn answering_early(self) -> Self {
        Medium { answers_early: true, ..self }
    }

    fn put(&mut self, lbn: u64, content: Content) {
        if !(self.loses_headers && matches!(content, Content::Header(_))) {
            self.contents.insert(lbn, content);
        }
    }
}

impl System for Medium {
    fn capacity_blocks(&self) -> u64 {
        self.system.capacity_blocks()
    }

    fn arrive(&mut self, now: Time, request: Queued) {
        if request.op == Op::Write {
            let data = self.write_data.remove(&request.id).unwrap_or_default();
            self.writing.insert(request.id, (request.lbn, data));
            if self.answers_early {
                self.early.push(Completion::at_once(request, now));
            }
        }
        self.system.arrive(now, request);
    }

    fn next_event(&self) -> Option<Time> {
        let early = self.early.first().map(|answer| answer.completion);
        early.or_else(|| self.system.next_event())
    }

    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        let before = completed.len();
        if self.system.next_event().is_some_and(|at| at <= now) {
            self.system.advance(now, completed);
        }
        for done in &completed[before..] {
            let Queued { id, lbn, blocks, op, .. } = done.request;
            if op == Op::Read {
                let found = (lbn..lbn + u64::from(blocks))
                    .map(|block| self.contents.get(&block).cloned().unwrap_or_default());
                self.found.insert(id, found.collect());
            } else if let Some((lbn, data)) = self.writing.remove(&id) {
                for (block, content) in (lbn..).zip(data) {
                    self.put(block, content);
                }
            }
        }
        if self.answers_early {
            let mut place = 0;
            completed.retain(|done| {
                place += 1;
                place <= before || done.request.op == Op::Read
            });
            completed.append(&mut self.early);
        }
    }

    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool {
        advance_by_events(self, horizon, completed)
    }

    fn flush(&mut self, now: Time, request: Queued) -> bool {
        self.system.flush(now, request)
    }

    fn failure(&mut self) -> Option<Error> {
        self.system.failure()
    }

    fn stations(&self) -> Vec<&Station> {
        self.system.stations()
    }

    fn stations_mut(&mut self) -> Vec<&mut Station> {
        self.system.stations_mut()
    }

    fn queue_length(&self) -> usize {
        self.system.queue_length()
    }

    fn longest_queue(&self) -> usize {
        self.system.longest_queue()
    }

    fn open_ledgers(&mut self, now: Time) {
        self.system.open_ledgers(now);
    }

    fn close_ledgers(&mut self, now: Time) {
        self.system.close_ledgers(now);
    }

    fn background(&self) -> (Spent, Time) {
        self.system.background()
    }

    fn cache(&self) -> Option<CacheCounts> {
        self.system.cache()
    }

    fn hybrid(&self) -> Option<HybridCounts> {
        self.system.hybrid()
    }

    fn residency(&self) -> Vec<Residency> {
        self.system.residency()
    }

    fn faults(&self) -> Option<FaultCounts> {
        self.system.faults()
    }

    fn positioning(&self, now: Time, read: &Queued) -> Span {
        self.system.positioning(now, read)
    }

    fn durable(&mut self) -> Option<&mut dyn Durable> {
        Some(self)
    }
}

impl Durable for Medium {
    fn give(&mut self, access: u64, data: Vec<Content>) {
        self.write_data.insert(access, data);
    }

    fn found(&mut self, access: u64) -> Vec<Content> {
        self.found.remove(&access).unwrap_or_default()
    }

    fn crash(&mut self, survives: &mut dyn FnMut() -> bool) -> Contents {
        for (lbn, data) in std::mem::take(&mut self.writing).into_values() {
            for (block, content) in (lbn..).zip(data) {
                if survives() {
                    self.put(block, content);
                }
            }
        }
        std::mem::take(&mut self.contents)
    }

    /// There is no such defect here: all data are on the medium.
    fn free_early(&mut self) {}
}
