//! The queue of a station that merges requests.

use std::collections::{BTreeMap, BTreeSet};

use sledlab_core::hash::Map;
use sledlab_core::{Op, Time};

use super::overlaps::{Overlaps, end, is_write};
use super::{MergeKind, MergeOperations, MergeParams, MergeScope};
use crate::device::{Mechanics, PartialBlocks, QueuedRequest, ServedRequest};
use crate::scheduler::Scheduler;

/// Requests that are served as one.
#[derive(Clone, Debug)]
struct Group {
    /// The request that the scheduler sees: the first request in the queue, with the number of a ticket.
    seen: QueuedRequest,
    lbn: u64,
    end: u64,
    writes: bool,
    /// The requests in order of their blocks, each with its number.
    parts: Vec<(u64, QueuedRequest)>,
}

impl Group {
    fn new(number: u64, request: QueuedRequest) -> Self {
        let parts = vec![(number, request)];
        Group { seen: request, lbn: request.lbn, end: end(&request), writes: is_write(&request), parts }
    }

    /// The group as one request.
    fn to_request(&self) -> QueuedRequest {
        let parts = || self.parts.iter().map(|(_, part)| part);
        QueuedRequest {
            lbn: self.lbn,
            blocks: (self.end - self.lbn) as u32,
            op: if self.writes { Op::Write } else { Op::Read },
            partial: parts().fold(PartialBlocks::default(), |sum, part| sum.join(part.partial)),
            arrival: parts().map(|part| part.arrival).min().unwrap_or(Time::ZERO),
            queue_time: parts().map(|part| part.queue_time).min().unwrap_or(Time::ZERO),
            ..self.seen
        }
    }
}

/// Counts of merged requests since the ledger was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// Requests that were served together with others.
    pub requests: u64,
    /// Groups as which they were served.
    pub groups: u64,
}

/// Merges requests that wait in the queue of a scheduler.
///
/// Requests are numbered as they arrive. A request is *free* unless it overlaps an earlier waiting request and one of
/// the two is a write. Only free requests are merged, and a group takes the place in the queue of its first request;
/// later arrivals never change that. When the scheduler chooses a request that is not free, the request that must
/// be served before it is served instead.
///
/// The scheduler gets tickets instead of requests: each stands for a group, at the position of the group's first
/// request.
#[derive(Debug)]
pub struct Merger {
    params: MergeParams,
    /// Most blocks of a group.
    max_blocks: u64,
    next_number: u64,
    next_ticket: u64,
    /// Groups in the scheduler's queue, each by the smallest number of its requests.
    groups: BTreeMap<u64, Group>,
    /// The group of each request number, and the group that each ticket stands for.
    of_number: Map<u64, u64>,
    of_ticket: Map<u64, u64>,
    /// Groups of free requests, by first block and by end.
    starts: BTreeSet<(u64, u64)>,
    ends: BTreeSet<(u64, u64)>,
    overlaps: Overlaps,
    /// Groups that are being served, by ticket.
    in_flight: Map<u64, Group>,
    counts: MergeCounts,
    chosen: Vec<QueuedRequest>,
}

impl Merger {
    /// An empty queue for a device that accesses `parallel_blocks` blocks at once; `None` where merging is off.
    pub fn new(params: &MergeParams, parallel_blocks: u32) -> Option<Self> {
        (params.kind != MergeKind::None).then(|| Merger {
            max_blocks: params.rows.saturating_mul(parallel_blocks.into()),
            params: params.clone(),
            next_number: 0,
            next_ticket: 0,
            groups: BTreeMap::new(),
            of_number: Map::default(),
            of_ticket: Map::default(),
            starts: BTreeSet::new(),
            ends: BTreeSet::new(),
            overlaps: Overlaps::default(),
            in_flight: Map::default(),
            counts: MergeCounts::default(),
            chosen: Vec::new(),
        })
    }

    /// Number of waiting requests, merged or not.
    pub fn len(&self) -> usize {
        self.of_number.len()
    }

