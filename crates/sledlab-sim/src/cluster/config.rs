//! The experiment of a work record replay: the nodes, their stores and the network between them, as read from a TOML
//! file.

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use sledlab_models::network::preset::{self as networks, NetworkFile};
use sledlab_models::node::{Node, preset as nodes};
use sledlab_trace::work::Work;
use toml::{Table, Value};

use super::params::{ClusterParams, JobPlacement};
use crate::experiment::keys::CLUSTER_TABLES;
use crate::experiment::{Experiment, SystemSetup, file_names, keys};

/// Tables that are invalid in an experiment that replays a work record.
const FOREIGN_TABLES: [&str; 3] = ["trace", "workload", "replay"];

/// An experiment under construction: the tables and keys that were set so far.
#[derive(Clone, Debug, Default)]
pub struct ClusterExperiment {
    /// The store of nodes without a group.
    store: Experiment,
    cluster_tables: Table,
}

/// A kind of node with its store.
#[derive(Clone, Debug)]
pub(super) struct NodeKind {
    pub node: Node,
    pub store: SystemSetup,
}

/// A validated experiment with all defaults filled in.
#[derive(Clone, Debug)]
pub(super) struct ResolvedExperiment {
    pub seed: u64,
    /// The kinds of node, starting with nodes without a group, and the kind of each node.
    pub kinds: Vec<NodeKind>,
    pub kind_indices: Vec<usize>,
    pub host: Node,
    pub network: NetworkFile,
    pub params: ClusterParams,
    /// Failing nodes, each with the number of phases after which the node is switched off.
    pub phases_before_failure: Vec<(usize, usize)>,
}

impl ResolvedExperiment {
    /// Returns the number of phases after which `node` is switched off, if the node fails.
    pub fn phases_before_failure(&self, node: usize) -> Option<usize> {
        let failure = self.phases_before_failure.iter().find(|(failed, _)| *failed == node);
        failure.map(|(_, phases)| *phases)
    }

    /// Returns the size of a page of each node.
    pub fn page_bytes_of_nodes(&self) -> Vec<u64> {
        self.kind_indices.iter().map(|kind| self.kinds[*kind].node.page_bytes()).collect()
    }
}

impl ClusterExperiment {
    /// Returns an experiment without keys; it needs at least a device.
    pub fn new() -> Self {
        ClusterExperiment::default()
    }

    /// Reads an experiment file. File names in it are resolved by [`resolve_file_name`](crate::resolve_file_name).
    ///
    /// # Errors
    /// Text that is not TOML, with its location; unknown tables.
    pub fn from_toml(name: &str, text: &str) -> Result<Self> {
        let mut table = keys::parse(name, text)?;
        file_names::resolve_file_names(&mut table, name);
        let (cluster_tables, store): (Table, Table) =
            table.into_iter().partition(|(key, _)| CLUSTER_TABLES.contains(&key.as_str()));
        refuse_foreign(&store)?;
        store.keys().filter(|key| *key != "seed").try_for_each(|key| refuse_unknown(key))?;
        Ok(ClusterExperiment { store: Experiment::from_table(store)?, cluster_tables })
    }

