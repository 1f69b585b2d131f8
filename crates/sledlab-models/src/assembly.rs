//! Assembly of systems: devices or hybrids, combined as an array, behind a cache.

use sledlab_core::{Error, Result, Time};

use crate::cache::{CacheKind, CacheParams};
use crate::device::preset::DeviceFile;
use crate::device::{self, Bus, Units};
use crate::hybrid::{self, HybridDevices};
use crate::power;
use crate::system::params::{BusUse, SystemKind, SystemParams};
use crate::system::{
    Array, BlockByBlock, CachedSystem, ForceUnitAccess, Medium, Setup, Single, Start, Station, System, build,
};

/// A hybrid in the place of each device.
#[derive(Clone, Debug)]
pub struct HybridFile {
    /// The kind of hybrid, with its parameters.
    pub choice: hybrid::Choice,
    /// The front device.
    pub front: DeviceFile,
    /// The power policy of the front device.
    pub power: power::Choice,
}

/// All parts that a system is assembled from.
#[derive(Clone, Copy, Debug)]
pub struct SystemParts<'a> {
    /// How the devices are combined.
    pub system: &'a SystemParams,
    /// The cache in front of all devices.
    pub cache: &'a CacheParams,
    /// The hybrid in the place of each device, if any.
    pub hybrid: Option<&'a HybridFile>,
    /// The file of the devices, which are all alike.
    pub device: &'a DeviceFile,
    /// Scheduler, merging and power policy of each device.
    pub setup: Setup<'a>,
    /// Whether media keep contents, which takes memory and time.
    pub keep_contents: bool,
}

/// Assembles the system of `parts`, with no request waiting and nothing cached.
///
/// # Errors
/// Parameters out of range, or that contradict each other.
pub fn assemble(parts: SystemParts) -> Result<Box<dyn System>> {
    let SystemParts { system, cache, .. } = parts;
    let mut uncached = if system.kind == SystemKind::Single && system.devices == 1 {
        if system.bus == BusUse::Shared {
            return Err(Error::user("system.bus = \"shared\", but system.kind = \"single\" has one device")
                .with_remedy("set system.bus = \"own\", or choose a system.kind of several"));
        }
        check_failures(system)?;
        node(parts)?
    } else {
        Box::new(array(parts)?)
    };
    if parts.keep_contents && uncached.durable().is_none() {
        return Err(Error::user("this device cannot keep contents").with_remedy("choose another device"));
    }
    if cache.capacity_blocks < cache.line_blocks {
        return Err(Error::user(format!(
            "cache.capacity_blocks = {} is less than a line of {} blocks",
            cache.capacity_blocks, cache.line_blocks
        ))
        .with_remedy("make the cache larger, or cache.line_blocks smaller"));
    }
    Ok(match cache.kind {
        CacheKind::None => uncached,
        CacheKind::WriteBack => Box::new(CachedSystem::new(cache, ForceUnitAccess::wrap(uncached))?),
    })
}

/// A device, or the hybrid in its place.
fn node(parts: SystemParts) -> Result<Box<dyn System>> {
    let SystemParts { hybrid, device, setup, keep_contents, .. } = parts;
    let build = |file, setup| -> Result<Box<dyn System>> {
        let system = build(file, setup)?;
        Ok(if keep_contents { Box::new(Medium::new(system)) } else { system })
    };
    let back = build(device, setup)?;
    let Some(HybridFile { choice, front, power }) = hybrid else { return Ok(back) };
    let front = build(front, Setup { power, ..setup })?;
    let [front, back] = [front, back].map(ForceUnitAccess::wrap);
    choice.make(HybridDevices { front, back })
}

