//! Where an array keeps the blocks of its host.

use std::ops::Range;

use sledlab_core::{Error, Op, Result};

use super::plan::Plan;
use super::raid5::Raid5;
use crate::device::Queued;
use crate::system::params::{Kind, SystemParams};

/// A way of putting devices together.
pub(super) trait Layout: Send {
    /// Number of blocks the host sees.
    fn capacity_blocks(&self) -> u64;

    /// What the devices have to do for a request; `nearest` tells the device with the least positioning time, where any
    /// has the blocks.
    fn plan(&self, request: &Queued, nearest: &mut dyn FnMut(&Queued) -> usize) -> Plan;

    /// Stripes that nothing else may change while the request is under way.
    fn guarded(&self, request: &Queued) -> Range<u64>;
}

/// The layout that `params` asks for, on devices of `device_blocks`.
///
/// # Errors
/// Too few devices for it, or too many; a unit that fits on none; more blocks than can be counted.
pub(super) fn build(params: &SystemParams, device_blocks: u64) -> Result<Box<dyn Layout>> {
    let SystemParams { kind, devices, unit_blocks, .. } = *params;
    if device_blocks.checked_mul(devices).is_none() {
        return Err(Error::user(format!("{devices} devices of {device_blocks} blocks are too large"))
            .with_remedy("use fewer or smaller devices"));
    }
    let units = device_blocks / unit_blocks;
    if matches!(kind, Kind::Stripe | Kind::Raid5) && units == 0 {
        return Err(Error::user(format!(
            "system.unit_blocks = {unit_blocks} is more than a device has: {device_blocks} blocks"
        ))
        .with_remedy(format!("choose a unit of at most {device_blocks} blocks")));
    }
    Ok(match kind {
        Kind::Single | Kind::Concatenation => Box::new(Concatenation { devices, device_blocks }),
        Kind::Stripe => Box::new(Stripe { devices, unit_blocks, units }),
        Kind::Mirror => Box::new(Mirror { devices, device_blocks }),
        Kind::Raid5 => Box::new(Raid5 { devices, unit_blocks, stripes: units }),
    })
}

/// The blocks of a request, cut at multiples of `unit` blocks.
pub(super) fn cut(request: &Queued, unit: u64) -> impl Iterator<Item = Cut> {
    let end = request.lbn + u64::from(request.blocks);
    let mut lbn = request.lbn;
    std::iter::from_fn(move || {
        (lbn < end).then(|| {
            let (number, from) = (lbn / unit, lbn % unit);
            let to = (from + end - lbn).min(unit);
            lbn += to - from;
            Cut { unit: number, from, to, is_last: lbn == end }
        })
    })
}

/// The part of a request in one unit.
pub(super) struct Cut {
    /// Number of the unit.
    pub unit: u64,
    /// First block in it.
    pub from: u64,
    /// Block after the last in it.
    pub to: u64,
    /// Whether the request ends here.
    pub is_last: bool,
}

/// One device after the other.
struct Concatenation {
    devices: u64,
    device_blocks: u64,
}

impl Layout for Concatenation {
    fn capacity_blocks(&self) -> u64 {
        self.devices * self.device_blocks
    }

    fn plan(&self, request: &Queued, _nearest: &mut dyn FnMut(&Queued) -> usize) -> Plan {
        let mut plan = Plan::default();
        for Cut { unit: device, from, to, is_last } in cut(request, self.device_blocks) {
            plan.add_part(device as usize, request.op, (from, to), is_last);
        }
        plan
    }

    fn guarded(&self, _request: &Queued) -> Range<u64> {
        0..0
    }
}

/// Units on each device in turn.
struct Stripe {
    devices: u64,
    unit_blocks: u64,
    /// Units of a device.
    units: u64,
}

impl Layout for Stripe {
    fn capacity_blocks(&self) -> u64 {
        self.devices * self.units * self.unit_blocks
    }

    fn plan(&self, request: &Queued, _nearest: &mut dyn FnMut(&Queued) -> usize) -> Plan {
        let mut plan = Plan::default();
        for Cut { unit, from, to, is_last } in cut(request, self.unit_blocks) {
            let start = unit / self.devices * self.unit_blocks;
            let device = (unit % self.devices) as usize;
            plan.add_part(device, request.op, (start + from, start + to), is_last);
        }
        plan
    }

    fn guarded(&self, _request: &Queued) -> Range<u64> {
        0..0
    }
}

/// The same blocks on every device: one reads them, all write them.
struct Mirror {
    devices: u64,
    device_blocks: u64,
}

impl Layout for Mirror {
    fn capacity_blocks(&self) -> u64 {
        self.device_blocks
    }

    fn plan(&self, request: &Queued, nearest: &mut dyn FnMut(&Queued) -> usize) -> Plan {
        let mut plan = Plan::default();
        let blocks = (request.lbn, request.lbn + u64::from(request.blocks));
        if request.op == Op::Read {
            plan.add_part(nearest(request), Op::Read, blocks, true);
        } else {
            for device in 0..self.devices as usize {
                plan.add_part(device, request.op, blocks, true);
            }
        }
        plan
    }

    fn guarded(&self, _request: &Queued) -> Range<u64> {
        0..0
    }
}
