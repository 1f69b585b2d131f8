//! Units of a device that move independently, behind one address space.

use super::layout::{BlockContent, Layout, Nearest};
use super::plan::Plan;
use crate::device::{QueuedRequest, UnitMap, UnitRun};

/// A layout by the device's own map of its units.
pub(super) struct UnitLayout {
    pub map: Box<dyn UnitMap>,
    pub count: usize,
}

impl Layout for UnitLayout {
    fn capacity_blocks(&self) -> u64 {
        self.map.capacity_blocks()
    }

    fn plan(&self, request: &QueuedRequest, _nearest: Nearest) -> Plan {
        let (last_unit, last) = self.map.locate(request.lbn + u64::from(request.blocks) - 1);
        let mut plan = Plan::default();
        for UnitRun { unit, lbn, blocks } in self.map.split(request.lbn, request.blocks) {
            let end = lbn + u64::from(blocks);
            let is_last_part = unit == last_unit && (lbn..end).contains(&last);
            plan.add_part(unit, request.op, (lbn, end), is_last_part);
        }
        plan
    }

    fn devices(&self) -> usize {
        self.count
    }

    fn place(&self, lbn: u64) -> (usize, u64) {
        self.map.locate(lbn)
    }

    /// Not used: the medium around the entire device stores the contents, not the array of its units.
    fn holds(&self, _device: usize, _lbn: u64) -> BlockContent {
        BlockContent::Nothing
    }
}
