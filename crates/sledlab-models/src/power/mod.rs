//! Power: the power of each state, how long each lasts, and policies that decide when an idle device parks and when a
//! parked device starts up.
//!
//! A new policy takes one file and one line in [`LIST`]. The command line, the Python API, the docs and the conformance
//! tests read that list.

mod adaptive_timeout;
mod constant_timeout;
mod delayed_spinup;
mod fixed_timeout;
mod immediate_parking;
mod ledger;
mod never_park;
mod oracle;
mod share;
mod shares;
mod total;
mod work;

pub use ledger::{Energy, Ledger, PowerState};
pub use shares::Shares;
pub use total::TotalEnergy;
pub use work::MechanicalWork;

use std::sync::Arc;

use sledlab_core::params::{NoParams, Params};
use sledlab_core::registry::{self, ConfiguredModel, Registry};
use sledlab_core::{Error, Result, Span};
use toml::{Table, Value};

use adaptive_timeout::AdaptiveTimeout;
use fixed_timeout::FixedTimeout;

/// Power of a device in each state except idle, in which the power depends on where the mechanism has stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PowerRates {
    /// The moving mechanism, without tips, in mW.
    pub active_mw: f64,
    /// One active tip that reads, in mW.
    pub tip_mw: f64,
    /// One active tip that writes, in mW.
    pub writing_tip_mw: f64,
    /// The device while it starts up, in mW.
    pub startup_mw: f64,
    /// The device while it is parked, in mW.
    pub inactive_mw: f64,
    /// Time of a start-up of the parked device.
    pub startup: Span,
}

/// Microjoules of 1 mW for a nanosecond.
const UJ: f64 = 1e-6;

impl PowerRates {
    /// Energy of `work`, to be entered for the request that it was done for.
    #[inline]
    pub fn energy(&self, work: &MechanicalWork) -> RequestEnergy {
        let access_mw_ns = self.active_mw * work.access.as_ns() as f64
            + self.tip_mw * work.tip_ns as f64
            + self.writing_extra_mw() * work.written_tip_ns as f64;
        RequestEnergy {
            seek_uj: self.active_mw * work.seek.as_ns() as f64 * UJ,
            access_uj: access_mw_ns * UJ,
            startup_uj: 0.0,
        }
    }

    /// Power of a writing tip above that of a reading tip, in mW.
    pub fn writing_extra_mw(&self) -> f64 {
        self.writing_tip_mw - self.tip_mw
    }

    /// Energy of a start-up, in microjoules.
    pub fn startup_uj(&self) -> f64 {
        self.startup_mw * self.startup.as_ns() as f64 * UJ
    }
}

/// Energy spent on one request, in microjoules. The energy of a device without requests, idle or parked, counts for no
/// request. A [`TotalEnergy`] adds up the energy of all requests of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestEnergy {
    /// Moving without tips.
    pub seek_uj: f64,
    /// Mechanism and tips while reading or writing.
    pub access_uj: f64,
    /// The start-up, for the first request that waited for it.
    pub startup_uj: f64,
}

impl RequestEnergy {
    /// The sum of all parts.
    pub fn total_uj(&self) -> f64 {
        self.seek_uj + self.access_uj + self.startup_uj
    }

    /// The given share of every part.
    #[must_use]
    pub fn scale(&self, share: f64) -> RequestEnergy {
        RequestEnergy {
            seek_uj: self.seek_uj * share,
            access_uj: self.access_uj * share,
            startup_uj: self.startup_uj * share,
        }
    }
}

impl std::ops::AddAssign for RequestEnergy {
    fn add_assign(&mut self, other: RequestEnergy) {
        self.seek_uj += other.seek_uj;
        self.access_uj += other.access_uj;
        self.startup_uj += other.startup_uj;
    }
}

/// The costs that a power policy compares: power while idle, power while parked, and energy of a start-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerCosts {
    /// Power of the idle device where the mechanism has stopped, in mW.
    pub idle_mw: f64,
    /// The device while it is parked, in mW.
    pub inactive_mw: f64,
    /// Energy of a start-up, in microjoules.
    pub startup_uj: f64,
}

