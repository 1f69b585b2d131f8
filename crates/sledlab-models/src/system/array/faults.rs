//! Failures of devices of an array, and the spares that take their places.

use std::collections::VecDeque;

use sledlab_core::{BLOCK_BYTES, Span, Time};

use super::flow::{Access, Flow};
use crate::device::{FailedDevice, FaultCounts};
use crate::system::SystemParams;

/// The failures to come, the failures so far, and the progress of the spares.
pub(super) struct Faults {
    /// For each device of the layout, the index of the node that holds its blocks: itself, or its spare.
    pub places: Vec<usize>,
    upcoming: VecDeque<(Time, usize)>,
    failed: Vec<Failure>,
    has_spares: bool,
    /// Least time from the start of one rebuilt stripe to the next.
    pace: Span,
    /// When the next stripe may begin.
    next: Time,
}

struct Failure {
    device: usize,
    at: Time,
    rebuilt_at: Option<Time>,
}

/// Number of spares.
pub(super) fn spares(params: &SystemParams) -> u64 {
    if params.rebuild_mb_s > 0.0 { params.failed.0.len() as u64 } else { 0 }
}

/// The index of the node that holds the blocks of a device.
#[inline]
pub(super) fn node(faults: Option<&Faults>, device: usize) -> usize {
    faults.map_or(device, |faults| faults.places[device])
}

/// The device of the layout whose blocks a node holds; none where the node has failed, or is a spare not in use.
pub(super) fn device(faults: Option<&Faults>, node: usize) -> Option<usize> {
    let Some(faults) = faults else { return Some(node) };
    faults
        .places
        .iter()
        .position(|place| *place == node)
        .filter(|device| faults.has_spares || faults.failed.iter().all(|failure| failure.device != *device))
}

impl Faults {
    /// Returns the failures that `params` define; `None` if there are none.
    pub fn new(params: &SystemParams) -> Option<Self> {
        let SystemParams { devices, unit_blocks, failed, failed_at_s, rebuild_mb_s, .. } = params;
        if failed.0.is_empty() {
            return None;
        }
        let mut upcoming: Vec<(Time, usize)> = failed
            .0
            .iter()
            .enumerate()
            .map(|(place, device)| (failed_at_s.failure_time(place), *device))
            .collect();
        upcoming.sort_by_key(|(at, _)| *at);
        let seconds = (unit_blocks * BLOCK_BYTES) as f64 / (rebuild_mb_s * 1e6);
        Some(Faults {
            places: (0..*devices as usize).collect(),
            upcoming: upcoming.into(),
            failed: Vec::new(),
            has_spares: *rebuild_mb_s > 0.0,
            pace: if *rebuild_mb_s > 0.0 { Span::from_seconds(seconds) } else { Span::ZERO },
            next: Time::ZERO,
        })
    }

    /// Whether a node takes part in the run: not where it failed before the run began.
    pub fn works(&self, node: usize) -> bool {
        self.failed.iter().all(|failure| failure.device != node || failure.at > Time::ZERO)
    }

    /// The next device that fails by `now`, if any; its spare takes its place.
    pub fn fail_due(&mut self, now: Time) -> Option<usize> {
        let (failure_time, device) =
            self.upcoming.front().copied().filter(|(failure_time, _)| *failure_time <= now)?;
        self.upcoming.pop_front();
        self.next = self.next.max(failure_time);
        if self.has_spares {
            self.places[device] = self.places.len() + self.failed.len();
        }
        self.failed.push(Failure { device, at: failure_time, rebuilt_at: None });
        Some(device)
    }

    /// When the next device fails or the next stripe is rebuilt.
    pub fn next_event(&self, flow: &Flow) -> Option<Time> {
        let failure = self.upcoming.front().map(|(at, _)| *at);
        let rebuild = (self.has_spares && flow.next_to_rebuild().is_some()).then_some(self.next);
        failure.into_iter().chain(rebuild).min()
    }

    /// Begins to rebuild the next stripe if that is due, and records which spares are complete.
    pub fn rebuild(&mut self, flow: &mut Flow, now: Time, ready: &mut Vec<Access>) {
        if !self.has_spares {
            return;
        }
        for failure in self.failed.iter_mut().filter(|failure| failure.rebuilt_at.is_none()) {
            failure.rebuilt_at = flow.rebuild_time(failure.device);
        }
        if let Some((device, stripe)) = flow.next_to_rebuild()
            && self.next <= now
        {
            self.next = now + self.pace;
            flow.rebuild(device, stripe, now, ready);
        }
    }

    /// The failures and their consequences so far.
    pub fn counts(&self, flow: &Flow) -> FaultCounts {
        let describe = |failure: &Failure| FailedDevice {
            device: failure.device,
            at_s: failure.at.since(Time::ZERO).as_seconds(),
            rebuilt_after_s: failure.rebuilt_at.map(|end| end.since(failure.at).as_seconds()),
        };
        let counts = flow.counts();
        FaultCounts {
            failed: self.failed.iter().map(describe).collect(),
            degraded_reads: counts.degraded_reads,
            restarted_requests: counts.restarted_requests,
            rebuild_read_bytes: counts.rebuild_read_blocks * BLOCK_BYTES,
            rebuild_written_bytes: counts.rebuild_written_blocks * BLOCK_BYTES,
            lost_blocks: flow.lost_blocks(),
            lost_requests: counts.lost_requests,
            background_j: flow.background().0.total_uj() * 1e-6,
            ..FaultCounts::default()
        }
    }
}
