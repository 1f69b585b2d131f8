//! Node descriptions: the presets that come with sledlab, and files in the same form.

use sledlab_core::{Error, Result};

/// Every preset: its name and its file.
const PRESETS: &[(&str, &str)] = &[
    ("smart-2003", include_str!("../../presets/nodes/smart-2003.toml")),
    ("csd-arm", include_str!("../../presets/nodes/csd-arm.toml")),
];

/// Names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The text of a preset, comments with sources included.
///
/// # Errors
/// An unknown name.
pub fn text(name: &str) -> Result<&'static str> {
    let preset = PRESETS.iter().find_map(|(known, text)| known.eq_ignore_ascii_case(name).then_some(*text));
    preset.ok_or_else(|| Error::unknown_name("node", name, names()))
}

#[cfg(test)]
mod tests {
    use super::super::Node;
    use super::*;

    #[test]
    fn every_preset_is_complete_and_reads_back_exactly() {
        for name in names() {
            let table: toml::Table = text(name).unwrap().parse().unwrap();
            let node = Node::from_table(&table).unwrap();
            assert_eq!(table.len(), node.to_table().len(), "{name} must state every parameter");
            assert!(!node.description.is_empty(), "{name} has no description");
            assert_eq!(Node::from_table(&node.to_table()).unwrap(), node, "{name}");
        }
    }

    #[test]
    fn invalid_files_are_errors() {
        let message = |text: &str| Node::from_table(&text.parse().unwrap()).unwrap_err().to_string();
        assert!(message("mhz = 0").contains("node.mhz"));
        assert!(message("pages_kb = 8").contains("did you mean `node.page_kb`?"));
        assert!(message("cycles = 3").contains("node.cycles: expected a table"));
        assert!(message("cycles = { tuple = -1 }").contains("node.cycles.tuple"));
        assert!(message("communication = \"pack\"").contains("expected a list of kinds"));
        assert!(message("memory_mb = 0.1").contains("uses all of it"));
        let node = Node::from_table(&"cycles = { tuple = 10 }".parse().unwrap()).unwrap();
        assert_eq!(node.cycles("tuple").unwrap(), (10.0, false));
        assert!(node.cycles("pack").unwrap_err().to_string().contains("known: tuple"));
    }
}