impl PowerCosts {
    /// The length of an idle period from which parking at its beginning saves energy; [`Span::MAX`] if it never
    /// does.
    pub fn break_even(&self) -> Span {
        let saved_mw = self.idle_mw - self.inactive_mw;
        if saved_mw <= 0.0 {
            return Span::MAX;
        }
        Span::from_seconds(self.startup_uj / saved_mw * 1e-3)
    }
}

/// Decides when an idle device parks and when a parked one starts up.
///
/// By default a policy learns nothing, starts a parked device at once and never fails. A wrapper must forward every
/// method: it denies `clippy::missing_trait_methods`.
pub trait PowerPolicy: Send {
    /// Returns how long a device without requests stays idle before it parks; [`Span::MAX`] for ever.
    ///
    /// Called once for each idle period, at its end. A queue that is refilled at the time at which it becomes empty
    /// causes an idle period of length zero, for which [`learn`](PowerPolicy::learn) is not called.
    fn timeout(&mut self, costs: &PowerCosts) -> Span;

    /// Returns the timeout of an idle period that has lasted `length`; `is_last` if no request ended it but the end of
    /// the run, so that no start-up follows. Only an oracle uses these facts; other policies return the same as
    /// [`timeout`](PowerPolicy::timeout).
    fn timeout_in_hindsight(&mut self, _length: Span, _is_last: bool, costs: &PowerCosts) -> Span {
        self.timeout(costs)
    }

    /// Informs the policy of the end of an idle period of `length`, in which the device parks after `timeout`.
    fn learn(&mut self, _length: Span, _timeout: Span, _costs: &PowerCosts) {}

    /// Returns how long `waiting` requests of a parked device wait for its start-up, from the arrival of the first
    /// request.
    fn patience(&mut self, _waiting: usize) -> Span {
        Span::ZERO
    }

    /// Returns the error that stopped the policy, if there is one: the run ends with this error.
    fn failure(&mut self) -> Option<Error> {
        None
    }
}

/// A kind of policy; each file of this folder implements one.
pub trait Model: Sized {
    /// The parameters, declared with [`sledlab_core::params!`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// One-line description for help texts and docs.
    const MEANING: &'static str;

    /// The policy at the beginning of a run.
    fn make(params: &Self::Params) -> Box<dyn PowerPolicy>;
}

/// Makes a policy from a table of parameters.
pub type Make = fn(&Table) -> Result<Box<dyn PowerPolicy>>;

/// A policy in the list.
pub type Entry = registry::Entry<Make>;

const fn entry<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: &[],
        meaning: registry::one_line(M::MEANING),
        facts: (),
        specs: M::Params::specs,
        resolve: registry::resolve::<M::Params>,
        make: |table| Ok(M::make(&M::Params::from_table(PATH, table)?)),
    }
}

/// Every policy.
pub static LIST: Registry<Make> = Registry {
    noun: "power policy",
    path: PATH,
    example: "fixed:timeout_ms=10",
    extra_words: &[],
    entries: &[
        entry::<never_park::NeverPark>(),
        entry::<FixedTimeout>(),
        entry::<immediate_parking::ImmediateParking>(),
        entry::<share::Share>(),
        entry::<adaptive_timeout::AdaptiveTimeout>(),
        entry::<oracle::Oracle>(),
        entry::<delayed_spinup::DelayedSpinup>(),
    ],
};

/// The name of the configuration table, for messages.
const PATH: &str = "power";

/// Makes a policy at the beginning of a run.
type PolicyConstructor = dyn Fn() -> Result<Box<dyn PowerPolicy>> + Send + Sync;

/// A policy with all its parameters.
#[derive(Clone)]
pub struct Choice {
    name: String,
    params: Table,
    make: Arc<PolicyConstructor>,
}

impl Choice {
    /// The policy called `name`, with `params` in place of its defaults. The timeout of `fixed` is the device's own
    /// (`device_timeout_ms`) unless `params` state one.
    ///
    /// # Errors
    /// Unknown names and keys, and values out of range.
    pub fn new(name: &str, params: &Table, device_timeout_ms: f64) -> Result<Self> {
        let mut params = params.clone();
        if name.eq_ignore_ascii_case(FixedTimeout::NAME) {
            params.entry("timeout_ms").or_insert(Value::from(device_timeout_ms));
        }
        let ConfiguredModel { entry, params } = LIST.choose(name, &params)?;
        let entry_params = params.clone();
        Ok(Choice {
            name: entry.name.to_owned(),
            params,
            make: Arc::new(move || (entry.make)(&entry_params)),
        })
    }

