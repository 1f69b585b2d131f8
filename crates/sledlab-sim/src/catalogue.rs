//! Everything that can be named in an experiment, for help texts, the Python API and the docs.

use serde_json::{Value, json};
use sledlab_core::Result;
use sledlab_core::params::{ParamSpec, Params};
use sledlab_models::cache::CacheParams;
use sledlab_models::device::preset;
use sledlab_models::merge::MergeParams;
use sledlab_models::system::SystemParams;
use sledlab_models::{hybrid, power, replacement, scheduler};
use sledlab_trace::{format, synthetic};

use crate::replay::ReplayParams;

/// Devices, schedulers, power policies, workloads, trace formats and replay options, each with its parameters.
///
/// # Errors
/// Only if a preset that comes with sledlab is broken, which is a defect.
pub fn catalogue() -> Result<Value> {
    let devices = preset::names().map(device).collect::<Result<Vec<_>>>()?;
    let kinds: Vec<Value> =
        preset::kinds().into_iter().map(|(name, specs)| entry(name, "", &specs)).collect();
    let schedulers: Vec<Value> = scheduler::LIST.iter().map(scheduler).collect();
    let policies: Vec<Value> = power::LIST.iter().map(|e| entry(e.name, e.meaning, &(e.specs)())).collect();
    let replacement: Vec<Value> =
        replacement::LIST.iter().map(|e| entry(e.name, e.meaning, &(e.specs)())).collect();
    let hybrids: Vec<Value> = hybrid::LIST.iter().map(|e| entry(e.name, e.meaning, &(e.specs)())).collect();
    let workloads: Vec<Value> =
        synthetic::LIST.iter().map(|e| entry(e.name, e.meaning, &(e.specs)())).collect();
    let formats: Vec<Value> = format::LIST.iter().map(|f| entry(f.name(), f.about(), &[])).collect();
    Ok(json!({
        "devices": devices,
        "device_kinds": kinds,
        "schedulers": schedulers,
        "power_policies": policies,
        "replacement_policies": replacement,
        "hybrids": hybrids,
        "workloads": workloads,
        "trace_formats": formats,
        "merge": entry("merge", "which queued requests are served as one", &MergeParams::specs()),
        "system": entry("system", "how devices are put together", &SystemParams::specs()),
        "cache": entry("cache", "what is kept in front of the system", &CacheParams::specs()),
        "replay": entry("replay", "how requests are offered", &ReplayParams::specs()),
    }))
}

fn device(name: &str) -> Result<Value> {
    let table = preset::text(name)?
        .parse()
        .map_err(|error| sledlab_core::Error::internal(format!("preset {name}: {error}")))?;
    Ok(json!({ "name": name, "meaning": preset::from_table(&table)?.description }))
}

fn scheduler(e: &scheduler::Entry) -> Value {
    let mut value = entry(e.name, e.meaning, &e.specs());
    value["aliases"] = json!(e.aliases);
    value["in_race"] = json!(e.in_race);
    value["starvation_free"] = json!(e.starvation_free);
    value
}

fn entry(name: &str, meaning: &str, specs: &[ParamSpec]) -> Value {
    json!({ "name": name, "meaning": meaning, "parameters": specs })
}
