//! Resolves names of files in an experiment: relative to the file that names them, else to the working directory.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

/// Tables of a device, a node or a network, which may be in a separate file.
const MODEL_TABLES: [&str; 5] = ["device", "front", "node", "host", "network"];
/// Tables whose key `file` names a file.
const FILE_TABLES: [&str; 2] = ["trace", "work"];

/// Returns the path, from the working directory, of a file that the file `naming_file` names.
///
/// A relative name is resolved in the directory of `naming_file`, then in the working directory: a directory with all
/// files of an experiment can be moved and used from any directory. A name found in neither is returned unchanged.
pub fn resolve_file_name(name: &str, naming_file: &str) -> String {
    let adjacent = match Path::new(naming_file).parent() {
        Some(directory) if directory != Path::new("") && is_relative_file(name) => directory.join(name),
        _ => return name.to_owned(),
    };
    if !adjacent.exists() {
        return name.to_owned();
    }
    let short = normalize(&adjacent);
    // `..` after a symbolic link leads to another directory than the text of the path suggests.
    let is_same_file = short
        .canonicalize()
        .is_ok_and(|target| adjacent.canonicalize().is_ok_and(|adjacent_target| target == adjacent_target));
    let path = if is_same_file { short } else { adjacent };
    path.to_str().map_or_else(|| name.to_owned(), str::to_owned)
}

fn is_relative_file(name: &str) -> bool {
    !name.is_empty() && name != "-" && Path::new(name).is_relative()
}

/// Returns the path without `.` and `..`, where possible.
fn normalize(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match (part, normalized.components().next_back()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                normalized.pop();
            }
            _ => normalized.push(part),
        }
    }
    normalized
}

/// Replaces all file names in an experiment read from the file `naming_file` with their paths from the working
/// directory.
pub(crate) fn resolve_file_names(experiment: &mut Table, naming_file: &str) {
    for (key, value) in experiment.iter_mut() {
        match value {
            Value::String(name) if MODEL_TABLES.contains(&key.as_str()) => {
                resolve_model_file(name, naming_file);
            }
            Value::Table(table) => {
                let name_key = if FILE_TABLES.contains(&key.as_str()) { "file" } else { "preset" };
                match table.get_mut(name_key) {
                    Some(Value::String(name)) if name_key == "file" => {
                        *name = resolve_file_name(name, naming_file);
                    }
                    Some(Value::String(name)) => resolve_model_file(name, naming_file),
                    _ => {}
                }
            }
            Value::Array(groups) if key == "group" => {
                groups
                    .iter_mut()
                    .filter_map(Value::as_table_mut)
                    .for_each(|group| resolve_file_names(group, naming_file));
            }
            _ => {}
        }
    }
}

/// Replaces the file name of a model; names of presets are not changed.
fn resolve_model_file(name: &mut String, naming_file: &str) {
    if Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        *name = resolve_file_name(name, naming_file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_lexically() {
        for (long, short) in [
            ("run/../app.csv", "app.csv"),
            ("./run/./a/../b.csv", "run/b.csv"),
            ("../run/../../app.csv", "../../app.csv"),
            ("/run/../app.csv", "/app.csv"),
        ] {
            assert_eq!(normalize(Path::new(long)), Path::new(short), "{long}");
        }
    }

    #[test]
    fn directory_of_naming_file_is_searched_first() {
        let sources = env!("CARGO_MANIFEST_DIR");
        let naming_file = format!("{sources}/src/experiment.toml");
        assert_eq!(resolve_file_name("lib.rs", &naming_file), format!("{sources}/src/lib.rs"));
        assert_eq!(resolve_file_name("../Cargo.toml", &naming_file), format!("{sources}/Cargo.toml"));
        // Tests run in the folder of the crate.
        assert_eq!(resolve_file_name("Cargo.toml", &naming_file), "Cargo.toml");
        for name in ["", "-", "nowhere.csv", "/etc"] {
            assert_eq!(resolve_file_name(name, &naming_file), name);
        }
        assert_eq!(resolve_file_name("lib.rs", "experiment.toml"), "lib.rs");
    }

    #[test]
    fn presets_and_other_texts_keep_their_names() {
        let naming_file = format!("{}/src/experiment.toml", env!("CARGO_MANIFEST_DIR"));
        let text = "device = 'engine'\nfront = { preset = 'cluster' }\nsystem = 'lib.rs'\nnode = '../Cargo.toml'
            trace = { file = 'lib.rs', format = 'engine' }\n[[group]]\nnodes = 'lib.rs'\ndevice = '../Cargo.toml'";
        let mut table: Table = text.parse().unwrap();
        resolve_file_names(&mut table, &naming_file);
        let cargo = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let lib = format!("{}/src/lib.rs", env!("CARGO_MANIFEST_DIR"));
        let expected =
            text.replace("../Cargo.toml", &cargo).replace("file = 'lib.rs'", &format!("file = '{lib}'"));
        assert_eq!(table, expected.parse::<Table>().unwrap());
    }
}
