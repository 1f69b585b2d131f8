//! Tables and keys of an experiment file.

use std::path::Path;

use sledlab_core::params::Params;
use sledlab_core::registry::{is_plug_in, split_plug_in};
use sledlab_core::{Error, Result};
use sledlab_models::device::preset;
use toml::{Table, Value};

use crate::replay::ReplayParams;

/// Tables of an experiment file, and `seed`, the only key outside of them.
pub(crate) const TABLES: [&str; 11] = [
    "device",
    "front",
    "hybrid",
    "system",
    "cache",
    "trace",
    "workload",
    "scheduler",
    "power",
    "merge",
    "replay",
];
const SEED_KEY: &str = "seed";
/// Further tables of an experiment file with a cluster, which replays a work record.
pub(crate) const CLUSTER_TABLES: [&str; 6] = ["work", "node", "host", "network", "cluster", "group"];

/// Extensions of other files that users pass as device files by mistake.
const TRACE_EXTENSIONS: [&str; 10] =
    ["csv", "txt", "trace", "ascii", "disksim", "parquet", "gz", "zst", "bz2", "xz"];
const PARAMETER_EXTENSIONS: [&str; 2] = ["parv", "diskspecs"];

/// Parses TOML. Nesting and dotted keys have at most 80 levels, integers 64 bits.
///
/// # Errors
/// The text is not valid TOML; the error has the line and column of the file `name`.
pub fn parse(name: &str, text: &str) -> Result<Table> {
    text.parse::<Table>().map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let preceding_text = text.get(..offset).unwrap_or_default();
        let line = preceding_text.matches('\n').count() + 1;
        let column = preceding_text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let source_line = text.lines().nth(line - 1).unwrap_or_default();
        Error::user(format!("not valid TOML: {}", error.message()))
            .with_remedy("`sledlab init experiment` writes an example of such a file")
            .with_location(name, line as u64, column as u64, source_line.as_bytes())
    })
}

/// Returns the table of a preset, of a file if the name ends in `.toml`, or of a plug-in. The `noun` that it describes,
/// such as device, is named after the preset, the file or the class, unless the table has a `name`.
pub(crate) fn load_table(
    name: &str,
    noun: &str,
    preset: impl Fn(&str) -> Result<&'static str>,
) -> Result<Table> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    if noun == "device" && is_plug_in(name) && !is_file {
        let mut table = Table::new();
        let kind = split_plug_in(noun, name, &mut table)?;
        let class = kind.rsplit(':').next().unwrap_or(&kind);
        table.insert("name".to_owned(), Value::from(class));
        table.insert("kind".to_owned(), Value::from(kind));
        return Ok(table);
    }
    let (default_name, text) = if is_file {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::user(format!("cannot read the {noun} file: {error}")).with_location(name, 0, 0, b"")
        })?;
        (path.file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy()), text)
    } else {
        let explain_error = |error| if noun == "device" { not_a_device_error(error, name) } else { error };
        let text = preset(name).map_err(explain_error)?;
        (name.to_ascii_lowercase().into(), text.to_owned())
    };
    let mut table = parse(name, &text)?;
    if noun == "device" && is_file && !table.contains_key("kind") {
        return Err(preset::kind_missing().with_location(name, 0, 0, b""));
    }
    table.entry("name").or_insert_with(|| Value::from(default_name.as_ref()));
    Ok(table)
}

/// Returns the error for a device name that is not a preset, with a remedy if the name is that of another kind of file.
fn not_a_device_error(error: Error, name: &str) -> Error {
    let path = Path::new(name);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let remedy = if PARAMETER_EXTENSIONS.contains(&ending.as_str()) {
        format!("convert the parameters with: sledlab device import {name}")
    } else if TRACE_EXTENSIONS.contains(&ending.as_str()) || path.is_file() {
        format!("to replay a trace, use --trace {name}")
    } else {
        return error;
    };
    Error::user(format!("`{name}` is not a device file: its name does not end in .toml")).with_remedy(remedy)
}

/// Rejects tables that no experiment has.
pub(crate) fn check_tables(table: &Table) -> Result<()> {
    let table_names = || TABLES.into_iter().chain([SEED_KEY]);
    match table.keys().find(|key| table_names().all(|name| name != key.as_str())) {
        Some(key) if CLUSTER_TABLES.contains(&key.as_str()) => {
            Err(Error::user(format!("{key}: only a work record replay has this table"))
                .with_remedy("run the file with `sledlab smart replay`"))
        }
        Some(key) => Err(Error::unknown_name("table", key, table_names())),
        None => Ok(()),
    }
}

/// Returns a table by name; an empty one if it is missing.
pub(crate) fn table(tables: &Table, name: &str) -> Result<Table> {
    match tables.get(name) {
        None => Ok(Table::new()),
        Some(Value::Table(table)) => Ok(table.clone()),
        Some(Value::String(kind)) => {
            Ok([("kind".to_owned(), Value::from(kind.as_str()))].into_iter().collect())
        }
        Some(other) => Err(Error::user(format!("{name}: expected a table, found `{other}`"))),
    }
}

/// Removes a text from a table.
pub(crate) fn take_text(table: &mut Table, path: &str, key: &str) -> Result<Option<String>> {
    match table.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Error::user(format!("{path}.{key}: expected text, found `{other}`"))),
    }
}

/// Returns the replay table with every default filled in. Values that cannot be read are not changed; they are rejected
/// elsewhere.
pub(crate) fn replay_table(tables: &Table) -> Table {
    let replay = table(tables, "replay").unwrap_or_default();
    ReplayParams::from_table("replay", &replay).map_or(replay, |params| params.to_table())
}

/// Sets `table.key` (or `seed`) to a TOML value, or to text if the value is not TOML.
pub(crate) fn set_key(tables: &mut Table, key: &str, value: &str) -> Result<()> {
    let value = read_value(value);
    if key == SEED_KEY {
        tables.insert(SEED_KEY.to_owned(), value);
        return Ok(());
    }
    let form_error = || {
        Error::user(format!("`{key}` is not of the form table.key"))
            .with_remedy("write for example device.active_tips=3200 or replay.speedup=16")
    };
    let (name, key) = key
        .split_once('.')
        .filter(|(name, key)| !name.is_empty() && !key.is_empty())
        .ok_or_else(form_error)?;
    if !TABLES.contains(&name) {
        return Err(Error::unknown_name("table", name, TABLES));
    }
    let mut new_table = table(tables, name)?;
    if ["device", "front"].contains(&name)
        && let Some(Value::String(preset)) = tables.get(name)
    {
        new_table = [("preset".to_owned(), Value::from(preset.as_str()))].into_iter().collect();
    }
    new_table.insert(key.to_owned(), value);
    tables.insert(name.to_owned(), Value::Table(new_table));
    Ok(())
}

pub(crate) fn read_value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>();
    parsed.ok().and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::from(text))
}
