//! Network descriptions: the presets that come with sledlab, and files in the same form.

use sledlab_core::{Error, Result};
use toml::{Table, Value};

use super::{Choice, LIST, Network};

/// Every preset: its name and its file.
const PRESETS: [(&str, &str); 6] = [
    ("fast-ethernet", include_str!("../../presets/networks/fast-ethernet.toml")),
    ("hub", include_str!("../../presets/networks/hub.toml")),
    ("infiniband-1x", include_str!("../../presets/networks/infiniband-1x.toml")),
    ("ethernet-25g", include_str!("../../presets/networks/ethernet-25g.toml")),
    ("rack-ethernet", include_str!("../../presets/networks/rack-ethernet.toml")),
    ("ideal", include_str!("../../presets/networks/ideal.toml")),
];

/// Keys of a network file that are not parameters of its model.
const KIND: &str = "kind";
const NAME: &str = "name";
const DESCRIPTION: &str = "description";

/// The contents of a network file.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFile {
    /// Name of the network in tables and reports; may be empty.
    pub name: String,
    /// One-line description for help texts and docs.
    pub description: String,
    /// The network's model, with all parameters.
    pub choice: Choice,
}

/// Names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The text of a preset, comments with sources included.
pub fn text(name: &str) -> Result<&'static str> {
    PRESETS
        .iter()
        .find_map(|(known, text)| known.eq_ignore_ascii_case(name).then_some(*text))
        .ok_or_else(|| Error::unknown_name("network", name, names()))
}

/// Reads the table of a network file; its key `kind` names the model.
pub fn from_table(table: &Table) -> Result<NetworkFile> {
    let mut params = table.clone();
    let mut take = |key| match params.remove(key) {
        Some(Value::String(text)) => Ok(Some(text)),
        None => Ok(None),
        Some(other) => Err(Error::user(format!("network.{key}: expected text, found `{other}`"))),
    };
    let (kind, name, description) = (take(KIND)?, take(NAME)?, take(DESCRIPTION)?);
    let Some(kind) = kind else {
        let kinds: Vec<&str> = LIST.iter().map(|entry| entry.name).collect();
        return Err(Error::user("a network file must contain its kind of network")
            .with_remedy(format!("add the line `kind = \"switch\"`; known: {}", kinds.join(", "))));
    };
    let choice = Choice::new(&kind, &params)?;
    Ok(NetworkFile { name: name.unwrap_or_default(), description: description.unwrap_or_default(), choice })
}

impl NetworkFile {
    /// Returns a network without packets in transit, with `ports` ports: the nodes and, last, the client.
    pub fn make(&self, ports: usize) -> Result<Box<dyn Network>> {
        self.choice.make(ports)
    }

    /// The longest packet, in bytes.
    pub fn packet_bytes(&self) -> u64 {
        self.choice.packet_bytes()
    }

    /// The lowest bandwidth of any link, in Mbit/s.
    pub fn slowest_mbit_s(&self) -> f64 {
        self.choice.slowest_mbit_s()
    }

    /// Power of a port, in W.
    pub fn port_w(&self) -> f64 {
        self.choice.port_w()
    }

    /// Returns the network with all bandwidths doubled and all latencies halved, to estimate the benefit of a faster
    /// network.
    pub fn double_speed(&self) -> Result<Self> {
        Ok(NetworkFile { choice: self.choice.double_speed()?, ..self.clone() })
    }

    /// The complete table: kind, name, description and every parameter.
    pub fn to_table(&self) -> Table {
        let mut params = self.choice.to_table();
        let mut table = Table::new();
        table.extend(params.remove(KIND).map(|kind| (KIND.to_owned(), kind)));
        if !self.name.is_empty() {
            table.insert(NAME.to_owned(), Value::from(self.name.as_str()));
        }
        table.insert(DESCRIPTION.to_owned(), Value::from(self.description.as_str()));
        table.extend(params);
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preset(name: &str) -> NetworkFile {
        from_table(&text(name).unwrap().parse().unwrap()).unwrap()
    }

    #[test]
    fn every_preset_is_complete_and_builds() {
        for name in names() {
            let table: Table = text(name).unwrap().parse().unwrap();
            let file = from_table(&table).unwrap();
            assert_eq!(table, file.to_table(), "{name} must state every parameter");
            assert!(!file.description.is_empty(), "{name} has no description");
            assert!(file.port_w() > 0.0, "{name} has no power");
            file.make(5).unwrap();
        }
    }

    #[test]
    fn presets_and_files_read_back_exactly() {
        for name in names() {
            let file = NetworkFile { name: "mine".to_owned(), ..preset(name) };
            let text = toml::to_string(&file.to_table()).unwrap();
            assert_eq!(from_table(&text.parse().unwrap()).unwrap(), file, "{name}");
            assert_ne!(file, preset(name));
        }
    }

    #[test]
    fn twice_as_fast_network_halves_all_times() {
        let number = |file: &NetworkFile, key: &str| file.to_table()[key].as_float().unwrap();
        let file = preset("rack-ethernet");
        let faster = file.double_speed().unwrap();
        for (key, factor) in [
            ("bandwidth_mbit_s", 2.0),
            ("uplink_mbit_s", 2.0),
            ("latency_us", 0.5),
            ("hop_us", 0.5),
            ("port_w", 1.0),
        ] {
            assert!((number(&faster, key) - factor * number(&file, key)).abs() < 1e-9, "{key}");
        }
        assert_eq!((faster.packet_bytes(), file.packet_bytes()), (65_536, 65_536));
        let table = "kind = \"switch\"\nbandwidth_mbit_s = 1e9".parse().unwrap();
        assert!(from_table(&table).unwrap().double_speed().unwrap_err().to_string().contains("out of range"));
    }

    #[test]
    fn invalid_files_are_errors() {
        let message = |text: &str| from_table(&text.parse().unwrap()).unwrap_err().to_string();
        assert!(text("fast-ethernets").unwrap_err().to_string().contains("did you mean `fast-ethernet`?"));
        assert!(message("kind = \"swatch\"").contains("did you mean `switch`?"));
        assert!(message("packet_kb = 1").contains("must contain its kind of network"));
        assert!(message("kind = 4").contains("network.kind: expected text"));
        assert!(message("kind = \"hub\"\nlatency_ms = 1").contains("did you mean `network.latency_us`?"));
        assert!(message("kind = \"hub\"\nhop_us = 1").contains("network.hop_us"));
        assert!(message("kind = \"tree\"\nnodes_per_switch = 0").contains("out of range"));
    }
}
