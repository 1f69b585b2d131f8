//! Layouts that keep each block once: concatenation and striping.

use super::layout::{BlockContent, Layout, Nearest, UnitPart, blocks, split_at_units};
use super::plan::Plan;
use crate::device::QueuedRequest;

/// Concatenation: one device after the other.
pub(super) struct Concatenation {
    pub devices: u64,
    pub device_blocks: u64,
}

impl Layout for Concatenation {
    fn capacity_blocks(&self) -> u64 {
        self.devices * self.device_blocks
    }

    fn plan(&self, request: &QueuedRequest, _nearest: Nearest) -> Plan {
        let mut plan = Plan::default();
        for UnitPart { unit: device, first: from, end: to, is_last } in
            split_at_units(blocks(request), self.device_blocks)
        {
            plan.add_part(device as usize, request.op, (from, to), is_last);
        }
        plan
    }

    fn devices(&self) -> usize {
        self.devices as usize
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        ((lbn / self.device_blocks) as usize, lbn % self.device_blocks)
    }

    fn holds(&self, device: usize, lbn: u64) -> BlockContent {
        BlockContent::Host(device as u64 * self.device_blocks + lbn)
    }
}

/// Striping: units on each device in turn.
pub(super) struct Stripe {
    pub devices: u64,
    pub unit_blocks: u64,
    /// Number of units of a device.
    pub units: u64,
}

impl Layout for Stripe {
    fn capacity_blocks(&self) -> u64 {
        self.devices * self.units * self.unit_blocks
    }

    fn plan(&self, request: &QueuedRequest, _nearest: Nearest) -> Plan {
        let mut plan = Plan::default();
        for UnitPart { unit, first: from, end: to, is_last } in
            split_at_units(blocks(request), self.unit_blocks)
        {
            let start = unit / self.devices * self.unit_blocks;
            let device = (unit % self.devices) as usize;
            plan.add_part(device, request.op, (start + from, start + to), is_last);
        }
        plan
    }

    fn devices(&self) -> usize {
        self.devices as usize
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        let (unit, offset) = (lbn / self.unit_blocks, lbn % self.unit_blocks);
        ((unit % self.devices) as usize, unit / self.devices * self.unit_blocks + offset)
    }

    fn holds(&self, device: usize, lbn: u64) -> BlockContent {
        let (row, offset) = (lbn / self.unit_blocks, lbn % self.unit_blocks);
        if row >= self.units {
            return BlockContent::Nothing;
        }
        BlockContent::Host((row * self.devices + device as u64) * self.unit_blocks + offset)
    }
}