    /// Sets one key, such as `node.mhz` or `device.active_tips`, to a TOML value or a bare word.
    ///
    /// # Errors
    /// A key that is not of the form `table.key`, or an unknown table.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key.split_once('.') {
            Some((table, _)) if FOREIGN_TABLES.contains(&table) => {
                refuse_foreign(&[(table.to_owned(), Value::from(0))].into_iter().collect())
            }
            Some(("group", _)) => Err(Error::user("groups are set in a file")
                .with_remedy("write a table [[group]] in an experiment file")),
            Some((table, key)) if CLUSTER_TABLES.contains(&table) => {
                let mut new_table = preset_or_table(&self.cluster_tables, table)?;
                let value = keys::read_value(value);
                match key.split_once('.') {
                    None => new_table.insert(key.to_owned(), value),
                    Some((inner_name, key)) => {
                        let mut inner_table = keys::table(&new_table, inner_name)?;
                        inner_table.insert(key.to_owned(), value);
                        new_table.insert(inner_name.to_owned(), Value::Table(inner_table))
                    }
                };
                self.cluster_tables.insert(table.to_owned(), Value::Table(new_table));
                Ok(())
            }
            Some((table, _)) => refuse_unknown(table).and_then(|()| self.store.set(key, value)),
            None => self.store.set(key, value),
        }
    }

    /// Returns the keys that were set, without defaults and without the contents of presets.
    pub fn explicit_settings(&self) -> Table {
        self.cluster_tables
            .iter()
            .chain(self.store.explicit_settings())
            .map(|(name, table)| (name.clone(), table.clone()))
            .collect()
    }

    /// Returns the store of nodes without a group as an experiment.
    pub fn store(&mut self) -> &mut Experiment {
        &mut self.store
    }

    /// Returns the store of nodes without a group and that of each group, without defaults.
    ///
    /// # Errors
    /// A `group` that is not a list of tables.
    pub fn stores(&self) -> Result<Vec<Experiment>> {
        let groups = self.groups()?;
        let group_stores = groups.iter().map(|group| {
            let mut settings = self.store.explicit_settings().clone();
            settings.extend(
                group
                    .iter()
                    .filter(|(key, _)| refuse_unknown(key).is_ok())
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
            settings.retain(|key, _| CLUSTER_TABLES.iter().all(|cluster_table| *cluster_table != key));
            Experiment::from_table(settings)
        });
        std::iter::once(Ok(self.store.clone())).chain(group_stores).collect()
    }

    /// Reads nodes (`node`), the host (`host`) or the network (`network`) from a preset or a file.
    pub fn set_preset(&mut self, table: &str, name_or_path: &str) {
        let preset = ("preset".to_owned(), Value::from(name_or_path));
        self.cluster_tables.insert(table.to_owned(), Value::Table(std::iter::once(preset).collect()));
    }

    /// Returns the file name of the work record, if the experiment has one.
    ///
    /// # Errors
    /// A name that is not text.
    pub fn work_file(&self) -> Result<Option<String>> {
        keys::take_text(&mut keys::table(&self.cluster_tables, "work")?, "work", "file")
    }

    /// Sets the file name of the work record.
    pub fn set_work_file(&mut self, file: &str) {
        let file = ("file".to_owned(), Value::from(file));
        self.cluster_tables.insert("work".to_owned(), Value::Table(std::iter::once(file).collect()));
    }

    /// Returns the complete experiment for a record, with all defaults filled in: sufficient to repeat the replay.
    ///
    /// # Errors
    /// Settings that are invalid, alone or for the record.
    pub fn to_toml(&self, work: &Work) -> Result<String> {
        let table = self.complete_table(&self.resolve(work)?)?;
        toml::to_string(&table)
            .map_err(|error| Error::internal(format!("cannot write the experiment: {error}")))
    }

    pub(super) fn resolve(&self, work: &Work) -> Result<ResolvedExperiment> {
        let node = node("node", &preset_or_table(&self.cluster_tables, "node")?, None)?;
        let host = self
            .cluster_tables
            .get("host")
            .map(|_| preset_or_table(&self.cluster_tables, "host"))
            .transpose()?;
        let host = host.map_or_else(|| Ok(node.clone()), |table| self::node("host", &table, None))?;
        let params = ClusterParams::from_table("cluster", &keys::table(&self.cluster_tables, "cluster")?)?;
        params.check(work.nodes)?;
        let mut kind_indices = vec![0; work.nodes];
        let mut group_kinds = Vec::new();
        for group in self.groups()? {
            group_kinds.push(self.kind(&group, &node, params.ready)?);
            for member in members(&group, work)? {
                if kind_indices[member] != 0 {
                    return Err(Error::user(format!("node {member} is in two groups of the experiment"))
                        .with_remedy("name each node in one [[group]]"));
                }
                kind_indices[member] = group_kinds.len();
            }
        }
        // If all nodes are in groups, the experiment need not name a device for other nodes: node and store of the
        // first group replace them.
        let base = match group_kinds.first() {
            Some(first) if !self.store.has_device() && !kind_indices.contains(&0) => first.clone(),
            _ => NodeKind { node, store: store(&self.store, params.ready)? },
        };
        let kinds = std::iter::once(base).chain(group_kinds).collect();
        Ok(ResolvedExperiment {
            seed: self.store.seed()?,
            kinds,
            kind_indices,
            host,
            network: network(&preset_or_table(&self.cluster_tables, "network")?)?,
            params,
            phases_before_failure: Vec::new(),
        })
    }

    fn groups(&self) -> Result<Vec<Table>> {
        let group_error = || {
            Error::user("group: expected tables")
                .with_remedy("write [[group]], then nodes = [0, 1] and a device")
        };
        match self.cluster_tables.get("group") {
            None => Ok(Vec::new()),
            Some(Value::Array(groups)) => {
                groups.iter().map(|group| group.as_table().cloned().ok_or_else(group_error)).collect()
            }
            Some(_) => Err(group_error()),
        }
    }

    /// Returns the nodes of a group: each table of the group replaces the table for nodes without a group. In `node`,
    /// only the keys of the group are replaced, unless the group names a preset.
    fn kind(&self, group: &Table, base: &Node, ready: bool) -> Result<NodeKind> {
        let mut settings = self.store.explicit_settings().clone();
        let node_keys = ["nodes", "node", "name"];
        for (key, value) in group.iter().filter(|(key, _)| !node_keys.contains(&key.as_str())) {
            if key == "seed"
                || CLUSTER_TABLES.contains(&key.as_str())
                || FOREIGN_TABLES.contains(&key.as_str())
            {
                return Err(Error::user(format!("group.{key}: {key} cannot be set for a group"))
                    .with_remedy(format!("set {key} for all nodes, outside of the group")));
            }
            settings.insert(key.clone(), value.clone());
        }
        let node = node("node", &preset_or_table(group, "node")?, Some(base))?;
        Ok(NodeKind {
            node,
            store: store(&Experiment::from_table(settings)?.with_plug_ins(&self.store), ready)?,
        })
    }

    /// Returns every table with every key.
    pub(super) fn complete_table(&self, resolved: &ResolvedExperiment) -> Result<Table> {
        let mut table = Table::new();
        table.insert("seed".to_owned(), Value::Integer(resolved.seed.cast_signed()));
        if let Some(file) = self.work_file()? {
            table.insert(
                "work".to_owned(),
                Value::Table([("file".to_owned(), Value::from(file))].into_iter().collect()),
            );
        }
        table.insert("node".to_owned(), Value::Table(resolved.kinds[0].node.to_table()));
        if resolved.params.at == JobPlacement::Host {
            table.insert("host".to_owned(), Value::Table(resolved.host.to_table()));
        }
        table.insert("network".to_owned(), Value::Table(resolved.network.to_table()));
        table.insert("cluster".to_owned(), Value::Table(resolved.params.to_table()));
        let power = self.store.power_setting().map(|(_, settings)| settings).unwrap_or_default();
        table.extend(resolved.kinds[0].store.to_table(&power));
        let groups = resolved.kinds[1..].iter().enumerate().map(|(index, kind)| {
            let mut group = Table::new();
            let members = resolved.kind_indices.iter().enumerate().filter(|(_, kind)| **kind == index + 1);
            let members = members.map(|(member, _)| Value::Integer(member as i64)).collect();
            group.insert("nodes".to_owned(), Value::Array(members));
            group.insert("node".to_owned(), Value::Table(kind.node.to_table()));
            group.extend(kind.store.to_table(&power));
            Value::Table(group)
        });
        let groups: Vec<Value> = groups.collect();
        if !groups.is_empty() {
            table.insert("group".to_owned(), Value::Array(groups));
        }
        Ok(table)
    }
}

