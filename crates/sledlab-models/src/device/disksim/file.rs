//! A parameter file with the files that it includes, and the devices in them.

use std::path::{Path, PathBuf};

use sledlab_core::{Error, Result};

use super::syntax::{self, Block, OpenFile, TopLevelBlock, TopLevelBlocks};
use super::{Faults, LIST, decode};

/// The blocks of a parameter file and of the files that it includes.
pub struct ParameterFile<'a> {
    path: PathBuf,
    content: TopLevelBlocks,
    open: OpenFile<'a>,
}

impl<'a> ParameterFile<'a> {
    /// Reads a parameter file, the bytes `data`. `open` reads the files that it names.
    ///
    /// # Errors
    /// The bytes are no text. Other faults are reported when a device is imported.
    pub fn read(data: &[u8], path: &Path, open: OpenFile<'a>) -> Result<Self> {
        let text = decode(data, path)?;
        let mut kinds = vec![syntax::BUS];
        kinds.extend(LIST.iter().filter_map(|kind| kind.facts.importer).map(|importer| importer.block));
        let content = syntax::read(&text, path, &kinds, open);
        Ok(ParameterFile { path: path.to_owned(), content, open })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file that the file names.
    pub(in crate::device) fn open(&self) -> OpenFile<'a> {
        self.open
    }

    /// The names of the devices in blocks of a kind, in order.
    pub fn names(&self, kind: &str) -> Vec<&str> {
        self.of_kind(kind).iter().map(|top_level| top_level.block.name.as_str()).collect()
    }

    /// Checks the syntax outside the devices.
    ///
    /// # Errors
    /// Faults, and included files that cannot be read.
    pub fn check_syntax(&self) -> Result<()> {
        let mut faults = self.content.faults.clone();
        faults.extend(&self.content.unread_files);
        faults.into_result(&self.path)
    }

    fn of_kind(&self, kind: &str) -> Vec<&TopLevelBlock> {
        self.content.blocks.iter().filter(|top_level| top_level.block.kind == kind).collect()
    }

    /// Returns the block of a kind called `name`, or the only one, and the faults of its syntax.
    pub(in crate::device) fn device(&self, kind: &str, name: Option<&str>) -> Result<(&Block, Faults)> {
        let device = self.choose(kind, name)?;
        let mut faults = self.content.faults.clone();
        faults.extend(&device.faults);
        Ok((&device.block, faults))
    }

    fn choose(&self, kind: &str, name: Option<&str>) -> Result<&TopLevelBlock> {
        let (file, names) = (self.path.display(), self.names(kind));
        let mut candidates = self
            .of_kind(kind)
            .into_iter()
            .filter(|top_level| name.is_none_or(|name| top_level.block.name == name));
        match (candidates.next(), candidates.next(), name) {
            (Some(top_level), None, _) => Ok(top_level),
            (None, _, Some(name)) if !names.is_empty() => Err(Error::unknown_name("device", name, names)),
            (None, ..) => {
                self.check_syntax()?;
                Err(Error::user(format!("{file} has no `{kind}` block"))
                    .with_remedy("import the file that holds it, or one that names that file"))
            }
            (Some(first), Some(second), Some(name)) => {
                let lines = [first, second].map(|top_level| top_level.block.place.line);
                Err(Error::user(format!("{file} describes two devices called `{name}`"))
                    .with_remedy(format!("rename one; they are on lines {} and {}", lines[0], lines[1])))
            }
            (Some(_), Some(_), None) => Err(Error::user(format!("{file} describes {} devices", names.len()))
                .with_remedy(format!("choose one with --name: {}", names.join(", ")))),
        }
    }

    /// Returns the buses of the file. Included files that may contain buses must be readable.
    pub(in crate::device) fn buses(&self, faults: &mut Faults) -> Vec<&Block> {
        faults.extend(&self.content.unread_files);
        let buses = self.of_kind(syntax::BUS);
        for bus in &buses {
            faults.extend(&bus.faults);
        }
        buses.into_iter().map(|bus| &bus.block).collect()
    }
}
