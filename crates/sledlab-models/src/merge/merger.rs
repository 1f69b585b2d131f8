//! The queue of a station that merges.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use sledlab_core::{Op, Time};

use super::overlaps::{Overlaps, end, is_write};
use super::{Among, MergeParams, Merging, Operations};
use crate::device::{Mechanics, Queued, Served};
use crate::scheduler::Scheduler;

/// Requests that are served as one.
#[derive(Clone, Debug)]
struct Group {
    /// The request as the scheduler knows it: what was there first.
    seen: Queued,
    lbn: u64,
    end: u64,
    writes: bool,
    /// In order of their place, with their numbers.
    parts: Vec<(u64, Queued)>,
}

impl Group {
    fn new(number: u64, request: Queued) -> Self {
        let parts = vec![(number, request)];
        Group { seen: request, lbn: request.lbn, end: end(&request), writes: is_write(&request), parts }
    }

    /// The group as one request.
    fn merged(&self) -> Queued {
        let parts = || self.parts.iter().map(|(_, part)| part);
        Queued {
            lbn: self.lbn,
            blocks: (self.end - self.lbn) as u32,
            op: if self.writes { Op::Write } else { Op::Read },
            unwanted_words: parts().fold(0, |words, part| words.saturating_add(part.unwanted_words)),
            arrival: parts().map(|part| part.arrival).min().unwrap_or(Time::ZERO),
            queued: parts().map(|part| part.queued).min().unwrap_or(Time::ZERO),
            ..self.seen
        }
    }
}

/// Requests that were merged, since the ledger was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Requests that were served together with others.
    pub requests: u64,
    /// What they were served as.
    pub groups: u64,
}

/// Merges what waits in the queue of a scheduler.
///
/// The scheduler gets tickets instead of requests: numbered in the order in which they join its queue, each
/// standing for a group. It knows a group by the place of the ticket that was there first.
#[derive(Debug)]
pub struct Merger {
    params: MergeParams,
    /// Blocks that a group may have.
    most_blocks: u64,
    next_number: u64,
    /// Groups in the scheduler's queue, by ticket: so in the order in which they joined it.
    groups: BTreeMap<u64, Group>,
    /// Tickets by where their groups begin and end.
    starts: BTreeSet<(u64, u64)>,
    ends: BTreeSet<(u64, u64)>,
    /// Tickets that the scheduler would not give back: their groups are part of others.
    void: HashSet<u64>,
    /// Requests that wait for others to be served first, in order of arrival.
    held: VecDeque<(u64, Queued)>,
    overlaps: Overlaps,
    under_way: HashMap<u64, Group>,
    waiting: usize,
    merged: Merged,
    chosen: Vec<Queued>,
}

impl Merger {
    /// An empty queue, if anything is to be merged; for a device that accesses `blocks_at_once`.
    pub fn new(params: &MergeParams, blocks_at_once: u32) -> Option<Self> {
        (params.kind != Merging::None).then(|| Merger {
            most_blocks: params.rows.saturating_mul(blocks_at_once.into()),
            params: params.clone(),
            next_number: 0,
            groups: BTreeMap::new(),
            starts: BTreeSet::new(),
            ends: BTreeSet::new(),
            void: HashSet::new(),
            held: VecDeque::new(),
            overlaps: Overlaps::default(),
            under_way: HashMap::new(),
            waiting: 0,
            merged: Merged::default(),
            chosen: Vec::new(),
        })
    }

    /// Requests that wait, merged or not.
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// What was merged so far.
    pub fn merged(&self) -> Merged {
        self.merged
    }

    /// Starts counting anew.
    pub fn forget_merged(&mut self) {
        self.merged = Merged::default();
    }

    /// A request arrives.
    pub fn push(&mut self, request: Queued, scheduler: &mut dyn Scheduler) {
        let number = self.next_number;
        self.next_number += 1;
        self.waiting += 1;
        let must_wait = self.overlaps.holds_back(number, &request);
        self.overlaps.insert(number, &request);
        if must_wait {
            self.held.push_back((number, request));
        } else {
            self.enter(number, request, scheduler);
        }
    }

    /// A request that nothing holds back joins the scheduler's queue, merged with what is there if it can be.
    fn enter(&mut self, number: u64, request: Queued, scheduler: &mut dyn Scheduler) {
        let ticket = self.next_number;
        self.next_number += 1;
        let mut group = Group::new(number, request);
        group.seen.id = ticket;
        let Some(host) = self.neighbour(ticket, &group) else {
            scheduler.push(group.seen);
            self.insert(ticket, group);
            return;
        };
        let grown = self.join(host, group);
        // The newcomer may have closed a gap.
        if let Some(next) = self.groups.get(&grown).and_then(|group| self.neighbour(grown, group)) {
            self.unite(grown, next, scheduler);
        }
    }

    /// The ticket of a group that `group`, of ticket `ticket`, can be merged with.
    fn neighbour(&self, ticket: u64, group: &Group) -> Option<u64> {
        let fits =
            |other: &u64| *other != ticket && self.groups.get(other).is_some_and(|g| self.fits(g, group));
        if self.params.among == Among::Neighbours {
            let before =
                self.groups.range(..ticket).next_back().filter(|(_, before)| before.end == group.lbn);
            return before.map(|(before, _)| *before).filter(|before| fits(before));
        }
        let at = |places: &BTreeSet<(u64, u64)>, lbn: u64| {
            places.range((lbn, 0)..=(lbn, u64::MAX)).map(|(_, ticket)| *ticket).find(|other| fits(other))
        };
        at(&self.ends, group.lbn).or_else(|| at(&self.starts, group.end))
    }

