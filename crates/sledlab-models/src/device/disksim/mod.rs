//! The parameter files of DiskSim 4.0, for devices of any kind: their syntax, and the values of their entries.

mod syntax;
mod values;

use std::path::Path;

use sledlab_core::{Error, Result};

use super::LIST;

pub use self::syntax::OpenFile;
pub(in crate::device) use self::syntax::{Block, KeyValue, Value, read};
pub(in crate::device) use self::values::{
    check_non_negative, count, number, scaled_number, text, whole_number, word,
};

/// The text of a device file, and remarks on parameters that could not be imported, one sentence each.
pub type ImportedFile = (String, Vec<String>);

/// How devices of one kind are read from a parameter file; both functions get the file's text and path.
#[derive(Clone, Copy, Debug)]
pub struct Importer {
    /// Type of the blocks that describe such devices.
    pub block: &'static str,
    /// Returns the names of all devices of the kind in the file and the files that it includes, in order.
    pub names: fn(&str, &Path, OpenFile) -> Result<Vec<String>>,
    /// Imports the device of a name, or the only one.
    pub import: fn(&str, &Path, Option<&str>, OpenFile) -> Result<ImportedFile>,
}

/// Name of a file, without its folders.
pub(in crate::device) fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// A device of `text`, a parameter file called `file`: that of the block called `name`, or the only one of the first
/// kind of device that the file describes. `open` reads further files that the text names.
///
/// # Errors
/// No such device, files that cannot be read, and entries that make no sense, with their place.
pub fn import(text: &str, file: &str, name: Option<&str>, open: OpenFile) -> Result<ImportedFile> {
    let (path, mut known) = (Path::new(file), Vec::new());
    for importer in LIST.iter().filter_map(|kind| kind.facts.importer) {
        let names = (importer.names)(text, path, open)?;
        if !names.is_empty() && name.is_none_or(|name| names.iter().any(|known| known == name)) {
            return (importer.import)(text, path, name, open);
        }
        known.extend(names);
    }
    if let (Some(name), false) = (name, known.is_empty()) {
        return Err(Error::unknown_name("device", name, known.iter().map(String::as_str)));
    }
    let blocks: Vec<String> = LIST
        .iter()
        .filter_map(|kind| kind.facts.importer)
        .map(|importer| format!("a `{}`", importer.block))
        .collect();
    Err(Error::user(format!("{file} does not describe a device"))
        .with_remedy(format!("import a file with {} block, or one that names it", blocks.join(" or "))))
}

/// Returns the block called `name` among the blocks of a kind in `file`, or the only one.
pub(in crate::device) fn choose<'a>(
    blocks: &'a [Block],
    kind: &str,
    file: &Path,
    name: Option<&str>,
) -> Result<&'a Block> {
    let names = || blocks.iter().map(|block| block.name.as_str());
    let Some(name) = name else {
        return match blocks {
            [block] => Ok(block),
            [] => Err(Error::user(format!("{} has no `{kind}` block", file.display()))
                .with_remedy("import the file that holds it, or one that names that file")),
            several => Err(Error::user(format!("{} describes {} devices", file.display(), several.len()))
                .with_remedy(format!("choose one with --name: {}", names().collect::<Vec<_>>().join(", ")))),
        };
    };
    let mut called = blocks.iter().filter(|block| block.name == name);
    match (called.next(), called.next()) {
        (Some(block), None) => Ok(block),
        (None, _) if blocks.is_empty() => choose(blocks, kind, file, None),
        (None, _) => Err(Error::unknown_name("device", name, names())),
        (Some(first), Some(second)) => {
            Err(Error::user(format!("{} describes two devices called `{name}`", file.display())).with_remedy(
                format!("rename one; they are on lines {} and {}", first.place.line, second.place.line),
            ))
        }
    }
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
        let message = |text: &str, name| import(text, "some/file.parv", name, &open).unwrap_err().to_string();
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
