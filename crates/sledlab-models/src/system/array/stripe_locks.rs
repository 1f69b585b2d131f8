//! Stripe locks: which requests may access which stripes of an array.

use std::collections::VecDeque;

use sledlab_core::hash::{Map, Set};

use super::layout::LockedStripes;

/// For every claimed stripe, the claims of requests in order. The first request may continue; if it shares the stripe,
/// the sharing requests directly after it may continue too.
#[derive(Default)]
pub(super) struct StripeLocks {
    queues: Map<u64, VecDeque<Claim>>,
    /// Claims of many stripes, in order.
    long: Vec<LongClaim>,
}

struct LongClaim {
    request: u64,
    guarded: LockedStripes,
    /// Requests that the claim waits for.
    before: Set<u64>,
    /// Requests with few stripes that wait for the claim.
    after: Vec<u64>,
}

struct Claim {
    request: u64,
    is_shared: bool,
    /// Whether the request need not wait for an earlier claim.
    is_free: bool,
}

impl StripeLocks {
    /// A request claims stripes; returns for how many stripes or long claims it has to wait.
    pub fn claim(&mut self, request: u64, guarded: &LockedStripes) -> usize {
        if guarded.is_long() {
            return self.claim_range(request, guarded);
        }
        let mut waits = 0;
        for stripe in guarded.stripes.clone() {
            let queue = self.queues.entry(stripe).or_default();
            let is_free = queue.iter().all(|before| before.is_shared && guarded.is_shared);
            waits += usize::from(!is_free);
            queue.push_back(Claim { request, is_shared: guarded.is_shared, is_free });
        }
        for long in self.long.iter_mut().filter(|long| long.guarded.conflicts(guarded)) {
            long.after.push(request);
            waits += 1;
        }
        waits
    }

    fn claim_range(&mut self, request: u64, guarded: &LockedStripes) -> usize {
        let claimed = self.queues.iter().filter(|(stripe, _)| guarded.stripes.contains(stripe));
        let few = claimed.flat_map(|(_, queue)| queue);
        let few = few.filter(|claim| !(claim.is_shared && guarded.is_shared)).map(|claim| claim.request);
        let long = self.long.iter().filter(|long| long.guarded.conflicts(guarded)).map(|long| long.request);
        let before: Set<u64> = few.chain(long).collect();
        let waits = before.len();
        self.long.push(LongClaim { request, guarded: guarded.clone(), before, after: Vec::new() });
        waits
    }

    /// Whether some claim is kept as a range.
    pub fn has_long(&self) -> bool {
        !self.long.is_empty()
    }

    /// After a request has released its single stripes: releases its long claim, and appends the requests that no
    /// longer wait because of long claims to `freed`.
    pub fn release_range(&mut self, request: u64, freed: &mut Vec<u64>) {
        if let Some(place) = self.long.iter().position(|long| long.request == request) {
            freed.extend(self.long.remove(place).after);
        }
        let waiting = self.long.iter_mut().filter(|long| long.before.contains(&request));
        freed.extend(waiting.map(|long| {
            long.before.remove(&request);
            long.request
        }));
    }

    /// Releases a stripe of a request; appends the requests that no longer wait for the stripe to `freed`.
    pub fn release_stripe(&mut self, request: u64, stripe: u64, freed: &mut Vec<u64>) {
        let Some(queue) = self.queues.get_mut(&stripe) else { return };
        queue.retain(|claim| claim.request != request);
        if queue.is_empty() {
            self.queues.remove(&stripe);
            return;
        }
        let mut others_share = true;
        for (place, claim) in queue.iter_mut().enumerate() {
            others_share &= claim.is_shared;
            if place > 0 && !others_share {
                break;
            }
            if !claim.is_free {
                claim.is_free = true;
                freed.push(claim.request);
            }
        }
    }
}