    /// Whether two groups may become one.
    fn fits(&self, a: &Group, b: &Group) -> bool {
        let pair = a.parts.len() + b.parts.len() == 2;
        let operations = match self.params.operations {
            Operations::Reads => !a.writes && !b.writes,
            Operations::Alike => a.writes == b.writes,
            Operations::Any => true,
        };
        operations
            && (pair || self.params.kind == Merging::Chains)
            && a.end - a.lbn + b.end - b.lbn <= self.most_blocks
    }

    /// Adds `group` to that of ticket `host`, which it touches.
    fn join(&mut self, host: u64, group: Group) -> u64 {
        if let Some(mut grown) = self.take(host) {
            if group.lbn == grown.end {
                grown.end = group.end;
                grown.parts.extend(group.parts);
            } else {
                grown.lbn = group.lbn;
                grown.parts.splice(0..0, group.parts);
            }
            grown.writes |= group.writes;
            self.insert(host, grown);
        }
        host
    }

    /// Makes two groups of the scheduler's queue one; it keeps the place of the one that joined first.
    fn unite(&mut self, a: u64, b: u64, scheduler: &mut dyn Scheduler) {
        let (host, guest) = (a.min(b), a.max(b));
        if let Some(group) = self.take(guest) {
            if !scheduler.remove(&group.seen) {
                self.void.insert(guest);
            }
            self.join(host, group);
        }
    }

    fn insert(&mut self, ticket: u64, group: Group) {
        self.starts.insert((group.lbn, ticket));
        self.ends.insert((group.end, ticket));
        self.groups.insert(ticket, group);
    }

    fn take(&mut self, ticket: u64) -> Option<Group> {
        let group = self.groups.remove(&ticket)?;
        self.starts.remove(&(group.lbn, ticket));
        self.ends.remove(&(group.end, ticket));
        Some(group)
    }

    /// Lets the scheduler choose, and appends what is to be served to `batch`: groups as single requests.
    pub fn pop(
        &mut self,
        now: Time,
        mechanics: &dyn Mechanics,
        scheduler: &mut dyn Scheduler,
        batch: &mut Vec<Queued>,
    ) {
        while batch.is_empty() {
            let mut chosen = std::mem::take(&mut self.chosen);
            scheduler.pop(now, mechanics, &mut chosen);
            if chosen.is_empty() {
                return;
            }
            // All first: what they held back must not join one of them.
            let mut left = Vec::new();
            for ticket in chosen.drain(..).map(|request| request.id) {
                if !self.void.remove(&ticket)
                    && let Some(group) = self.take(ticket)
                {
                    batch.push(group.merged());
                    left.push(ticket);
                    self.leave(ticket, group);
                }
            }
            for ticket in left {
                self.close_ranks(ticket, now, scheduler);
            }
            self.chosen = chosen;
        }
    }

    /// A group leaves the queue.
    fn leave(&mut self, ticket: u64, group: Group) {
        self.waiting -= group.parts.len();
        if group.parts.len() > 1 {
            self.merged.requests += group.parts.len() as u64;
            self.merged.groups += 1;
        }
        for (number, part) in &group.parts {
            self.overlaps.remove(*number, part);
        }
        self.under_way.insert(ticket, group);
    }

    /// What a group that has left held back may join, and its neighbours are neighbours now.
    fn close_ranks(&mut self, ticket: u64, now: Time, scheduler: &mut dyn Scheduler) {
        let Some((lbn, end)) = self.under_way.get(&ticket).map(|group| (group.lbn, group.end)) else {
            return;
        };
        self.release(lbn, end, now, scheduler);
        if self.params.among == Among::Neighbours
            && let Some((after, group)) = self.groups.range(ticket..).next()
            && let Some(before) = self.neighbour(*after, group)
        {
            let after = *after;
            self.unite(before, after, scheduler);
        }
    }

    /// Lets those join that overlap the blocks from `lbn` to `end` and are no longer held back.
    fn release(&mut self, lbn: u64, until: u64, now: Time, scheduler: &mut dyn Scheduler) {
        let mut index = 0;
        while let Some((number, request)) = self.held.get(index).copied() {
            let touched = request.lbn < until && end(&request) > lbn;
            if touched && !self.overlaps.holds_back(number, &request) {
                self.held.remove(index);
                self.enter(number, Queued { queued: now, ..request }, scheduler);
            } else {
                index += 1;
            }
        }
    }

    /// What serving a group means for its requests: all are done when it is, and each has its share of the energy
    /// by blocks. The start-up is entered with the first.
    pub fn split(&mut self, served: &Served) -> Vec<Served> {
        let Some(Group { mut parts, lbn, end, .. }) = self.under_way.remove(&served.request.id) else {
            return vec![*served];
        };
        parts.sort_unstable_by_key(|(number, _)| *number);
        let blocks = (end - lbn) as f64;
        let mut split: Vec<Served> = parts
            .iter()
            .map(|(_, part)| {
                let mut share = Served { request: *part, ..*served };
                share.energy = served.energy.scaled(f64::from(part.blocks) / blocks);
                share.energy.startup_uj = 0.0;
                share.timing.startup = sledlab_core::Span::ZERO;
                share
            })
            .collect();
        if let Some(first) = split.first_mut() {
            first.energy.startup_uj = served.energy.startup_uj;
            first.timing.startup = served.timing.startup;
        }
        split
    }
}
