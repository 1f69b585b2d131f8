//! RAID 5 while a device is missing: its blocks are recomputed from all other devices.

use sledlab_core::Op;

use super::health::Health;
use super::layout::Redundant;
use super::plan::Plan;
use super::raid5::{Part, Raid5, Touched, without};
use crate::device::Queued;

impl Raid5 {
    /// The plan of a request in an array of which devices fail.
    pub(super) fn plan_failing(&self, request: &Queued) -> Plan {
        let mut plan = Plan::default();
        let touched = self.touched(request);
        let last = touched.len().saturating_sub(1);
        for (number, touched) in touched.iter().enumerate() {
            let missing =
                (0..self.devices as usize).find(|device| self.health.misses(touched.stripe, *device));
            match (request.op, missing) {
                _ if self.health.is_lost(touched.stripe) => self.save(request.op, touched, &mut plan),
                (Op::Read, None) => self.read_whole(touched, number == last, &mut plan),
                (Op::Read, Some(missing)) => self.read_around(touched, missing, &mut plan),
                (_, None) => self.write_whole(touched, &mut plan),
                (_, Some(missing)) => self.write_around(touched, missing, &mut plan),
            }
        }
        plan.read_first();
        plan
    }

    /// Whether a read needs blocks of a missing device that can be recomputed.
    pub(super) fn recomputes(&self, read: &Queued) -> bool {
        self.touched(read).iter().any(|Touched { stripe, units }| {
            let is_missing =
                |(unit, _): &(u64, Part)| self.health.misses(*stripe, self.data_device(*stripe, *unit));
            !self.health.is_lost(*stripe) && units.iter().any(is_missing)
        })
    }

    fn read_whole(&self, Touched { stripe, units }: &Touched, is_last: bool, plan: &mut Plan) {
        for (number, (unit, part)) in units.iter().enumerate() {
            let ends_request = is_last && number + 1 == units.len();
            let device = self.data_device(*stripe, *unit);
            plan.add_part(device, Op::Read, self.on_device(*stripe, *part), ends_request);
        }
    }

    /// Reads the parts on working devices, and in place of the missing part the same part of all other devices; no
    /// block is read twice.
    fn read_around(&self, Touched { stripe, units }: &Touched, missing: usize, plan: &mut Plan) {
        let lost =
            units.iter().find(|(unit, _)| self.data_device(*stripe, *unit) == missing).map(|(_, part)| *part);
        plan.recomputes |= lost.is_some();
        for unit in 0..self.width() {
            let wanted = units.iter().find(|(number, _)| *number == unit).map(|(_, part)| *part);
            for part in either(wanted, lost) {
                self.read_from(*stripe, self.data_device(*stripe, unit), part, missing, plan);
            }
        }
        if let Some(part) = lost {
            self.read_from(*stripe, self.parity_device(*stripe), part, missing, plan);
        }
    }

    fn read_from(&self, stripe: u64, device: usize, part: Part, missing: usize, plan: &mut Plan) {
        if device != missing {
            plan.add(device, Op::Read, self.on_device(stripe, part), &[]);
        }
    }

    /// Writes the parts on working devices, and parity from which the missing unit can be recomputed. Where the missing
    /// unit is written, parity is computed from all other data (reconstruct); where it is not, from the old parity and
    /// the old data that are overwritten (read-modify-write). Where the parity is missing, nothing is read.
    fn write_around(&self, Touched { stripe, units }: &Touched, missing: usize, plan: &mut Plan) {
        let parity_device = self.parity_device(*stripe);
        let written =
            |unit| units.iter().find(|(number, _)| *number == unit).map_or((0, 0), |(_, part)| *part);
        let parity = if missing == parity_device { Vec::new() } else { self.parity(units) };
        let lost = (0..self.width())
            .find(|unit| self.data_device(*stripe, *unit) == missing)
            .map_or((0, 0), written);
        let modified: Vec<Part> = parity.iter().flat_map(|part| without(*part, lost)).collect();
        for unit in 0..self.width() {
            let device = self.data_device(*stripe, unit);
            let own = written(unit);
            let old = modified.iter().map(|part| (part.0.max(own.0), part.1.min(own.1)));
            let rest = parity.iter().map(|part| (part.0.max(lost.0), part.1.min(lost.1)));
            let rest = rest.filter(|(from, to)| from < to).flat_map(|part| without(part, own));
            let mut parts: Vec<Part> = old.filter(|(from, to)| from < to).chain(rest).collect();
            parts.sort_unstable();
            for part in parts {
                self.read_from(*stripe, device, part, missing, plan);
            }
        }
        for part in &modified {
            plan.add(parity_device, Op::Read, self.on_device(*stripe, *part), &[]);
        }
        let data = units.iter().map(|(unit, part)| (self.data_device(*stripe, *unit), *part));
        for (device, part) in data.filter(|(device, _)| *device != missing) {
            plan.add(device, Op::Write, self.on_device(*stripe, part), &[]);
        }
        for part in parity {
            plan.add(parity_device, Op::Write, self.on_device(*stripe, part), &[]);
        }
    }

    /// Accesses those parts of a stripe with lost data that are on working devices.
    fn save(&self, op: Op, Touched { stripe, units }: &Touched, plan: &mut Plan) {
        for (unit, part) in units {
            let device = self.data_device(*stripe, *unit);
            if self.health.misses(*stripe, device) {
                plan.loses = true;
            } else {
                plan.add(device, op, self.on_device(*stripe, *part), &[]);
            }
        }
    }
}

/// The union of two parts, in ascending order.
fn either(a: Option<Part>, b: Option<Part>) -> Vec<Part> {
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
        let unit = self.on_device(stripe, (0, self.unit_blocks));
        for other in (0..self.devices as usize).filter(|other| *other != device) {
            plan.add(other, Op::Read, unit, &[]);
        }
        plan.add(device, Op::Write, unit, &[]);
        plan.read_first();
        plan
    }

    fn lost_blocks(&self) -> u64 {
        let units = |stripe| {
            let missing = |unit: &u64| self.health.misses(stripe, self.data_device(stripe, *unit));
            (0..self.width()).filter(missing).count() as u64
        };
        self.health.lost().map(units).sum::<u64>() * self.unit_blocks
    }
}
