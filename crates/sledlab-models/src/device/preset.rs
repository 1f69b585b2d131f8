//! Device descriptions: the presets that come with sledlab, and files in the same form.

use sledlab_core::{Error, Result};
use toml::{Table, Value};

use super::{CustomDevice, Description, LIST, Model, host};

/// Keys of a device file that are not parameters of its model.
const KIND: &str = "kind";
const NAME: &str = "name";
const DESCRIPTION: &str = "description";
const HOST: &str = "host";
/// Value of [`HOST`] for a device without a host.
const NO_HOST: &str = "none";

/// The content of a device file.
#[derive(Clone, Debug)]
pub struct DeviceFile {
    /// Name of the device in tables and reports; may be empty.
    pub name: String,
    /// One-line description of the device for lists and reports.
    pub description: String,
    /// The parameters of the device's model.
    pub params: Box<dyn Description>,
}

/// Name and device file of every preset, kind by kind.
fn presets() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIST.iter().flat_map(|kind| kind.facts.presets.iter().copied())
}

/// Names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    presets().map(|(name, _)| name)
}

/// The text of a preset, comments with sources included.
///
/// # Errors
/// An unknown name; the message suggests the nearest.
pub fn text(name: &str) -> Result<&'static str> {
    presets()
        .find_map(|(known, text)| known.eq_ignore_ascii_case(name).then_some(text))
        .ok_or_else(|| unknown(name))
}

/// The error about an unknown device. The name of a kind of device gets the presets of that kind.
fn unknown(name: &str) -> Error {
    let Some(kind) = LIST.iter().find(|kind| kind.name.eq_ignore_ascii_case(name)) else {
        return Error::unknown_name("device", name, names());
    };
    let presets: Vec<&str> = kind.facts.presets.iter().map(|(name, _)| *name).collect();
    Error::user(format!("unknown device `{name}`")).with_remedy(format!(
        "devices of kind {}: {}",
        kind.name,
        presets.join(", ")
    ))
}

/// Reads the table of a device file for the model `kind`.
pub fn from_table(table: &Table) -> Result<DeviceFile> {
    from_table_among(table, &[])
}

/// Reads the table of a device file, whose kind may also be one of `custom`, which are not in the list.
pub fn from_table_among(table: &Table, custom: &[CustomDevice]) -> Result<DeviceFile> {
    let mut params = table.clone();
    let kind = take_text(&mut params, KIND)?;
    let name = take_text(&mut params, NAME)?.unwrap_or_default();
    let description = take_text(&mut params, DESCRIPTION)?.unwrap_or_default();
    let kind = kind.ok_or_else(kind_missing)?;
    let params = match custom.iter().find(|custom| custom.word == kind) {
        Some(custom) => (custom.make)(&params),
        None => (LIST.find(&kind)?.make)(&params)?,
    };
    Ok(DeviceFile { name, description, params })
}

fn take_text(table: &mut Table, key: &str) -> Result<Option<String>> {
    match table.remove(key) {
        Some(Value::String(text)) => Ok(Some(text)),
        None => Ok(None),
        Some(other) => Err(Error::user(format!("device.{key}: expected text, found `{other}`"))),
    }
}

/// Attaches the device of a table to the host in its key `host`, if it has one: replaces the key by the parameters of
/// the device on that host. Parameters that are set in the result afterwards take precedence over those of the host.
///
/// # Errors
/// An unknown host, a kind of device that hosts do not change, and a table that describes no device.
pub fn attach_to_host(mut table: Table) -> Result<Table> {
    let kind = table.get(KIND).and_then(Value::as_str);
    // A plug-in may have a parameter of this name.
    if kind.is_none_or(|kind| LIST.find(kind).is_err()) {
        return Ok(table);
    }
    let Some(host_name) = take_text(&mut table, HOST)?.filter(|name| name != NO_HOST) else {
        return Ok(table);
    };
    let host = host::preset(&host_name)?;
    let mut file = from_table(&table)?;
    if !file.params.attach(&host) {
        let kind = file.params.kind();
        return Err(Error::user(format!("device.{HOST}: a device of kind `{kind}` does not use a host"))
            .with_remedy(format!("omit device.{HOST}")));
    }
    file.description = format!("{}, on host {host_name}", file.description);
    Ok(file.to_table())
}

/// The error of a device file without `kind`.
pub fn kind_missing() -> Error {
    Error::user("a device file must contain its kind of device")
        .with_remedy(format!("add the line {}", super::format_kinds(|_| true)))
}

impl PartialEq for DeviceFile {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.description == other.description && *self.params == *other.params
    }
}