    /// Whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.of_number.is_empty()
    }

    /// Counts of merged requests so far.
    pub fn counts(&self) -> MergeCounts {
        self.counts
    }

    /// Sets the counts to zero.
    pub fn reset_counts(&mut self) {
        self.counts = MergeCounts::default();
    }

    /// A request arrives.
    pub fn push(&mut self, request: QueuedRequest, mechanics: &dyn Mechanics, scheduler: &mut dyn Scheduler) {
        let number = self.next_number;
        self.next_number += 1;
        self.overlaps.insert(number, &request);
        self.of_number.insert(number, number);
        let group = Group::new(number, request);
        if self.is_free(number, &request)
            && let Some(host) = self.neighbor(number, &group)
        {
            self.join(host, group);
            self.close_gap(host, mechanics, scheduler);
        } else {
            self.enter(number, group, scheduler);
        }
    }

    /// A group joins the scheduler's queue.
    fn enter(&mut self, number: u64, mut group: Group, scheduler: &mut dyn Scheduler) {
        group.seen.id = self.next_ticket;
        self.next_ticket += 1;
        scheduler.push(group.seen);
        self.insert(number, group);
    }

    fn is_free(&self, number: u64, request: &QueuedRequest) -> bool {
        self.overlaps.first_conflict(number, request).is_none()
    }

    /// Merges group `number`, which has grown or become free, with an adjacent group.
    fn close_gap(&mut self, number: u64, mechanics: &dyn Mechanics, scheduler: &mut dyn Scheduler) {
        if let Some(group) = self.groups.get(&number)
            && self.starts.contains(&(group.lbn, number))
            && let Some(other) = self.neighbor(number, group)
        {
            self.unite(number, other, mechanics, scheduler);
        }
    }

    /// An adjacent group of free requests that `group`, which has number `number`, can be merged with.
    fn neighbor(&self, number: u64, group: &Group) -> Option<u64> {
        let fits =
            |other: &u64| *other != number && self.groups.get(other).is_some_and(|g| self.fits(g, group));
        if self.params.among == MergeScope::Neighbors {
            let (previous, group_before) = self.groups.range(..number).next_back()?;
            let follows = self.ends.contains(&(group.lbn, *previous)) && group_before.end == group.lbn;
            return (follows && fits(previous)).then_some(*previous);
        }
        let id_at = |places: &BTreeSet<(u64, u64)>, lbn: u64| {
            places.range((lbn, 0)..=(lbn, u64::MAX)).map(|(_, number)| *number).find(|other| fits(other))
        };
        id_at(&self.ends, group.lbn).or_else(|| id_at(&self.starts, group.end))
    }

    /// Whether the parameters allow two groups to be merged.
    fn fits(&self, a: &Group, b: &Group) -> bool {
        let is_pair = a.parts.len() + b.parts.len() == 2;
        let may_mix = match self.params.operations {
            MergeOperations::Reads => !a.writes && !b.writes,
            MergeOperations::Alike => a.writes == b.writes,
            MergeOperations::Any => true,
        };
        may_mix
            && (is_pair || self.params.kind == MergeKind::Chains)
            && a.end - a.lbn + b.end - b.lbn <= self.max_blocks
    }

    /// Adds `group` to the adjacent group `host`.
    fn join(&mut self, host: u64, group: Group) {
        if let Some(mut grown) = self.take(host) {
            for (number, _) in &group.parts {
                self.of_number.insert(*number, host);
            }
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
    }

    /// Merges two groups of the scheduler's queue; the result keeps the place of the earlier group.
    fn unite(&mut self, a: u64, b: u64, mechanics: &dyn Mechanics, scheduler: &mut dyn Scheduler) {
        let (host, guest) = (a.min(b), a.max(b));
        if let Some(group) = self.withdraw(guest, mechanics, scheduler) {
            self.join(host, group);
        }
    }

    /// Takes a group out of the scheduler's queue; a ticket that the scheduler keeps nevertheless no longer stands for
    /// a group.
    fn withdraw(
        &mut self,
        number: u64,
        mechanics: &dyn Mechanics,
        scheduler: &mut dyn Scheduler,
    ) -> Option<Group> {
        let group = self.take(number)?;
        scheduler.remove(&group.seen, mechanics);
        Some(group)
    }

    fn insert(&mut self, number: u64, group: Group) {
        if group.parts.iter().all(|(number, part)| self.is_free(*number, part)) {
            self.starts.insert((group.lbn, number));
            self.ends.insert((group.end, number));
        }
        self.of_ticket.insert(group.seen.id, number);
        self.groups.insert(number, group);
    }

    fn take(&mut self, number: u64) -> Option<Group> {
        let group = self.groups.remove(&number)?;
        self.starts.remove(&(group.lbn, number));
        self.ends.remove(&(group.end, number));
        self.of_ticket.remove(&group.seen.id);
        Some(group)
    }

    /// Lets the scheduler choose, and appends the chosen groups to `batch`, each as one request.
    pub fn pop(
        &mut self,
        now: Time,
        mechanics: &dyn Mechanics,
        scheduler: &mut dyn Scheduler,
        batch: &mut Vec<QueuedRequest>,
    ) {
        let mut departed = Vec::new();
        while batch.is_empty() {
            let mut chosen = std::mem::take(&mut self.chosen);
            scheduler.pop(now, mechanics, &mut chosen);
            if chosen.is_empty() {
                break;
            }
            for ticket in chosen.drain(..).map(|request| request.id) {
                if let Some(number) = self.of_ticket.get(&ticket).copied() {
                    self.choose(number, mechanics, scheduler, &mut departed, batch);
                }
            }
            self.chosen = chosen;
        }
        // Merge after the batch is complete: requests unblocked by it belong to the next batch.
        for (number, ticket) in &departed {
            self.remove_ticket(*ticket);
            self.merge_unblocked(*number, *ticket, mechanics, scheduler);
        }
    }

    /// Serves group `number`, which the scheduler has chosen, or the group that must be served before it.
    fn choose(
        &mut self,
        number: u64,
        mechanics: &dyn Mechanics,
        scheduler: &mut dyn Scheduler,
        departed: &mut Vec<(u64, u64)>,
        batch: &mut Vec<QueuedRequest>,
    ) {
        let mut serve = |merger: &mut Self, number: u64, group: Group| {
            batch.push(group.to_request());
            departed.push((number, group.seen.id));
            merger.in_flight.insert(group.seen.id, group);
        };
        let Some(group) = self.take(number) else { return };
        let (first, request) = group.parts[0];
        let Some(blocker) = self.overlaps.first_conflict(first, &request) else {
            serve(self, number, group);
            return;
        };
        // Only a group of one request can be not free. It returns to the queue, as old as before.
        scheduler.push(group.seen);
        self.insert(number, group);
        let mut earliest = blocker;
        while let Some(earlier) =
            self.part(earliest).and_then(|part| self.overlaps.first_conflict(earliest, &part))
        {
            earliest = earlier;
        }
        if let Some(host) = self.of_number.get(&earliest).copied()
            && let Some(group) = self.withdraw(host, mechanics, scheduler)
        {
            serve(self, host, group);
        }
    }

    /// The waiting request with this number.
    fn part(&self, number: u64) -> Option<QueuedRequest> {
        let group = self.groups.get(self.of_number.get(&number)?)?;
        group.parts.iter().find(|(other, _)| *other == number).map(|(_, part)| *part)
    }

    /// A group has left the queue to be served.
    fn remove_ticket(&mut self, ticket: u64) {
        let Some(group) = self.in_flight.get(&ticket) else { return };
        if group.parts.len() > 1 {
            self.counts.requests += group.parts.len() as u64;
            self.counts.groups += 1;
        }
        for (number, part) in &group.parts {
            self.overlaps.remove(*number, part);
            self.of_number.remove(number);
        }
    }

    /// Merges requests that have become free, or neighbors in order of arrival, because group `number` has left the
    /// queue.
    fn merge_unblocked(
        &mut self,
        number: u64,
        ticket: u64,
        mechanics: &dyn Mechanics,
        scheduler: &mut dyn Scheduler,
    ) {
        let Some((lbn, end)) = self.in_flight.get(&ticket).map(|group| (group.lbn, group.end)) else {
            return;
        };
        let overlapping_ids: Vec<u64> = self.overlaps.overlapping(lbn, end).collect();
        for number in overlapping_ids {
            if let Some(host) = self.of_number.get(&number).copied()
                && let Some(group) = self.take(host)
            {
                self.insert(host, group);
                self.close_gap(host, mechanics, scheduler);
            }
        }
        if self.params.among == MergeScope::Neighbors
            && let Some((next_number, _)) = self.groups.range(number..).next()
        {
            self.close_gap(*next_number, mechanics, scheduler);
        }
    }

    /// The requests of a group that is being served.
    pub fn parts(&self, group: &QueuedRequest) -> impl Iterator<Item = &QueuedRequest> {
        self.in_flight.get(&group.id).into_iter().flat_map(|group| group.parts.iter().map(|(_, part)| part))
    }

    /// Splits a served group into its requests: all are complete when the group is, and each has a share of the energy
    /// by its blocks.
    pub fn split(&mut self, served: &ServedRequest) -> Vec<ServedRequest> {
        let Some(Group { mut parts, lbn, end, .. }) = self.in_flight.remove(&served.request.id) else {
            return vec![*served];
        };
        parts.sort_unstable_by_key(|(number, _)| *number);
        let blocks = (end - lbn) as f64;
        let share = |part: &QueuedRequest| ServedRequest {
            request: *part,
            energy: served.energy.scale(f64::from(part.blocks) / blocks),
            ..*served
        };
        parts.iter().map(|(_, part)| share(part)).collect()
    }
}