/// The devices or hybrids of `parts` as one array, each with an empty queue.
fn array(parts: SystemParts) -> Result<Array> {
    let params = parts.system;
    check(params, parts.device)?;
    let bus = Bus::default();
    let node = |index| {
        let start = if index < params.devices { parts.setup.start } else { Start::Parked };
        let parts = SystemParts { setup: Setup { start, ..parts.setup }, ..parts };
        match params.bus {
            BusUse::Own => node(parts),
            BusUse::Shared => node_on_shared_bus(&bus, parts),
        }
    };
    let nodes = (0..Array::nodes(params)).map(node).collect::<Result<Vec<_>>>()?;
    let devices_of_node = if parts.hybrid.is_some() { 2 } else { 1 };
    Array::new(params, nodes, devices_of_node, parts.keep_contents)
}

/// A device on the bus that all devices of the array share.
fn node_on_shared_bus(bus: &Bus, parts: SystemParts) -> Result<Box<dyn System>> {
    if parts.hybrid.is_some() {
        return Err(Error::user("system.bus = \"shared\" requires disks: hybrids cannot share a bus")
            .with_remedy("set system.bus = \"own\", or omit hybrid.kind"));
    }
    let device = device::build_on_bus(bus, parts.device)?;
    let system = Box::new(Single::new(Station::with_device(device, parts.setup)?));
    let system = BlockByBlock::wrap(system, parts.setup.scheduler);
    Ok(if parts.keep_contents { Box::new(Medium::new(system)) } else { system })
}

/// Checks the parameters of failures.
///
/// # Errors
/// Failures in a system that cannot survive them, numbers of devices that do not exist, and times or a rebuild rate
/// without a failure.
fn check_failures(params: &SystemParams) -> Result<()> {
    let SystemParams { kind, devices, failed, failed_at_s, rebuild_mb_s, .. } = params;
    let Some(max_failed) = failed.0.iter().max() else {
        for (key, is_set) in [("failed_at_s", !failed_at_s.is_start()), ("rebuild_mb_s", *rebuild_mb_s > 0.0)]
        {
            if is_set {
                return Err(Error::user(format!("system.{key} is set, but no device fails"))
                    .with_remedy("name the devices: system.failed"));
            }
        }
        return Ok(());
    };
    if !kind.is_redundant() {
        return Err(Error::user(format!(
            "system.failed: a system of kind \"{}\" loses its data with a device",
            kind.word()
        ))
        .with_remedy("choose system.kind = \"mirror\" or \"raid5\", or omit system.failed"));
    }
    if *max_failed as u64 >= *devices {
        return Err(Error::user(format!("system.failed: there is no device {max_failed}"))
            .with_remedy(format!("choose numbers from 0 to {}", devices - 1)));
    }
    if failed_at_s.0.len() != 1 && failed_at_s.0.len() != failed.0.len() {
        return Err(Error::user(format!(
            "system.failed_at_s has {} times for {} failures",
            failed_at_s.0.len(),
            failed.0.len()
        ))
        .with_remedy("set one time for all, or as many as in system.failed"));
    }
    Ok(())
}

/// Checks that devices of `file` can be combined according to `params`.
fn check(params: &SystemParams, file: &DeviceFile) -> Result<()> {
    let SystemParams { kind, devices, .. } = *params;
    let (word, min_devices) = (kind.word(), u64::from(kind.min_devices()));
    if devices < min_devices {
        return Err(Error::user(format!("system.devices = {devices} is too few for a {word}"))
            .with_remedy(format!("choose at least {min_devices} devices, for example system.devices = 4")));
    }
    if kind == SystemKind::Single && devices > 1 {
        return Err(Error::user(format!("system.devices = {devices}, but system.kind = \"{word}\" has one"))
            .with_remedy("choose a system.kind of several: concatenation, stripe, mirror or raid5"));
    }
    if let Some(Units { plural, remedy, .. }) = file.params.units()? {
        return Err(Error::user(format!(
            "a device of several {plural} cannot be part of a system of several devices"
        ))
        .with_remedy(remedy));
    }
    if kind.is_redundant() && file.params.device()?.faults(Time::ZERO).is_some() {
        return Err(Error::user(format!("a {word} does not recompute data lost under bad tips of a device"))
            .with_remedy(
                "omit device.bad_tips and device.failing_tips, or let entire devices fail: system.failed",
            ));
    }
    check_failures(params)
}
