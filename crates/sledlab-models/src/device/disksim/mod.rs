//! The parameter files of DiskSim 4.0, whatever device they describe: their syntax, and what their entries hold.

mod syntax;
mod values;

use std::path::Path;

use sledlab_core::{Error, Result};

pub use self::syntax::Open;
pub(in crate::device) use self::syntax::{Block, Entry, Value, read};
pub(in crate::device) use self::values::{count, not_negative, number, scaled, text, whole, word};

/// Of the blocks of a kind in `file`, the one called `name`, or the only one.
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
                .with_remedy(format!("choose one by name: {}", names().collect::<Vec<_>>().join(", ")))),
        };
    };
    let mut called = blocks.iter().filter(|block| block.name == name);
    match (called.next(), called.next()) {
        (Some(block), None) => Ok(block),
        (None, _) if blocks.is_empty() => choose(blocks, kind, file, None),
        (None, _) => Err(Error::unknown("device", name, names())),
        (Some(first), Some(second)) => {
            Err(Error::user(format!("{} describes two devices called `{name}`", file.display())).with_remedy(
                format!("rename one; they are on lines {} and {}", first.place.line, second.place.line),
            ))
        }
    }
}

/// Without the control characters that a comment may not hold.
pub(in crate::device) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
