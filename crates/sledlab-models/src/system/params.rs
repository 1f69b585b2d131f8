//! Parameters of the system around the devices in an experiment.

use sledlab_core::params::{ParamSpec, ParamValue, Params};
use sledlab_core::{Result, choices, registry};
use toml::Table;

pub use super::failed_devices::{FailedDevices, FailureTimes};

choices! {
    /// How the devices are combined.
    pub enum SystemKind {
        /// One device.
        Single = "single",
        /// One device after the other in one address space.
        Concatenation = "concatenation",
        /// Units of consecutive blocks on each device in turn.
        Stripe = "stripe",
        /// The same blocks on every device.
        Mirror = "mirror",
        /// Units on each device in turn, and the parity of a stripe on one of them, on another one for every stripe.
        Raid5 = "raid5",
    }
}

choices! {
    /// Devices that share a bus.
    pub enum BusUse {
        /// Each device has a separate bus.
        Own = "own",
        /// All devices of the system share one bus, which one of them uses at a time.
        Shared = "shared",
    }
}

choices! {
    /// The state of the devices at the start of a run.
    pub enum Start {
        /// Started up and idle.
        Ready = "ready",
        /// Parked: the first request waits for the start-up of its device.
        Parked = "parked",
    }
}

impl SystemKind {
    /// The word of this kind in configurations.
    pub fn word(self) -> String {
        self.to_value().as_str().unwrap_or_default().to_owned()
    }

    /// Whether the data survive the failure of one device.
    pub fn is_redundant(self) -> bool {
        matches!(self, SystemKind::Mirror | SystemKind::Raid5)
    }

    /// Fewest devices of a system of this kind.
    pub fn min_devices(self) -> u32 {
        match self {
            SystemKind::Single => 1,
            SystemKind::Concatenation | SystemKind::Stripe | SystemKind::Mirror => 2,
            SystemKind::Raid5 => 3,
        }
    }
}

impl registry::KindWord for SystemKind {
    fn meaning(self) -> &'static str {
        registry::one_line(match self {
            SystemKind::Single => "one device",
            SystemKind::Concatenation => "one device after the other in one address space",
            SystemKind::Stripe => "units of consecutive blocks on each device in turn",
            SystemKind::Mirror => "the same blocks on every device: writes go to all, a read to the nearest",
            SystemKind::Raid5 => {
                "units on each device in turn, with their parity on another device for every stripe"
            }
        })
    }

    fn uses_parameter(self, key: &str) -> bool {
        match key {
            "devices" | "bus" => self != SystemKind::Single,
            "failed" | "failed_at_s" | "rebuild_mb_s" => self.is_redundant(),
            "start" => true,
            "unit_blocks" => matches!(self, SystemKind::Stripe | SystemKind::Mirror | SystemKind::Raid5),
            _ => false,
        }
    }

    fn limit_parameter(self, spec: ParamSpec) -> ParamSpec {
        if spec.name != "devices" {
            return spec;
        }
        let fewest = self.min_devices();
        let range = spec.range.map(|(_, most)| (f64::from(fewest), most));
        ParamSpec { range, default: u64::from(fewest).to_value(), ..spec }
    }
}

impl SystemParams {
    /// Reads the table `[system]` of an experiment; an array without `devices` has the fewest of its kind.
    ///
    /// # Errors
    /// As of [`from_table`](Params::from_table).
    pub fn from_experiment(table: &Table) -> Result<Self> {
        let params = Self::from_table("system", table)?;
        let devices =
            if table.contains_key("devices") { params.devices } else { params.kind.min_devices().into() };
        Ok(SystemParams { devices, ..params })
    }
}

sledlab_core::params! {
    /// The storage system that the host accesses: one device, or several equal devices combined.
    pub struct SystemParams {
        /// How devices are combined: one, one after another, striped, mirrored, or striped with parity.
        kind: SystemKind = SystemKind::Single;
        /// Number of devices, each with its own queue, scheduler and power policy.
        devices: u64 = 1_u64, "", 1..1000;
        /// Consecutive blocks on one device (`stripe`, `raid5`); blocks that a `mirror` rebuilds at a time.
        unit_blocks: u64 = 128_u64, "blocks", 1..1e9;
        /// Bus of the devices: each its `own`, or one `shared` by disks, one command or transfer at a time.
        bus: BusUse = BusUse::Own;
        /// Devices that fail, of `mirror` and `raid5`: none, a number from 0 or a list of numbers.
        failed: FailedDevices = FailedDevices::default();
        /// Times at which the `failed` devices fail, in s, one for all or a list; 0 is before the run.
        failed_at_s: FailureTimes = FailureTimes::default(), "s";
        /// Rate at which a spare is rebuilt, in 10^6 bytes per second; 0 rebuilds nothing.
        rebuild_mb_s: f64 = 0.0, "MB/s", 0.0..1e6;
        /// State of devices at the start: `ready`, or `parked`, so that the first request waits for a start-up.
        start: Start = Start::Ready;
    }
}
