//! RAID 5: units on each device in turn, and the parity of every stripe on another device.
//!
//! Left-symmetric: the parity of stripe `s` on `n` devices is on device `n - 1 - s mod n`, its first unit on the next
//! device and so on, so that consecutive units are on consecutive devices.

use std::ops::Range;

use sledlab_core::Op;

use super::health::Health;
use super::layout::{
    BlockContent, Layout, LockedStripes, Nearest, Redundant, UnitPart, blocks, split_at_units,
};
use super::plan::{MAX_STEPS, Plan};
use crate::device::QueuedRequest;

/// RAID 5: units on each device in turn, with rotated parity.
#[derive(Clone, Debug)]
pub(super) struct Raid5 {
    pub devices: u64,
    pub unit_blocks: u64,
    /// Number of stripes; each is one unit of every device.
    pub stripes: u64,
    pub health: Health,
}

/// Blocks of a unit, counted from its beginning: the first block and the one after the last.
pub(super) type Part = (u64, u64);

/// The parts that a request reads or writes of one stripe, or of consecutive complete stripes that miss the same
/// devices.
pub(super) struct StripeAccess {
    pub stripes: Range<u64>,
    /// Units of data by number, each with its part.
    pub units: Vec<(u64, Part)>,
}

impl Raid5 {
    /// Number of units of data in a stripe.
    pub(super) fn width(&self) -> u64 {
        self.devices - 1
    }

    pub(super) fn parity_device(&self, stripe: u64) -> usize {
        (self.devices - 1 - stripe % self.devices) as usize
    }

    pub(super) fn data_device(&self, stripe: u64, unit: u64) -> usize {
        ((self.parity_device(stripe) as u64 + 1 + unit) % self.devices) as usize
    }

    /// The blocks of a device from the part of a unit in the first stripe to the part in the last stripe.
    pub(super) fn device_blocks(&self, stripes: &Range<u64>, (from, to): Part) -> (u64, u64) {
        (stripes.start * self.unit_blocks + from, (stripes.end - 1) * self.unit_blocks + to)
    }

    fn plan_read(&self, request: &QueuedRequest) -> Plan {
        let mut plan = Plan::default();
        for UnitPart { unit, first: from, end: to, is_last } in
            split_at_units(blocks(request), self.unit_blocks)
        {
            let (stripe, unit) = (unit / self.width(), unit % self.width());
            let start = stripe * self.unit_blocks;
            plan.add_part(self.data_device(stripe, unit), Op::Read, (start + from, start + to), is_last);
        }
        plan
    }

    /// Whether the plan of a request may have more steps than begin at once. Writes to complete stripes take one step
    /// on each device, except where data is lost.
    fn is_planned_in_parts(&self, request: &QueuedRequest) -> bool {
        u64::from(request.blocks) > MAX_STEPS as u64 * self.unit_blocks
            && (request.op == Op::Read || !self.health.lost_stripes().is_empty())
    }

    fn plan_write(&self, request: &QueuedRequest) -> Plan {
        let mut plan = Plan::default();
        for written in self.touched_stripes(request) {
            self.write_whole(&written, &mut plan);
        }
        plan
    }

    /// The stripes that a request touches.
    pub(super) fn touched_stripes(&self, request: &QueuedRequest) -> impl Iterator<Item = StripeAccess> {
        let mut unplanned = blocks(request);
        std::iter::from_fn(move || self.touch(&mut unplanned, u64::MAX))
    }

    /// Removes up to `max_stripes` stripes from the host blocks `unplanned`.
    pub(super) fn touch(&self, unplanned: &mut Range<u64>, max_stripes: u64) -> Option<StripeAccess> {
        if unplanned.is_empty() {
            return None;
        }
        let stripe_blocks = self.width() * self.unit_blocks;
        let (stripe, start) = (unplanned.start / stripe_blocks, unplanned.start);
        let end_stripe = unplanned.end / stripe_blocks;
        let mut next = stripe + 1;
        if start % stripe_blocks == 0 && next < end_stripe {
            next = end_stripe.min(self.health.next_change(stripe)).min(stripe.saturating_add(max_stripes));
        }
        unplanned.start = unplanned.end.min(next * stripe_blocks);
        let first = start..unplanned.end.min((stripe + 1) * stripe_blocks);
        let units = split_at_units(first, self.unit_blocks)
            .map(|part| (part.unit % self.width(), (part.first, part.end)));
        Some(StripeAccess { stripes: stripe..next, units: units.collect() })
    }

    /// Writes to stripes that miss no device.
    pub(super) fn write_whole(&self, written: &StripeAccess, plan: &mut Plan) {
        if 2 * written.units.len() as u64 >= self.width() {
            self.reconstruct(written, plan);
        } else {
            self.modify(written, plan);
        }
    }

