//! The header of a record, checked.

use serde_json::{Map, Value};

use super::File;
use super::budget::{Budget, add};
use super::counts::{MAX_NODES, Pairs, Sizes};
use super::fault::{Fault, ParseResult, object, quote};
use super::groups::Groups;
use super::lines::{Header, HeaderMarker};

/// The version of the format that is written and read.
pub(super) const VERSION: u64 = 1;

/// The contents of the header, checked.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) job: String,
    pub(super) parameters: Map<String, Value>,
    pub(super) seed: u64,
    pub(super) nodes: usize,
    pub(super) lines: Option<u64>,
    pub(super) files: Vec<File>,
    pub(super) groups: Groups,
    pub(super) answer: Option<String>,
}

impl Head {
    pub(super) fn read(line: &[u8], budget: &mut Budget) -> ParseResult<Head> {
        check_version(line)?;
        let header: Header = object(line)?;
        let nodes = usize::try_from(header.nodes.0).unwrap_or(usize::MAX);
        if !(1..=MAX_NODES).contains(&nodes) {
            return Err(Fault::new(
                format!("a record of {nodes} nodes"),
                format!("give 1 to {MAX_NODES} nodes"),
            ));
        }
        Ok(Head {
            job: header.job.0.into_owned(),
            parameters: header.parameters,
            seed: header.seed.map_or(0, |seed| seed.0),
            nodes,
            lines: header.lines.map(|lines| lines.0),
            files: files(header.files, nodes, budget)?,
            groups: Groups::resolve(&header.groups, nodes, budget)?,
            answer: header.answer.map(|answer| answer.0.into_owned()),
        })
    }
}

fn check_version(line: &[u8]) -> ParseResult<()> {
    const HEADER: &str =
        r#"the first line is a header, such as {"work": 1, "job": "scan", "nodes": 4, "files": {}}"#;
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(Fault::new("this is not a work record", HEADER).without_text());
    }
    match object::<HeaderMarker>(line)?.work {
        None => Err(Fault::new("the header is missing", HEADER)),
        Some(version) if version.as_u64() == Some(VERSION) => Ok(()),
        Some(other) => Err(Fault::new(
            format!("version {} of work records is not supported", quote(&other.to_string())),
            format!("this sledlab reads version {VERSION}: record the job again, or update sledlab"),
        )),
    }
}

fn files(declared: Pairs<Sizes>, nodes: usize, budget: &mut Budget) -> ParseResult<Vec<File>> {
    let mut files = Vec::with_capacity(declared.0.len());
    for (name, sizes) in declared.0 {
        budget.take::<u64>(nodes)?;
        let bytes = sizes.into_vec(nodes).map_err(|count| {
            Fault::new(
                format!("the file `{}` has {count} sizes for {nodes} nodes", name.0),
                "give one number for all, or one for each node",
            )
        })?;
        let mut sum = 0;
        let what = format!("the parts of the file `{}`", name.0);
        bytes.iter().try_for_each(|bytes| add(&mut sum, *bytes, &what))?;
        files.push(File { name: name.0.into_owned(), bytes });
    }
    Ok(files)
}
