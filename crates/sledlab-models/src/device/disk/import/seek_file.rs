//! Files of measured seek times: a first line with their number, then on every line a distance in cylinders and a
//! time in ms.

use sledlab_core::{Error, Result};

use crate::device::disksim::{KeyValue, OpenFile, word};

/// The seek times in the file that `entry` names.
pub(super) fn read(entry: &KeyValue, open: OpenFile) -> Result<Vec<(u64, f64)>> {
    let name = word(entry)?;
    let path = entry.place.file.parent().unwrap_or(std::path::Path::new("")).join(name);
    let shown = path.display().to_string();
    let text = open(&path).map_err(|error| {
        Error::user(format!("cannot read the seek times in {shown}: {error}"))
            .with_remedy("put the file in the directory of the file that names it")
    })?;
    let mut points = Vec::new();
    let mut declared = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let at = |error: Error| error.with_location(shown.as_str(), number, 0, line.as_bytes());
        if let (None, Some(count)) = (declared, line.strip_prefix("Seek distances measured:")) {
            declared = Some(count.trim().parse::<usize>().map_err(|_| {
                at(Error::user("expected the number of seek times")
                    .with_remedy("it is the number of lines to come"))
            })?);
            continue;
        }
        let parse = || {
            let (distance, ms) = line.split_once(',')?;
            let point = (distance.trim().parse::<u64>().ok()?, ms.trim().parse::<f64>().ok()?);
            ((1..=1_000_000).contains(&point.0) && (0.0..=1e4).contains(&point.1)).then_some(point)
        };
        points.push(parse().ok_or_else(|| {
            at(Error::user("expected a distance in cylinders and a time in ms")
                .with_remedy("such as `12, 1.515`"))
        })?);
    }
    match declared {
        Some(declared) if declared != points.len() => {
            Err(Error::user(format!("{shown} declares {declared} seek times but contains {}", points.len()))
                .with_remedy("the file may be cut off"))
        }
        _ => Ok(points),
    }
}
