//! Several sleds that move independently behind one address space (DM-11).

use std::ops::Range;

use sledlab_core::Result;

use super::layout::Layout;
use super::plan::Plan;
use crate::device::Queued;
use crate::device::mems::geometry::Geometry;
use crate::device::mems::params::SledMotion;
use crate::device::mems::{AddressMap, MemsParams};
use crate::device::preset::{DeviceFile, DeviceParams};

/// Whether `file` describes a device of several sleds that move each on its own.
pub fn independent(file: &DeviceFile) -> Option<&MemsParams> {
    match &file.params {
        DeviceParams::Mems(params) if params.sleds > 1 && params.sled_motion == SledMotion::Independent => {
            Some(params)
        }
        _ => None,
    }
}

/// A device file for one of the sleds of `params`.
pub(super) fn one(params: &MemsParams) -> DeviceFile {
    let sled = MemsParams { sleds: 1, sled_motion: SledMotion::Together, ..params.clone() };
    DeviceFile { name: String::new(), description: String::new(), params: DeviceParams::Mems(sled) }
}

/// Where the sleds of `params` keep the blocks of their host.
///
/// # Errors
/// Parameters that make no sense together.
pub(super) fn layout(params: &MemsParams) -> Result<Box<dyn Layout>> {
    Ok(Box::new(AddressMap::new(params, params.sleds, Geometry::new(params)?.blocks)?))
}

impl Layout for AddressMap {
    fn capacity_blocks(&self) -> u64 {
        AddressMap::capacity_blocks(self)
    }

    fn plan(&self, request: &Queued, _nearest: &mut dyn FnMut(&Queued) -> usize) -> Plan {
        let last = request.lbn + u64::from(request.blocks) - 1;
        let mut plan = Plan::default();
        for (sled, lbn, blocks) in self.split(request.lbn, request.blocks) {
            let end = lbn + u64::from(blocks);
            let holds_last = self.sled(last) == sled && (lbn..end).contains(&self.local(last));
            plan.add_part(sled as usize, request.op, (lbn, end), holds_last);
        }
        plan
    }

    fn guarded(&self, _request: &Queued) -> Range<u64> {
        0..0
    }
}
