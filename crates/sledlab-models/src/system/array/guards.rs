//! Guards: which requests may access which stripes.

use std::collections::VecDeque;

use sledlab_core::hash::Map;

use super::layout::Guarded;

/// For every claimed stripe, the claims of requests in order. The first request may go on; where it shares the stripe,
/// so may the sharing requests directly after it.
#[derive(Default)]
pub(super) struct Guards {
    queues: Map<u64, VecDeque<Claim>>,
}

struct Claim {
    request: u64,
    is_shared: bool,
    /// Whether the request need not wait for an earlier claim.
    is_free: bool,
}

impl Guards {
    /// A request claims stripes; returns for how many of them it has to wait.
    pub fn claim(&mut self, request: u64, Guarded { stripes, is_shared }: &Guarded) -> usize {
        let mut waits = 0;
        for stripe in stripes.clone() {
            let queue = self.queues.entry(stripe).or_default();
            let is_free = queue.iter().all(|before| before.is_shared && *is_shared);
            waits += usize::from(!is_free);
            queue.push_back(Claim { request, is_shared: *is_shared, is_free });
        }
        waits
    }

    /// A request gives up a stripe; appends the requests that no longer wait for the stripe to `freed`.
    pub fn leave(&mut self, request: u64, stripe: u64, freed: &mut Vec<u64>) {
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
