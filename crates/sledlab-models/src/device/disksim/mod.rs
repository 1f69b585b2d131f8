//! The parameter files of DiskSim 4.0, for devices of any kind: their syntax, and the values of their entries.

mod faults;
mod file;
mod syntax;
mod text;
mod values;

use std::path::Path;

use sledlab_core::{Error, Result};

use super::LIST;

pub(in crate::device) use self::faults::Faults;
pub use self::file::ParameterFile;
pub use self::syntax::OpenFile;
pub(in crate::device) use self::syntax::{Block, KeyValue, Value};
pub(in crate::device) use self::text::decode;
pub(in crate::device) use self::values::{
    check_non_negative, count, number, scaled_number, text, whole_number, word,
};

/// The text of a device file, and remarks on parameters that could not be imported, one sentence each.
pub type ImportedFile = (String, Vec<String>);

/// How devices of one kind are read from a parameter file.
#[derive(Clone, Copy, Debug)]
pub struct Importer {
    /// Type of the blocks that describe such devices.
    pub block: &'static str,
    /// Imports the device of a name, or the only one of the kind.
    pub import: fn(&ParameterFile, Option<&str>) -> Result<ImportedFile>,
}

/// Name of a file, without its folders.
pub(in crate::device) fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// A device in `data`, a parameter file called `file`: that of the block called `name`, or the only one of the first
/// kind of device that the file describes. `open` reads further files that the file names.
///
/// # Errors
/// No such device, or all faults of the files: files that cannot be read, and entries that make no sense, with their
/// place.
pub fn import(data: &[u8], file: &str, name: Option<&str>, open: OpenFile) -> Result<ImportedFile> {
    let importers = || LIST.iter().filter_map(|kind| kind.facts.importer);
    let file = ParameterFile::read(data, Path::new(file), open)?;
    let mut known_names = Vec::new();
    for importer in importers() {
        let names = file.names(importer.block);
        if !names.is_empty() && name.is_none_or(|name| names.contains(&name)) {
            return (importer.import)(&file, name);
        }
        known_names.extend(names);
    }
    if let (Some(name), false) = (name, known_names.is_empty()) {
        return Err(Error::unknown_name("device", name, known_names));
    }
    file.check_syntax()?;
    let blocks: Vec<String> = importers().map(|importer| format!("a `{}`", importer.block)).collect();
    Err(Error::user(format!("{} does not describe a device", file.path().display()))
        .with_remedy(format!("import a file with {} block, or one that names it", blocks.join(" or "))))
}

/// `text` with control characters, which a comment may not hold, replaced by question marks.
pub(in crate::device) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_whatever_a_file_describes() {
        let open = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
        let message = |text: &str, name| {
            import(text.as_bytes(), "some/file.parv", name, &open).unwrap_err().to_string()
        };
        let sled = "memsmodel_mems m { }";
        let disk = "disksim_disk d { Model = source d.model }";
        assert!(message("", None).contains("some/file.parv does not describe a device"));
        assert!(message(sled, None).contains("parameters are missing"));
        assert!(message(disk, None).contains("cannot read some/d.model"));
        assert!(message("source other", None).contains("cannot read some/other"));
        assert!(message(&format!("{sled} source other"), None).contains("parameters are missing"));
        assert!(message(&format!("{sled} {disk}"), Some("d")).contains("cannot read some/d.model"));
    }
}
