//! Traces and work records that come with sledlab, by name: `sample:mail-a`.
//!
//! The directory of samples depends on the installation, not on an experiment: it is set once, and experiments name a
//! sample by its name alone, so that they mean the same on every machine.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sledlab_core::{Error, Result};

/// Prefix of the name of a sample.
pub const PREFIX: &str = "sample:";

/// Folders in the directory of samples, and the endings of the file names in each.
const FOLDERS: [(&str, &str); 2] = [("traces", ".csv.zst"), ("work", ".work")];

static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();

/// Sets the directory of samples, which has the folders `traces` and `work`. Only the first call has an effect.
pub fn set_directory(directory: impl Into<PathBuf>) {
    let _ = DIRECTORY.set(directory.into());
}

/// Returns the file of a path: the path itself, or the file of a sample.
///
/// # Errors
/// An unknown sample; the error suggests a similar name.
pub(crate) fn resolve(path: &Path) -> Result<Cow<'_, Path>> {
    match path.to_str().and_then(|text| text.strip_prefix(PREFIX)) {
        None => Ok(Cow::Borrowed(path)),
        Some(name) => match DIRECTORY.get() {
            Some(directory) => find(directory, name).map(Cow::Owned),
            None => Err(Error::user(format!(
                "the directory of samples is not set, so sample `{name}` cannot be located"
            ))
            .with_remedy("give the path of its file, such as sample/traces/mail-a.csv.zst")),
        },
    }
}

fn find(directory: &Path, name: &str) -> Result<PathBuf> {
    let names: Vec<(String, PathBuf)> =
        FOLDERS.into_iter().flat_map(|(folder, ending)| files(&directory.join(folder), ending)).collect();
    let file = names.iter().find(|(sample_name, _)| sample_name == name).map(|(_, file)| file.clone());
    file.ok_or_else(|| {
        Error::unknown_name("sample", name, names.iter().map(|(sample_name, _)| sample_name.as_str()))
    })
}

/// The files of a folder whose names end in `ending`, sorted by name.
fn files(folder: &Path, ending: &str) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths_by_name: Vec<(String, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?.strip_suffix(ending)?.to_owned();
            Some((name, entry.path()))
        })
        .collect();
    paths_by_name.sort();
    paths_by_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_names_resolve_to_files() {
        let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sample");
        assert!(find(&directory, "mail-a").unwrap().ends_with("traces/mail-a.csv.zst"));
        assert!(find(&directory, "sort").unwrap().ends_with("work/sort.work"));
        let message = find(&directory, "mial-a").unwrap_err().to_string();
        assert!(message.contains("unknown sample `mial-a`") && message.contains("mail-a"), "{message}");
        assert!(find(&directory, "../work/sort").is_err());
    }

    #[test]
    fn other_names_are_paths() {
        assert_eq!(resolve(Path::new("some/file.csv")).unwrap(), Path::new("some/file.csv"));
    }
}
