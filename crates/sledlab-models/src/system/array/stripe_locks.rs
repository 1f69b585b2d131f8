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
    long_claims: Vec<LongClaim>,
}

struct LongClaim {
    request: u64,
    locked: LockedStripes,
    /// Requests that the claim waits for.
    blockers: Set<u64>,
    /// Requests with few stripes that wait for the claim.
    blocked_requests: Vec<u64>,
}

struct Claim {
    request: u64,
    is_shared: bool,
    /// Whether the request need not wait for an earlier claim.
    is_free: bool,
}

impl StripeLocks {
    /// A request claims stripes; returns for how many stripes or long claims it has to wait.
    pub fn claim(&mut self, request: u64, locked: &LockedStripes) -> usize {
        if locked.is_long() {
            return self.claim_range(request, locked);
        }
        let mut waits = 0;
        for stripe in locked.stripes.clone() {
            let queue = self.queues.entry(stripe).or_default();
            let is_free = queue.iter().all(|earlier| earlier.is_shared && locked.is_shared);
            waits += usize::from(!is_free);
            queue.push_back(Claim { request, is_shared: locked.is_shared, is_free });
        }
        for claim in self.long_claims.iter_mut().filter(|claim| claim.locked.conflicts(locked)) {
            claim.blocked_requests.push(request);
            waits += 1;
        }
        waits
    }

    fn claim_range(&mut self, request: u64, locked: &LockedStripes) -> usize {
        let claimed = self.queues.iter().filter(|(stripe, _)| locked.stripes.contains(stripe));
        let short_claims = claimed.flat_map(|(_, queue)| queue);
        let short_blockers =
            short_claims.filter(|claim| !(claim.is_shared && locked.is_shared)).map(|claim| claim.request);
        let long_blockers =
            self.long_claims.iter().filter(|claim| claim.locked.conflicts(locked)).map(|claim| claim.request);
        let blockers: Set<u64> = short_blockers.chain(long_blockers).collect();
        let waits = blockers.len();
        self.long_claims.push(LongClaim {
            request,
            locked: locked.clone(),
            blockers,
            blocked_requests: Vec::new(),
        });
        waits
    }

    /// Whether some claim is kept as a range.
    pub fn has_long(&self) -> bool {
        !self.long_claims.is_empty()
    }

    /// After a request has released its single stripes: releases its long claim, and appends the requests that no
    /// longer wait because of long claims to `freed`.
    pub fn release_range(&mut self, request: u64, freed: &mut Vec<u64>) {
        if let Some(place) = self.long_claims.iter().position(|claim| claim.request == request) {
            freed.extend(self.long_claims.remove(place).blocked_requests);
        }
        let waiting = self.long_claims.iter_mut().filter(|claim| claim.blockers.contains(&request));
        freed.extend(waiting.map(|claim| {
            claim.blockers.remove(&request);
            claim.request
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
