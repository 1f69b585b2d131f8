//! RAID 5 while a device is missing: its blocks are recomputed from all other devices.

use std::ops::Range;

use sledlab_core::Op;

use super::health::Health;
use super::layout::{Redundant, blocks};
use super::plan::{MAX_STEPS, Plan};
use super::raid5::{Part, Raid5, StripeAccess, remaining_parts};
use super::raid5_steps::Raid5Steps;
use crate::device::QueuedRequest;

impl Raid5 {
    /// The plan of a request in an array of which devices fail.
    pub(super) fn plan_failing(&self, request: &QueuedRequest) -> Plan {
        let mut plan = Plan::default();
        let mut unplanned = blocks(request);
        while let Some(touched) = self.touch(&mut unplanned, u64::MAX) {
            self.plan_stripes(request.op, &touched, unplanned.is_empty(), &mut plan);
        }
        plan.read_first();
        plan.loses = request.op == Op::Read && self.loses(request);
        plan
    }

    /// The first steps of a long request: the reads that its writes need, and as many steps as begin at once.
    pub(super) fn plan_first_part(&self, request: &QueuedRequest) -> Plan {
        let mut plan = Plan::default();
        if request.op != Op::Read {
            let keeps_data = |touched: &StripeAccess| !self.health.is_lost(touched.stripes.start);
            for touched in self.touched_stripes(request).filter(keeps_data) {
                self.plan_stripes(request.op, &touched, false, &mut plan);
            }
            plan.steps.retain(|step| step.op == Op::Read);
        }
        let mut remaining = Raid5Steps::new(self.clone(), request);
        plan.steps.extend(remaining.by_ref().take(MAX_STEPS));
        plan.read_first();
        plan.recomputes = request.op == Op::Read && self.recomputes(request);
        plan.loses = request.op == Op::Read && self.loses(request);
        plan.remaining = Some(Box::new(remaining));
        plan
    }

    /// Adds the accesses to some stripes; `is_last` where the request ends there.
    pub(super) fn plan_stripes(&self, op: Op, touched: &StripeAccess, is_last: bool, plan: &mut Plan) {
        match (op, self.first_missing_device(touched.stripes.start)) {
            _ if self.health.is_lost(touched.stripes.start) => self.access_working_devices(op, touched, plan),
            (Op::Read, None) => self.read_whole(touched, is_last, plan),
            (Op::Read, Some(missing)) => self.reconstruct_read(touched, missing, plan),
            (_, None) => self.write_whole(touched, plan),
            (_, Some(missing)) => self.degraded_write(touched, missing, plan),
        }
    }

    /// Returns whether the accesses to complete stripes from `stripe` on omit the blocks of the parity.
    pub(super) fn has_gaps(&self, op: Op, stripe: u64) -> bool {
        self.health.is_lost(stripe) || (op == Op::Read && self.first_missing_device(stripe).is_none())
    }

    /// The first device that a stripe misses.
    fn first_missing_device(&self, stripe: u64) -> Option<usize> {
        (0..self.devices as usize).find(|device| self.health.misses(stripe, *device))
    }

    /// Whether a read needs blocks of a missing device that can be recomputed.
    pub(super) fn recomputes(&self, read: &QueuedRequest) -> bool {
        self.touched_stripes(read)
            .any(|touched| !self.health.is_lost(touched.stripes.start) && self.touches_missing(&touched))
    }

    /// Whether some unit of data is on a missing device. Of two stripes, the device has the parity of at most one.
    pub(super) fn touches_missing(&self, StripeAccess { stripes, units }: &StripeAccess) -> bool {
        stripes.clone().take(2).any(|stripe| {
            units.iter().any(|(unit, _)| self.health.misses(stripe, self.data_device(stripe, *unit)))
        })
    }

    fn read_whole(&self, StripeAccess { stripes, units }: &StripeAccess, is_last: bool, plan: &mut Plan) {
        for stripe in stripes.clone() {
            for (number, (unit, part)) in units.iter().enumerate() {
                let ends_request = is_last && stripe + 1 == stripes.end && number + 1 == units.len();
                let blocks = self.device_blocks(&(stripe..stripe + 1), *part);
                plan.add_part(self.data_device(stripe, *unit), Op::Read, blocks, ends_request);
            }
        }
    }

    /// Reads the parts on working devices, and in place of the missing part the same part of all other devices; no
    /// block is read twice.
    fn reconstruct_read(
        &self,
        StripeAccess { stripes, units }: &StripeAccess,
        missing: usize,
        plan: &mut Plan,
    ) {
        let lost_units = units
            .iter()
            .find(|(unit, _)| self.data_device(stripes.start, *unit) == missing)
            .map(|(_, part)| *part);
        plan.recomputes |= lost_units.is_some() || stripes.end - stripes.start > 1;
        for unit in 0..self.width() {
            let requested = units.iter().find(|(number, _)| *number == unit).map(|(_, part)| *part);
            for part in union(requested, lost_units) {
                self.read_device(stripes, self.data_device(stripes.start, unit), part, missing, plan);
            }
        }
        if let Some(part) = lost_units {
            self.read_device(stripes, self.parity_device(stripes.start), part, missing, plan);
        }
    }

