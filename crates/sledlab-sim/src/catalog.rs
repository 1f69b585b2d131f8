//! All names that an experiment may use, for help texts, the Python API and the documentation.

use serde_json::{Map, Value, json};
use sledlab_core::Result;
use sledlab_core::params::{ParamSpec, Params};
use sledlab_core::registry;
use sledlab_models::cache::{self, CacheParams};
use sledlab_models::device::{self, preset};
use sledlab_models::merge::{MergeKind, MergeParams};
use sledlab_models::network::{self, preset as networks};
use sledlab_models::node::{Node, NodeParams, preset as nodes};
use sledlab_models::scheduler::{self, Starvation};
use sledlab_models::system::{self, SystemParams};
use sledlab_models::{hybrid, power, replacement};
use sledlab_trace::{format, synthetic};

use crate::cluster::ClusterParams;
use crate::experiment::TraceParams;
use crate::replay::ReplayParams;

/// Returns devices, schedulers, power policies, workloads, trace formats, systems, caches, merging and replay options,
/// each with its parameters.
///
/// # Errors
/// Only if a built-in preset is invalid, which is a defect.
pub fn catalog() -> Result<Value> {
    let devices = preset::names().map(device).collect::<Result<Vec<_>>>()?;
    let schedulers: Vec<Value> = scheduler::LIST.iter().map(scheduler).collect();
    let formats: Vec<Value> = format::LIST.iter().map(|f| entry(f.name(), f.description(), &[])).collect();
    Ok(json!({
        "devices": devices,
        "device_kinds": device::LIST.iter().map(device_kind).collect::<Vec<_>>(),
        "schedulers": schedulers,
        "power_policies": power::LIST.list(),
        "replacement_policies": replacement::LIST.list(),
        "hybrids": hybrid::LIST.list(),
        "workloads": synthetic::LIST.list(),
        "trace_formats": formats,
        "nodes": nodes::names().map(node).collect::<Result<Vec<_>>>()?,
        "networks": networks::names().map(network).collect::<Result<Vec<_>>>()?,
        "network_kinds": network::LIST.list(),
        "systems": registry::kinds::<system::params::SystemKind, SystemParams>(),
        "caches": registry::kinds::<cache::CacheKind, CacheParams>(),
        "merges": registry::kinds::<MergeKind, MergeParams>(),
        "merge": entry("merge", "which queued requests are served as one", &MergeParams::specs()),
        "system": entry("system", "how devices are combined", &SystemParams::specs()),
        "cache": entry("cache", "the cache in front of the system", &CacheParams::specs()),
        "trace": entry("trace", "which trace is replayed", &TraceParams::specs()),
        "replay": entry("replay", "how requests are offered", &ReplayParams::specs()),
        "cluster": entry("cluster", "how a work record is replayed", &ClusterParams::specs()),
    }))
}

fn device(name: &str) -> Result<Value> {
    let table = parse_preset(name, preset::text(name)?)?;
    Ok(json!({ "name": name, "meaning": preset::from_table(&table)?.description }))
}

/// Returns a kind of device, with its meaning and parameters.
fn device_kind(entry: &device::Entry) -> Value {
    let mut value = json!(entry.to_catalog_line());
    let device::Facts { states, positioning, .. } = entry.facts;
    let descriptions = |parts: &[(&str, &str)]| -> Value {
        parts.iter().map(|(word, text)| ((*word).to_owned(), json!(text))).collect::<Map<_, _>>().into()
    };
    value["active_text"] = json!(states.active);
    value["inactive_parameter"] = json!(states.inactive_parameter);
    value["inactive_texts"] = descriptions(states.inactive);
    value["combined"] = json!(positioning.meaning);
    value["parts"] = descriptions(positioning.parts);
    value
}

/// Returns the parameters of a preset, with the values of the preset as defaults.
fn preset_entry(name: &str, meaning: &str, specs: Vec<ParamSpec>, table: &toml::Table) -> Value {
    let with_preset_value = |mut spec: ParamSpec| {
        if let Some(value) = table.get(spec.name) {
            spec.default = value.clone();
        }
        spec
    };
    let parameters: Vec<ParamSpec> = specs.into_iter().map(with_preset_value).collect();
    json!({ "name": name, "meaning": meaning, "parameters": parameters })
}

fn parse_preset(name: &str, text: &str) -> Result<toml::Table> {
    text.parse().map_err(|error| sledlab_core::Error::internal(format!("preset {name}: {error}")))
}

fn node(name: &str) -> Result<Value> {
    let node = Node::from_table(&parse_preset(name, nodes::text(name)?)?)?;
    let mut value = preset_entry(name, &node.description, NodeParams::specs(), &node.to_table());
    let kinds = node
        .kinds()
        .map(|(kind, cycles, is_network)| json!({ "kind": kind, "cycles": cycles, "network": is_network }));
    value["operations"] = Value::Array(kinds.collect());
    Ok(value)
}

fn network(name: &str) -> Result<Value> {
    let file = networks::from_table(&parse_preset(name, networks::text(name)?)?)?;
    let mut value = preset_entry(name, &file.description, (file.choice.entry().specs)(), &file.to_table());
    value["kind"] = json!(file.choice.entry().name);
    Ok(value)
}

fn scheduler(entry: &scheduler::Entry) -> Value {
    let mut value = json!(entry.to_catalog_line());
    value["aliases"] = json!(entry.aliases);
    value["compared_by_default"] = json!(entry.facts.compared_by_default);
    value["starvation_free"] = json!(matches!(entry.facts.starvation, Starvation::Bounded { .. }));
    value
}

fn entry(name: &str, meaning: &str, specs: &[ParamSpec]) -> Value {
    json!({ "name": name, "meaning": meaning, "parameters": specs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_unique_names_and_short_lines() {
        let catalog = catalog().unwrap();
        for (list, entries) in catalog.as_object().unwrap() {
            let entries = entries.as_array().map(Vec::as_slice).unwrap_or_default();
            let names: Vec<&str> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
            for (index, name) in names.iter().enumerate() {
                assert!(!names[..index].contains(name), "{list}: {name} twice");
                // Descriptions of presets and trace formats may be longer.
                let length = entries[index]["meaning"].as_str().unwrap().len();
                let may_be_long = ["devices", "trace_formats", "networks", "nodes"].contains(&list.as_str());
                assert!(may_be_long || (1..=100).contains(&length), "{list}: {name} has {length} characters");
            }
        }
    }

    #[test]
    fn kinds_list_parameters_they_use() {
        let catalog = catalog().unwrap();
        let keys = |list: &str, name: &str| -> Vec<String> {
            let entry = catalog[list].as_array().unwrap().iter().find(|entry| entry["name"] == name);
            let parameters = entry.unwrap()["parameters"].as_array().unwrap();
            parameters.iter().map(|spec| spec["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(keys("systems", "single"), ["start"]);
        assert_eq!(keys("systems", "stripe"), ["devices", "unit_blocks", "bus", "start"]);
        let all = ["devices", "unit_blocks", "bus", "failed", "failed_at_s", "rebuild_mb_s", "start"];
        for redundant in ["mirror", "raid5"] {
            assert_eq!(keys("systems", redundant), all);
        }
        assert!(keys("caches", "none").is_empty());
        assert_eq!(keys("caches", "write-back")[0], "capacity_blocks");
        assert_eq!(keys("merges", "pairs"), ["among", "operations", "rows"]);
    }
}
