//! The system that stores the blocks in an experiment: devices, hybrid, array, cache, and their schedulers and
//! policies.

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use sledlab_models::assembly::{HybridFile, SystemParts, assemble};
use sledlab_models::cache::{self, CacheParams};
use sledlab_models::device::preset::DeviceFile;
use sledlab_models::merge::MergeParams;
use sledlab_models::system::params::SystemKind;
use sledlab_models::system::{self, Setup, System, SystemParams};
use sledlab_models::{power, scheduler};
use toml::{Table, Value};

/// The complete description of a system, from which any number of equal systems can be constructed.
#[derive(Clone, Debug)]
pub struct SystemSetup {
    pub(super) device: DeviceFile,
    pub(super) system: SystemParams,
    pub(super) cache: CacheParams,
    pub(super) hybrid: Option<HybridFile>,
    pub(super) scheduler: scheduler::Choice,
    pub(super) power: power::Choice,
    pub(super) merge: MergeParams,
}

impl SystemSetup {
    /// Returns a new system with an empty queue and empty caches.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub fn build(&self) -> Result<Box<dyn System>> {
        self.build_with_scheduler(&self.scheduler)
    }

    /// Returns a new system whose media store contents, so that a power failure can be simulated.
    ///
    /// # Errors
    /// Parameters that contradict each other, and a system whose power failure would leave data that the host never
    /// wrote.
    pub(super) fn build_with_contents(&self) -> Result<Box<dyn System>> {
        if self.system.kind == SystemKind::Raid5 && !self.system.failed.0.is_empty() {
            return Err(Error::user(
                "a raid5 with a failed device cannot have power failures: blocks without a write in flight would be \
                 corrupted (the write hole)",
            )
            .with_remedy("omit system.failed, or choose system.kind = \"mirror\""));
        }
        assemble(SystemParts { keep_contents: true, ..self.parts(&self.scheduler) })
    }

    /// Returns the number of devices, or of independently moving units of one device, without spares.
    ///
    /// # Errors
    /// Parameters of the device that contradict each other.
    pub(crate) fn device_count(&self) -> Result<u64> {
        let units = self.device.params.units()?.map_or(1, |units| units.count as u64);
        Ok(self.system.devices * units)
    }

    /// Returns a single device of the system, or the hybrid in its place.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub(crate) fn build_single_device(&self) -> Result<Box<dyn System>> {
        let setup = self.setup();
        let Some(units) = self.device.params.units()? else {
            let (system, cache) = (SystemParams::default(), CacheParams::default());
            let hybrid = self.hybrid.as_ref();
            let parts = SystemParts {
                system: &system,
                cache: &cache,
                hybrid,
                device: &self.device,
                setup,
                keep_contents: false,
            };
            return assemble(parts);
        };
        system::build(&DeviceFile { params: units.unit, ..self.device.clone() }, setup)
    }

    fn setup(&self) -> Setup<'_> {
        Setup { scheduler: &self.scheduler, power: &self.power, merge: &self.merge, start: self.system.start }
    }

    /// Returns whether the time of a request depends on all earlier requests: because of the contents of a cache or a
    /// front device, or an adaptive power policy.
    pub(crate) fn remembers_accesses(&self) -> bool {
        self.cache.kind != cache::CacheKind::None || self.hybrid.is_some() || self.power.adapts()
    }

    /// Returns whether the time of a request depends on all earlier writes.
    pub(crate) fn remembers_writes(&self) -> bool {
        self.remembers_accesses() || self.device.params.remembers_writes()
    }

    /// Returns whether the system has several numbered devices.
    pub(super) fn has_several_devices(&self) -> bool {
        self.system.devices > 1 || self.hybrid.is_some()
    }

    /// Returns the same system with another scheduler: for example one that measures its decisions.
    pub(super) fn build_with_scheduler(&self, scheduler: &scheduler::Choice) -> Result<Box<dyn System>> {
        assemble(self.parts(scheduler))
    }

    fn parts<'a>(&'a self, scheduler: &'a scheduler::Choice) -> SystemParts<'a> {
        SystemParts {
            system: &self.system,
            cache: &self.cache,
            hybrid: self.hybrid.as_ref(),
            device: &self.device,
            setup: Setup { scheduler, ..self.setup() },
            keep_contents: false,
        }
    }

    /// Returns whether writes complete before they are durable, so that only a flush makes them durable.
    pub(super) fn is_volatile(&self) -> bool {
        self.cache.kind == cache::CacheKind::WriteBack && self.cache.volatile
    }

    /// Returns every table with every key; `text` has the keys that were set for the power policy.
    pub(crate) fn to_table(&self, power_settings: &Table) -> Table {
        let mut power = self.power.to_table();
        let mut storage_tables = vec![("system", self.system.to_table()), ("cache", self.cache.to_table())];
        if let Some(hybrid) = &self.hybrid {
            // If the two devices of a hybrid have different timeouts, the table contains only a configured timeout.
            if hybrid.power.to_table() != power {
                power.retain(|key, _| key == "kind" || power_settings.contains_key(key));
            }
            storage_tables.extend([("hybrid", hybrid.choice.to_table()), ("front", hybrid.front.to_table())]);
        }
        storage_tables.push(("device", self.device.to_table()));
        let device_tables =
            [("scheduler", self.scheduler.to_table()), ("power", power), ("merge", self.merge.to_table())];
        let tables = device_tables.into_iter().chain(storage_tables);
        tables.map(|(name, table)| (name.to_owned(), Value::Table(table))).collect()
    }
}