    fn read_device(&self, stripes: &Range<u64>, device: usize, part: Part, missing: usize, plan: &mut Plan) {
        if device != missing {
            plan.add(device, Op::Read, self.device_blocks(stripes, part), &[]);
        }
    }

    /// Writes the parts on working devices, and parity from which the missing unit can be recomputed. Where the missing
    /// unit is written, parity is computed from all other data (reconstruct); where it is not, from the old parity and
    /// the old data that are overwritten (read-modify-write). Where the parity is missing, nothing is read.
    fn degraded_write(
        &self,
        StripeAccess { stripes, units }: &StripeAccess,
        missing: usize,
        plan: &mut Plan,
    ) {
        let parity_device = self.parity_device(stripes.start);
        let written =
            |unit| units.iter().find(|(number, _)| *number == unit).map_or((0, 0), |(_, part)| *part);
        let parity = if missing == parity_device { Vec::new() } else { self.parity(units) };
        let lost = (0..self.width())
            .find(|unit| self.data_device(stripes.start, *unit) == missing)
            .map_or((0, 0), written);
        let modified_parts: Vec<Part> = parity.iter().flat_map(|part| remaining_parts(*part, lost)).collect();
        for unit in 0..self.width() {
            let device = self.data_device(stripes.start, unit);
            let own_part = written(unit);
            let old_parts =
                modified_parts.iter().map(|part| (part.0.max(own_part.0), part.1.min(own_part.1)));
            let reconstruct_parts = parity.iter().map(|part| (part.0.max(lost.0), part.1.min(lost.1)));
            let reconstruct_parts = reconstruct_parts
                .filter(|(from, to)| from < to)
                .flat_map(|part| remaining_parts(part, own_part));
            let mut parts: Vec<Part> =
                old_parts.filter(|(from, to)| from < to).chain(reconstruct_parts).collect();
            parts.sort_unstable();
            for part in parts {
                self.read_device(stripes, device, part, missing, plan);
            }
        }
        for part in &modified_parts {
            plan.add(parity_device, Op::Read, self.device_blocks(stripes, *part), &[]);
        }
        let data = units.iter().map(|(unit, part)| (self.data_device(stripes.start, *unit), *part));
        for (device, part) in data.filter(|(device, _)| *device != missing) {
            plan.add(device, Op::Write, self.device_blocks(stripes, part), &[]);
        }
        for part in parity {
            plan.add(parity_device, Op::Write, self.device_blocks(stripes, part), &[]);
        }
    }

    /// Accesses those parts of stripes with lost data that are on working devices.
    fn access_working_devices(
        &self,
        op: Op,
        StripeAccess { stripes, units }: &StripeAccess,
        plan: &mut Plan,
    ) {
        for stripe in stripes.clone() {
            for (unit, part) in units {
                let device = self.data_device(stripe, *unit);
                if !self.health.misses(stripe, device) {
                    plan.add(device, op, self.device_blocks(&(stripe..stripe + 1), *part), &[]);
                }
            }
        }
    }
}

/// The union of two parts, in ascending order.
fn union(a: Option<Part>, b: Option<Part>) -> Vec<Part> {
    let mut parts: Vec<Part> = a.into_iter().chain(b).collect();
    parts.sort_unstable();
    match parts[..] {
        [(from, to), (next, end)] if next <= to => vec![(from, to.max(end))],
        _ => parts,
    }
}

impl Redundant for Raid5 {
    fn health(&self) -> &Health {
        &self.health
    }

    fn rebuild(&self, device: usize, stripe: u64) -> Plan {
        let mut plan = Plan::default();
        if self.health.is_lost(stripe) {
            return plan;
        }
        let unit = self.device_blocks(&(stripe..stripe + 1), (0, self.unit_blocks));
        for other in (0..self.devices as usize).filter(|other| *other != device) {
            plan.add(other, Op::Read, unit, &[]);
        }
        plan.add(device, Op::Write, unit, &[]);
        plan.read_first();
        plan
    }

    fn loses(&self, request: &QueuedRequest) -> bool {
        let has_lost = !self.health.lost_stripes().is_empty();
        has_lost
            && self
                .touched_stripes(request)
                .any(|touched| self.health.is_lost(touched.stripes.start) && self.touches_missing(&touched))
    }

    fn lost_blocks(&self) -> u64 {
        let units = |stripe| {
            let missing = |unit: &u64| self.health.misses(stripe, self.data_device(stripe, *unit));
            (0..self.width()).filter(missing).count() as u64
        };
        self.health.lost_stripes().map(units).sum::<u64>() * self.unit_blocks
    }
}