/// Returns the store of a node. With `ready`, the store starts up in no time and never parks, unless the experiment
/// sets a power policy (or `startup_ms` for the start-up time).
fn store(experiment: &Experiment, ready: bool) -> Result<SystemSetup> {
    let mut experiment = experiment.clone();
    if ready {
        let has_power_policy = experiment.get("power.kind").is_some();
        for table in ["device", "front"] {
            let has_startup =
                experiment.file(table)?.is_some_and(|file| file.to_table().contains_key("startup_ms"));
            if has_startup && experiment.get(&format!("{table}.startup_ms")).is_none() && !has_power_policy {
                experiment.set(&format!("{table}.startup_ms"), "0.0")?;
            }
        }
        if !has_power_policy {
            experiment.set("power.kind", "never")?;
        }
    }
    experiment.store()
}

fn refuse_foreign(table: &Table) -> Result<()> {
    match FOREIGN_TABLES.into_iter().find(|key| table.contains_key(*key)) {
        Some(key) => Err(Error::user(format!("{key}: the replay of a record has none"))
            .with_remedy("omit it: the record lists the accesses of its nodes")),
        None => Ok(()),
    }
}

/// Rejects unknown tables.
fn refuse_unknown(table: &str) -> Result<()> {
    let allowed_tables =
        || keys::TABLES.into_iter().filter(|table| !FOREIGN_TABLES.contains(table)).chain(CLUSTER_TABLES);
    if allowed_tables().any(|allowed_table| allowed_table == table) {
        Ok(())
    } else {
        Err(Error::unknown_name("table", table, allowed_tables()))
    }
}

