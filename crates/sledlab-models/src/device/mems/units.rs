//! Devices whose sleds move independently of each other.

use sledlab_core::Result;

use super::geometry::Geometry;
use super::params::SledMotion;
use super::{AddressMap, MemsParams};
use crate::device::{UnitMap, UnitRun, Units};

/// The sleds of `params` as units; `None` if there is one sled, or if the sleds move together.
///
/// # Errors
/// Parameters that contradict each other.
pub fn units(params: &MemsParams) -> Result<Option<Units>> {
    if params.sleds == 1 || params.sled_motion == SledMotion::Together {
        return Ok(None);
    }
    let map = AddressMap::new(params, params.sleds, Geometry::new(params)?.blocks)?;
    let sled = MemsParams { sleds: 1, sled_motion: SledMotion::Together, ..params.clone() };
    Ok(Some(Units {
        unit: Box::new(sled),
        count: params.sleds as usize,
        plural: "independent sleds",
        remedy: "set device.sleds = 1 and more system.devices, or device.sled_motion = \"together\"",
        map: Box::new(map),
    }))
}

impl UnitMap for AddressMap {
    fn capacity_blocks(&self) -> u64 {
        AddressMap::capacity_blocks(self)
    }

    fn locate(&self, lbn: u64) -> (usize, u64) {
        (self.sled(lbn) as usize, self.local(lbn))
    }

    fn split(&self, lbn: u64, blocks: u32) -> Vec<UnitRun> {
        let runs = AddressMap::split(self, lbn, blocks).into_iter();
        runs.map(|(sled, lbn, blocks)| UnitRun { unit: sled as usize, lbn, blocks }).collect()
    }
}