impl DeviceFile {
    /// A device without a name.
    pub fn nameless(params: impl Model) -> Self {
        DeviceFile { name: String::new(), description: String::new(), params: Box::new(params) }
    }

    /// Idle time after which the device parks without a power policy.
    pub fn idle_timeout_ms(&self) -> f64 {
        self.params.idle_timeout_ms()
    }

    /// The complete table: kind, description and every parameter.
    pub fn to_table(&self) -> Table {
        let mut table = Table::new();
        table.insert(KIND.to_owned(), Value::from(self.params.kind()));
        if !self.name.is_empty() {
            table.insert(NAME.to_owned(), Value::from(self.name.as_str()));
        }
        table.insert(DESCRIPTION.to_owned(), Value::from(self.description.as_str()));
        table.extend(self.params.to_table());
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::MergeParams;
    use crate::system::{self, Setup, Start};
    use crate::{power, scheduler};

    /// Parameters that count under some values of another parameter only. Presets omit them where they do not count.
    const CONDITIONAL: [&str; 19] = [
        "attributes",
        "bad_tips_seed",
        "block_transfer_us",
        "layout_grid",
        "layout_parts",
        "line_constant_ms",
        "line_from_cylinders",
        "line_slope_us",
        "off_startup_ms",
        "piecewise_chunks",
        "root_constant_ms",
        "root_factor_ms",
        "sled_map",
        "sled_motion",
        "small_share",
        "sparing_range_cylinders",
        "stripe_blocks",
        "subsector_tip_factor",
        "tips_fail_at_s",
    ];

    #[test]
    fn every_preset_is_complete_and_builds() {
        for name in names() {
            let table: Table = toml::from_str(text(name).unwrap()).unwrap();
            let file = from_table(&table).unwrap();
            let filled = file.to_table();
            let omitted: Vec<&String> = filled.keys().filter(|key| !table.contains_key(*key)).collect();
            assert!(
                omitted.iter().all(|key| CONDITIONAL.contains(&key.as_str())),
                "{name} omits {omitted:?}"
            );
            assert!(!file.description.is_empty(), "{name} has no description");
            let fcfs = scheduler::Choice::new("fcfs", &Table::new()).unwrap();
            let power = power::Choice::from_device_timeout(file.idle_timeout_ms()).unwrap();
            let setup = Setup {
                scheduler: &fcfs,
                power: &power,
                merge: &MergeParams::default(),
                start: Start::Ready,
            };
            system::build(&file, setup).unwrap();
        }
    }

    #[test]
    fn presets_and_files_read_back_exactly() {
        for name in names() {
            let file = from_table(&text(name).unwrap().parse().unwrap()).unwrap();
            let table = file.to_table();
            assert_eq!(from_table(&table).unwrap(), file, "{name}");
            let text = toml::to_string(&table).unwrap();
            assert_eq!(from_table(&text.parse().unwrap()).unwrap(), file, "{name}");
        }
    }

    #[test]
    fn device_on_host_has_bus_of_host() {
        let on_host = |preset: &str, host: &str| {
            let mut table: Table = text(preset).unwrap().parse().unwrap();
            table.insert(HOST.to_owned(), Value::from(host));
            attach_to_host(table)
        };
        let number = |table: &Table, key: &str| table[key].as_float().unwrap();
        let fitted = on_host("hp-c2490a", "hp-c2490a").unwrap();
        let published = on_host("hp-c2490a", "hp-c2490a-disksim").unwrap();
        for (key, fitted_us, published_us) in
            [("bus_write_sector_us", 160.41, 148.41), ("read_hit_after_read_us", 1519.0, 1419.0)]
        {
            assert_eq!((number(&fitted, key), number(&published, key)), (fitted_us, published_us), "{key}");
        }
        assert!(!fitted.contains_key(HOST));
        let bare: Table = text("hp-c2490a").unwrap().parse().unwrap();
        assert_eq!(on_host("hp-c2490a", NO_HOST).unwrap(), bare);
        assert!(on_host("mems-g2", "hp-c2490a").unwrap_err().to_string().contains("kind `mems`"));
        assert!(on_host("hp-c2490a", "hp-c249").unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        assert!(text("mems-g4").unwrap_err().to_string().contains("mems-g"));
        assert!(
            text("disk").unwrap_err().to_string().contains("devices of kind disk: mobile-disk, atlas-10k")
        );
        assert_eq!(text("MEMS-G2").unwrap(), text("mems-g2").unwrap());
        let table = toml::from_str("kind = \"mens\"").unwrap();
        assert!(from_table(&table).unwrap_err().to_string().contains("did you mean `mems`?"));
    }
}