    /// A plug-in: a policy that is not in [`LIST`].
    pub fn custom(
        name: &str,
        params: Table,
        make: impl Fn() -> Result<Box<dyn PowerPolicy>> + Send + Sync + 'static,
    ) -> Self {
        Choice { name: name.to_owned(), params, make: Arc::new(make) }
    }

    /// Whether decisions depend on all idle periods before them; true for a plug-in, which may do that.
    pub fn adapts(&self) -> bool {
        self.name == AdaptiveTimeout::NAME || LIST.iter().all(|entry| entry.name != self.name)
    }

    /// The policy of a device without another choice: it parks after its `device_timeout_ms`.
    ///
    /// # Errors
    /// A timeout out of range.
    pub fn from_device_timeout(device_timeout_ms: f64) -> Result<Self> {
        Choice::new(FixedTimeout::NAME, &Table::new(), device_timeout_ms)
    }

    /// A policy from `name:key=value:key=value`, with further `params`.
    ///
    /// # Errors
    /// As of [`new`](Choice::new), and a word that is not of that form.
    pub fn parse(word: &str, params: Table, device_timeout_ms: f64) -> Result<Self> {
        let (name, mut table) = LIST.parse(word)?;
        table.extend(params);
        Choice::new(&name, &table, device_timeout_ms)
    }

    /// The policy at the beginning of a run.
    ///
    /// # Errors
    /// Errors of a plug-in; a listed policy has none after [`new`](Choice::new).
    pub fn make(&self) -> Result<Box<dyn PowerPolicy>> {
        (self.make)()
    }

    /// The configuration table with all parameters.
    pub fn to_table(&self) -> Table {
        registry::table(&self.name, &self.params)
    }
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}", self.to_table())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sled: idle at 150 mW, parked at 50 mW, started for 50 uJ: parking pays after 0.5 ms.
    pub(super) const SLED: PowerCosts = PowerCosts { idle_mw: 150.0, inactive_mw: 50.0, startup_uj: 50.0 };

    pub(super) fn policy(word: &str) -> Box<dyn PowerPolicy> {
        Choice::parse(word, Table::new(), 7.0).unwrap().make().unwrap()
    }

    /// The timeout that a policy chooses in each of these idle periods.
    pub(super) fn timeouts_ms(
        policy: &mut dyn PowerPolicy,
        idle_periods_ms: &[f64],
        costs: &PowerCosts,
    ) -> Vec<f64> {
        let mut timeout_ms = |ms: &f64| {
            let length = Span::from_ms(*ms);
            let timeout = policy.timeout_in_hindsight(length, false, costs);
            policy.learn(length, timeout, costs);
            timeout.as_ms()
        };
        idle_periods_ms.iter().map(&mut timeout_ms).collect()
    }

    #[test]
    fn parking_pays_after_the_break_even_time() {
        assert_eq!(SLED.break_even(), Span::from_ms(0.5));
        assert_eq!(PowerCosts { idle_mw: 50.0, ..SLED }.break_even(), Span::MAX);
    }

    #[test]
    fn fixed_uses_the_timeout_of_the_device_by_default() {
        let timeout_ms = |word| policy(word).timeout(&SLED).as_ms();
        assert!((timeout_ms("fixed") - 7.0).abs() < 1e-9);
        assert!((timeout_ms("fixed:timeout_ms=40") - 40.0).abs() < 1e-9);
        assert_eq!(policy("immediate").timeout(&SLED), Span::ZERO);
        assert_eq!(policy("never").timeout(&SLED), Span::MAX);
    }

    #[test]
    fn invalid_policies_are_errors() {
        let message = |word| Choice::parse(word, Table::new(), 1.0).unwrap_err().to_string();
        assert!(message("fixd").contains("did you mean `fixed`?"));
        assert!(message("fixed:timeout=1").contains("did you mean `power.timeout_ms`?"));
        assert!(message("share:experts=0").contains("out of range"));
        assert!(message("never:x=1").contains("power.x"));
    }
}
