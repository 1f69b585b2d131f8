//! RAID 5: units on each device in turn, and the parity of every stripe on another device.
//!
//! Left-symmetric: the parity of stripe `s` on `n` devices is on device `n - 1 - s mod n`, its first unit on the next
//! device and so on, so that consecutive units are on consecutive devices.

use std::ops::Range;

use sledlab_core::Op;

use super::layout::{Cut, Layout, cut};
use super::plan::Plan;
use crate::device::Queued;

/// Units in turn, with rotated parity.
pub(super) struct Raid5 {
    pub devices: u64,
    pub unit_blocks: u64,
    /// Stripes, each a unit of every device.
    pub stripes: u64,
}

/// Blocks of a unit, from its beginning: the first and the one after the last.
type Part = (u64, u64);

/// What of a stripe is written.
struct Written {
    stripe: u64,
    /// Units of data, by number, and their parts.
    units: Vec<(u64, Part)>,
}

impl Raid5 {
    /// Units of data in a stripe.
    fn width(&self) -> u64 {
        self.devices - 1
    }

    fn parity_device(&self, stripe: u64) -> usize {
        (self.devices - 1 - stripe % self.devices) as usize
    }

    fn data_device(&self, stripe: u64, unit: u64) -> usize {
        ((self.parity_device(stripe) as u64 + 1 + unit) % self.devices) as usize
    }

    fn on_device(&self, stripe: u64, (from, to): Part) -> (u64, u64) {
        let start = stripe * self.unit_blocks;
        (start + from, start + to)
    }

    fn read(&self, request: &Queued) -> Plan {
        let mut plan = Plan::default();
        for Cut { unit, from, to, is_last } in cut(request, self.unit_blocks) {
            let (stripe, unit) = (unit / self.width(), unit % self.width());
            let device = self.data_device(stripe, unit);
            plan.add_part(device, Op::Read, self.on_device(stripe, (from, to)), is_last);
        }
        plan
    }

    fn write(&self, request: &Queued) -> Plan {
        let mut stripes: Vec<Written> = Vec::new();
        for Cut { unit, from, to, .. } in cut(request, self.unit_blocks) {
            let (stripe, unit) = (unit / self.width(), unit % self.width());
            match stripes.last_mut() {
                Some(last) if last.stripe == stripe => last.units.push((unit, (from, to))),
                _ => stripes.push(Written { stripe, units: vec![(unit, (from, to))] }),
            }
        }
        let mut plan = Plan::default();
        for written in stripes {
            if 2 * written.units.len() as u64 >= self.width() {
                self.reconstruct(&written, &mut plan);
            } else {
                self.modify(&written, &mut plan);
            }
        }
        plan
    }

    /// Old data and old parity are read; new data goes over old data once that is known, parity comes last.
    fn modify(&self, Written { stripe, units }: &Written, plan: &mut Plan) {
        let parity_device = self.parity_device(*stripe);
        let place = |part| self.on_device(*stripe, part);
        let mut old = Vec::new();
        for (unit, part) in units {
            old.push(plan.add(self.data_device(*stripe, *unit), Op::Read, place(*part), &[]));
        }
        let parity = self.parity(units);
        let mut all = old.clone();
        all.extend(parity.iter().map(|part| plan.add(parity_device, Op::Read, place(*part), &[])));
        for ((unit, part), old) in units.iter().zip(old) {
            plan.add(self.data_device(*stripe, *unit), Op::Write, place(*part), &[old]);
        }
        for part in parity {
            plan.add(parity_device, Op::Write, place(part), &all);
        }
    }

    /// What is not written is read, so parity needs nothing old; where all is written, nothing is read.
    fn reconstruct(&self, Written { stripe, units }: &Written, plan: &mut Plan) {
        let place = |part| self.on_device(*stripe, part);
        let parity = self.parity(units);
        let mut rest = Vec::new();
        for unit in 0..self.width() {
            let written = units.iter().find(|(number, _)| *number == unit).map_or((0, 0), |(_, part)| *part);
            for part in parity.iter().flat_map(|part| without(*part, written)) {
                rest.push(plan.add(self.data_device(*stripe, unit), Op::Read, place(part), &[]));
            }
        }
        for (unit, part) in units {
            plan.add(self.data_device(*stripe, *unit), Op::Write, place(*part), &[]);
        }
        for part in parity {
            plan.add(self.parity_device(*stripe), Op::Write, place(part), &rest);
        }
    }

    /// The parts of the unit of parity that change with `units`, which follow each other.
    fn parity(&self, units: &[(u64, Part)]) -> Vec<Part> {
        match units {
            [(_, only)] => vec![*only],
            // The end of one unit and the beginning of the next, with a gap between them.
            [(_, (from, _)), (_, (_, to))] if to < from => vec![(0, *to), (*from, self.unit_blocks)],
            _ => vec![(0, self.unit_blocks)],
        }
    }
}

/// What is left of a part before and after another.
fn without((from, to): Part, (taken_from, taken_to): Part) -> impl Iterator<Item = Part> {
    [(from, to.min(taken_from)), (from.max(taken_to), to)].into_iter().filter(|(from, to)| from < to)
}

impl Layout for Raid5 {
    fn capacity_blocks(&self) -> u64 {
        self.width() * self.stripes * self.unit_blocks
    }

    fn plan(&self, request: &Queued, _nearest: &mut dyn FnMut(&Queued) -> usize) -> Plan {
        if request.op == Op::Read { self.read(request) } else { self.write(request) }
    }

    /// Two writes that read the old parity of a stripe before either has written the new would lose one of them.
    fn guarded(&self, request: &Queued) -> Range<u64> {
        if request.op == Op::Read {
            return 0..0;
        }
        let stripe_blocks = self.width() * self.unit_blocks;
        let end = request.lbn + u64::from(request.blocks);
        request.lbn / stripe_blocks..end.div_ceil(stripe_blocks)
    }
}