/// Returns a table by name; a text in place of a table names a preset.
fn preset_or_table(tables: &Table, name: &str) -> Result<Table> {
    match tables.get(name) {
        Some(Value::String(preset)) => {
            Ok([("preset".to_owned(), Value::from(preset.as_str()))].into_iter().collect())
        }
        _ => keys::table(tables, name),
    }
}

/// Returns the nodes of a group, given as numbers or as the name of a group of the record.
fn members(group: &Table, work: &Work) -> Result<Vec<usize>> {
    let remedy = "write nodes = [0, 1], or the name of a group of the record";
    match group.get("nodes") {
        Some(Value::String(name)) => {
            let record_group = work.groups.iter().find(|group| group.name == *name);
            let names = || work.groups.iter().map(|group| group.name.as_str());
            record_group
                .map(|group| group.members.clone())
                .ok_or_else(|| Error::unknown_name("group of the record", name, names()))
        }
        Some(Value::Array(numbers)) => {
            let parse_node = |value: &Value| {
                let node = value.as_integer().and_then(|node| usize::try_from(node).ok());
                node.filter(|node| *node < work.nodes).ok_or_else(|| {
                    Error::user(format!("group.nodes: `{value}` is not a node of {}", work.nodes))
                        .with_remedy(remedy)
                })
            };
            numbers.iter().map(parse_node).collect()
        }
        _ => Err(Error::user("a group needs nodes").with_remedy(remedy)),
    }
}

/// Returns a node from a preset or a file, with some keys changed; from `base` if the table names neither.
fn node(path: &str, settings: &Table, base: Option<&Node>) -> Result<Node> {
    let mut settings = settings.clone();
    let name = keys::take_text(&mut settings, path, "preset")?;
    let mut table = match (name, base) {
        (Some(name), _) => keys::load_table(&name, "node", nodes::text)?,
        (None, Some(base)) => base.to_table(),
        // A complete table, as saved in results, lists its kinds of operation.
        (None, None) if settings.contains_key("cycles") && settings.contains_key("description") => {
            Table::new()
        }
        (None, None) => keys::load_table("smart-2003", "node", nodes::text)?,
    };
    let mut cycles = keys::table(&table, "cycles")?;
    cycles.extend(match settings.remove("cycles") {
        None => Table::new(),
        Some(Value::Table(cycles)) => cycles,
        Some(other) => return Err(Error::user(format!("{path}.cycles: expected a table, found `{other}`"))),
    });
    table.extend(settings);
    table.insert("cycles".to_owned(), Value::Table(cycles));
    Node::from_table(&table)
}

fn network(settings: &Table) -> Result<NetworkFile> {
    let mut settings = settings.clone();
    let name = keys::take_text(&mut settings, "network", "preset")?;
    let mut table = match name {
        Some(name) => keys::load_table(&name, "network", networks::text)?,
        None if settings.contains_key("kind") => Table::new(),
        None => keys::load_table("fast-ethernet", "network", networks::text)?,
    };
    table.extend(settings);
    networks::from_table(&table)
}