    /// Read-modify-write: old data and old parity are read; each unit of data is overwritten once its old data are
    /// read, parity comes last.
    fn modify(&self, StripeAccess { stripes, units }: &StripeAccess, plan: &mut Plan) {
        let parity_device = self.parity_device(stripes.start);
        let place = |part| self.device_blocks(stripes, part);
        let mut old_reads = Vec::new();
        for (unit, part) in units {
            old_reads.push(plan.add(self.data_device(stripes.start, *unit), Op::Read, place(*part), &[]));
        }
        let parity = self.parity(units);
        let mut reads = old_reads.clone();
        reads.extend(parity.iter().map(|part| plan.add(parity_device, Op::Read, place(*part), &[])));
        for ((unit, part), old_reads) in units.iter().zip(old_reads) {
            plan.add(self.data_device(stripes.start, *unit), Op::Write, place(*part), &[old_reads]);
        }
        for part in parity {
            plan.add(parity_device, Op::Write, place(part), &reads);
        }
    }

    /// Reconstruct: the data that are not written are read, so the old parity is not needed; if the entire stripe is
    /// written, nothing is read.
    fn reconstruct(&self, StripeAccess { stripes, units }: &StripeAccess, plan: &mut Plan) {
        let place = |part| self.device_blocks(stripes, part);
        let parity = self.parity(units);
        let mut reads = Vec::new();
        for unit in 0..self.width() {
            let written = units.iter().find(|(number, _)| *number == unit).map_or((0, 0), |(_, part)| *part);
            for part in parity.iter().flat_map(|part| remaining_parts(*part, written)) {
                reads.push(plan.add(self.data_device(stripes.start, unit), Op::Read, place(part), &[]));
            }
        }
        for (unit, part) in units {
            plan.add(self.data_device(stripes.start, *unit), Op::Write, place(*part), &[]);
        }
        for part in parity {
            plan.add(self.parity_device(stripes.start), Op::Write, place(part), &reads);
        }
    }

    /// The parts of the parity unit that change with `units`, which are consecutive.
    pub(super) fn parity(&self, units: &[(u64, Part)]) -> Vec<Part> {
        match units {
            [(_, only)] => vec![*only],
            // The end of one unit and the beginning of the next, with a gap between them.
            [(_, (from, _)), (_, (_, to))] if to < from => vec![(0, *to), (*from, self.unit_blocks)],
            _ => vec![(0, self.unit_blocks)],
        }
    }
}

/// The parts of `(from, to)` before and after the part `(taken_from, taken_to)`.
pub(super) fn remaining_parts((from, to): Part, (taken_from, taken_to): Part) -> impl Iterator<Item = Part> {
    [(from, to.min(taken_from)), (from.max(taken_to), to)].into_iter().filter(|(from, to)| from < to)
}

impl Layout for Raid5 {
    fn capacity_blocks(&self) -> u64 {
        self.width() * self.stripes * self.unit_blocks
    }

    fn plan(&self, request: &QueuedRequest, _nearest: Nearest) -> Plan {
        match request.op {
            _ if self.is_planned_in_parts(request) => self.plan_first_part(request),
            _ if self.health.fails => self.plan_failing(request),
            Op::Read => self.plan_read(request),
            _ => self.plan_write(request),
        }
    }

    /// If two writes read the old parity of a stripe before either has written the new one, the parity would lack one
    /// of them. Blocks that are being recomputed must not change meanwhile.
    fn locked_stripes(&self, request: &QueuedRequest) -> LockedStripes {
        let is_shared = request.op == Op::Read;
        if is_shared && !(self.health.fails && self.recomputes(request)) {
            return LockedStripes::NONE;
        }
        let stripe_blocks = self.width() * self.unit_blocks;
        let end = request.lbn + u64::from(request.blocks);
        LockedStripes { stripes: request.lbn / stripe_blocks..end.div_ceil(stripe_blocks), is_shared }
    }

    fn devices(&self) -> usize {
        self.devices as usize
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        let (unit, offset) = (lbn / self.unit_blocks, lbn % self.unit_blocks);
        let (stripe, unit) = (unit / self.width(), unit % self.width());
        (self.data_device(stripe, unit), stripe * self.unit_blocks + offset)
    }

    fn holds(&self, device: usize, lbn: u64) -> BlockContent {
        let (stripe, offset) = (lbn / self.unit_blocks, lbn % self.unit_blocks);
        if stripe >= self.stripes {
            return BlockContent::Nothing;
        }
        let unit = (device as u64 + self.devices - self.parity_device(stripe) as u64) % self.devices;
        match unit.checked_sub(1) {
            None => BlockContent::Parity,
            Some(unit) => BlockContent::Host((stripe * self.width() + unit) * self.unit_blocks + offset),
        }
    }

    fn health(&mut self) -> Option<&mut Health> {
        Some(&mut self.health)
    }

    fn redundant(&self) -> Option<&dyn Redundant> {
        Some(self)
    }
}
