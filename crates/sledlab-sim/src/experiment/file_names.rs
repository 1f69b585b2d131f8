//! Resolves names of files in an experiment: relative to the file that names them, else to the working directory.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

/// Tables of a device, a node or a network, which may be in a separate file.
const MODEL_TABLES: [&str; 5] = ["device", "front", "node", "host", "network"];
/// Tables whose key `file` names a file.
const FILE_TABLES: [&str; 2] = ["trace", "work"];

/// Returns the path, from the working directory, of a file that the file `by` names.
///
/// A relative name is resolved in the directory of `by`, then in the working directory: a directory with all files of
/// an experiment can be moved and used from any directory. A name found in neither is returned unchanged.
pub fn resolve_file_name(name: &str, by: &str) -> String {
    let adjacent = match Path::new(by).parent() {
        Some(directory) if directory != Path::new("") && is_relative_file(name) => directory.join(name),
        _ => return name.to_owned(),
    };
    if !adjacent.exists() {
        return name.to_owned();
    }
    let short = normalize(&adjacent);
    // `..` after a symbolic link leads to another directory than the text of the path suggests.
    let same = matches!((short.canonicalize(), adjacent.canonicalize()), (Ok(short), Ok(adjacent)) if short == adjacent);
    let result = if same { short } else { adjacent };
    result.to_str().map_or_else(|| name.to_owned(), str::to_owned)
}

fn is_relative_file(name: &str) -> bool {
    !name.is_empty() && name != "-" && Path::new(name).is_relative()
}

/// Returns the path without `.` and `..`, where possible.
fn normalize(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match (part, result.components().next_back()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                result.pop();
            }
            _ => result.push(part),
        }
    }
    result
}

/// Replaces all file names in an experiment read from the file `by` with their paths from the working directory.
pub(crate) fn resolve_file_names(all: &mut Table, by: &str) {
    for (table, text) in all.iter_mut() {
        match text {
            Value::String(name) if MODEL_TABLES.contains(&table.as_str()) => resolve_model_file(name, by),
            Value::Table(text) => {
                let key = if FILE_TABLES.contains(&table.as_str()) { "file" } else { "preset" };
                match text.get_mut(key) {
                    Some(Value::String(name)) if key == "file" => *name = resolve_file_name(name, by),
                    Some(Value::String(name)) => resolve_model_file(name, by),
                    _ => {}
                }
            }
            Value::Array(groups) if table == "group" => {
                groups
                    .iter_mut()
                    .filter_map(Value::as_table_mut)
                    .for_each(|group| resolve_file_names(group, by));
            }
            _ => {}
        }
    }
}

/// Replaces the file name of a model; names of presets are not changed.
fn resolve_model_file(name: &mut String, by: &str) {
    if Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        *name = resolve_file_name(name, by);
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
        let by = format!("{sources}/src/experiment.toml");
        assert_eq!(resolve_file_name("lib.rs", &by), format!("{sources}/src/lib.rs"));
        assert_eq!(resolve_file_name("../Cargo.toml", &by), format!("{sources}/Cargo.toml"));
        // Tests run in the folder of the crate.
        assert_eq!(resolve_file_name("Cargo.toml", &by), "Cargo.toml");
        for stored in ["", "-", "nowhere.csv", "/etc"] {
            assert_eq!(resolve_file_name(stored, &by), stored);
        }
        assert_eq!(resolve_file_name("lib.rs", "experiment.toml"), "lib.rs");
    }

    #[test]
    fn presets_and_other_texts_keep_their_names() {
        let by = format!("{}/src/experiment.toml", env!("CARGO_MANIFEST_DIR"));
        let text = "device = 'engine'\nfront = { preset = 'cluster' }\nsystem = 'lib.rs'\nnode = '../Cargo.toml'
            trace = { file = 'lib.rs', format = 'engine' }\n[[group]]\nnodes = 'lib.rs'\ndevice = '../Cargo.toml'";
        let mut table: Table = text.parse().unwrap();
        resolve_file_names(&mut table, &by);
        let cargo = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let lib = format!("{}/src/lib.rs", env!("CARGO_MANIFEST_DIR"));
        let expected =
            text.replace("../Cargo.toml", &cargo).replace("file = 'lib.rs'", &format!("file = '{lib}'"));
        assert_eq!(table, expected.parse::<Table>().unwrap());
    }
}
