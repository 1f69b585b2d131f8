//! The units of a device that move each on their own, behind one address space.

use std::ops::Range;

use super::layout::Layout;
use super::plan::Plan;
use crate::device::{Queued, Run, UnitMap};

/// Blocks lie where a device's own map of its units says.
pub(super) struct OfUnits(pub Box<dyn UnitMap>);

impl Layout for OfUnits {
    fn capacity_blocks(&self) -> u64 {
        self.0.capacity_blocks()
    }

    fn plan(&self, request: &Queued, _nearest: &mut dyn FnMut(&Queued) -> usize) -> Plan {
        let (last_unit, last) = self.0.locate(request.lbn + u64::from(request.blocks) - 1);
        let mut plan = Plan::default();
        for Run { unit, lbn, blocks } in self.0.split(request.lbn, request.blocks) {
            let end = lbn + u64::from(blocks);
            let holds_last = unit == last_unit && (lbn..end).contains(&last);
            plan.add_part(unit, request.op, (lbn, end), holds_last);
        }
        plan
    }

    fn guarded(&self, _request: &Queued) -> Range<u64> {
        0..0
    }
}
