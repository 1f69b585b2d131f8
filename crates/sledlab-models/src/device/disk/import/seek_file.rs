//! Files of measured seek times: a first line with their number, then on every line a distance in cylinders, a time in
//! ms, and in files of `DIXtrac` the standard deviation of the measured times.

use std::path::Path;

use sledlab_core::{Error, Result};

use crate::device::disksim::{Faults, KeyValue, OpenFile, decode, file_name, word};

/// The seek times in the file that `entry` names, those without faults. DiskSim ignores deviations as well.
pub(super) fn read(
    entry: &KeyValue,
    open: OpenFile,
    faults: &mut Faults,
    remarks: &mut Vec<String>,
) -> Vec<(u64, f64)> {
    let opening = open_text(entry, open).map_err(|error| entry.error(error));
    let Some((file, text)) = faults.check(opening) else { return Vec::new() };
    let (mut points, mut lines, mut declared_count) = (Vec::new(), 0_usize, None);
    let mut has_deviations = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let locate = |error: Error| error.with_location(file.as_str(), number, 0, line.as_bytes());
        if let (None, Some(count)) = (declared_count, line.strip_prefix("Seek distances measured:")) {
            declared_count = faults.check(count.trim().parse::<usize>().map_err(|_| {
                locate(
                    Error::user("expected the number of seek times")
                        .with_remedy("it is the number of lines to come"),
                )
            }));
            continue;
        }
        lines += 1;
        if let Some((distance, ms, deviation)) = faults.check(parse_line(line).map_err(locate)) {
            points.push((distance, ms));
            has_deviations |= deviation.is_some();
        }
    }
    if let Some(declared_count) = declared_count.filter(|declared_count| *declared_count != lines) {
        let message = format!("the file declares {declared_count} seek times but contains {lines}");
        let error = Error::user(message).with_remedy("correct the number, unless the file is cut off");
        faults.add(error.with_location(file.as_str(), 0, 0, b""));
    }
    if has_deviations {
        let name = file_name(Path::new(&file));
        remarks.push(format!(
            "The third column of {name}, the deviation of the measured times, is ignored, as in DiskSim: seeks over \
             the same distance take the same time."
        ));
    }
    points
}

/// Path and text of the file that `entry` names.
fn open_text(entry: &KeyValue, open: OpenFile) -> Result<(String, String)> {
    let path = entry.place.file.parent().unwrap_or(Path::new("")).join(word(entry)?);
    let file = path.display().to_string();
    let data = open(&path).map_err(|error| {
        Error::user(format!("cannot read the seek times in {file}: {error}"))
            .with_remedy("put the file in the directory of the file that names it")
    })?;
    Ok((file, decode(&data, &path)?.into_owned()))
}

/// Distance, time and deviation on a line.
fn parse_line(line: &str) -> Result<(u64, f64, Option<f64>)> {
    let mut fields = line.split(',').map(str::trim);
    let distance = fields.next().and_then(|field| field.parse::<u64>().ok());
    let ms = fields.next().and_then(|field| field.parse::<f64>().ok());
    let deviation = fields.next().map(str::parse::<f64>).transpose().ok();
    match (distance, ms, deviation, fields.next()) {
        (Some(distance @ 1..=1_000_000), Some(ms @ 0.0..=1e4), Some(deviation), None)
            if deviation.is_none_or(|ms| ms >= 0.0) =>
        {
            Ok((distance, ms, deviation))
        }
        _ => Err(Error::user("expected a distance in cylinders and a time in ms, optionally its deviation")
            .with_remedy("such as `12, 1.515` or `12, 1.515, 0.021`")),
    }
}
