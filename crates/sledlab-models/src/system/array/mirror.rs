//! Mirroring: the same blocks on every device; one device serves a read, all serve a write.

use sledlab_core::Op;

use super::health::Health;
use super::layout::{BlockContent, Layout, LockedStripes, Nearest, Redundant};
use super::plan::Plan;
use crate::device::QueuedRequest;

/// A mirror of all devices.
pub(super) struct Mirror {
    pub devices: u64,
    pub device_blocks: u64,
    /// Blocks that are copied to a spare with one access; they count as one stripe.
    pub unit_blocks: u64,
    pub health: Health,
}

impl Mirror {
    /// Returns the part of the blocks `lbn..end` that is on a device: a spare has the first stripes only.
    fn device_part(&self, device: usize, (lbn, end): (u64, u64)) -> (u64, u64) {
        let stored_blocks = self.health.stripe_count(device).saturating_mul(self.unit_blocks);
        (lbn, end.min(stored_blocks).max(lbn))
    }

    fn holds_all(&self, device: usize, blocks: (u64, u64)) -> bool {
        !self.health.fails || self.device_part(device, blocks) == blocks
    }

    fn blocks(request: &QueuedRequest) -> (u64, u64) {
        (request.lbn, request.lbn + u64::from(request.blocks))
    }
}

impl Layout for Mirror {
    fn capacity_blocks(&self) -> u64 {
        self.device_blocks
    }

    fn plan(&self, request: &QueuedRequest, nearest: Nearest) -> Plan {
        let mut plan = Plan::default();
        let blocks = Mirror::blocks(request);
        let holds_blocks = |device: usize| self.holds_all(device, blocks);
        if request.op != Op::Read {
            for device in 0..self.devices as usize {
                let (lbn, end) = if self.health.fails { self.device_part(device, blocks) } else { blocks };
                if lbn < end {
                    plan.add_part(device, request.op, (lbn, end), true);
                }
            }
        } else if !self.loses(request) {
            plan.add_part(nearest(request, &holds_blocks), Op::Read, blocks, true);
        } else {
            plan.loses = true;
        }
        plan
    }

    /// Blocks that are being copied to a spare must not change meanwhile.
    fn locked_stripes(&self, request: &QueuedRequest) -> LockedStripes {
        if !self.health.fails || request.op == Op::Read {
            return LockedStripes::NONE;
        }
        let (lbn, end) = Mirror::blocks(request);
        LockedStripes { stripes: lbn / self.unit_blocks..end.div_ceil(self.unit_blocks), is_shared: false }
    }

    fn devices(&self) -> usize {
        self.devices as usize
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        (0, lbn)
    }

    fn holds(&self, _device: usize, lbn: u64) -> BlockContent {
        BlockContent::Host(lbn)
    }

    fn health(&mut self) -> Option<&mut Health> {
        Some(&mut self.health)
    }

    fn redundant(&self) -> Option<&dyn Redundant> {
        Some(self)
    }
}

impl Redundant for Mirror {
    fn health(&self) -> &Health {
        &self.health
    }

    fn rebuild(&self, device: usize, stripe: u64) -> Plan {
        let mut plan = Plan::default();
        let blocks = (stripe * self.unit_blocks, ((stripe + 1) * self.unit_blocks).min(self.device_blocks));
        let source = (0..self.devices as usize).find(|source| !self.health.misses(stripe, *source));
        if let Some(source) = source {
            let read = plan.add(source, Op::Read, blocks, &[]);
            plan.add(device, Op::Write, blocks, &[read]);
        }
        plan
    }

    fn loses(&self, request: &QueuedRequest) -> bool {
        let blocks = Mirror::blocks(request);
        self.health.fails && !(0..self.devices as usize).any(|device| self.holds_all(device, blocks))
    }

    fn lost_blocks(&self) -> u64 {
        let lost_stripes = self.health.lost_stripes();
        (lost_stripes.end * self.unit_blocks).min(self.device_blocks)
            - (lost_stripes.start * self.unit_blocks).min(self.device_blocks)
    }
}
