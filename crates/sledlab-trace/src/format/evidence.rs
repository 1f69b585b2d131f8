//! Evidence for the format of a trace whose shape fits several: what the first requests would mean in each.

use sledlab_core::{Error, Request, Result};

use super::{Format, Head, LIST};
use crate::arrivals::Clock;
use crate::fields::{Fault, Line};
use crate::lines::LineParser;

/// Longest mean time between arrivals that is plausible, in ns: a thousand seconds.
const MAX_MEAN_GAP_NS: u64 = 1_000_000_000_000;

/// Shortest mean time between arrivals that is plausible, in ns.
const MIN_MEAN_GAP_NS: u64 = 1_000;

/// If bytes are taken for blocks, all lengths are multiples of this number of blocks: pages have 4096 bytes.
const PAGE_BYTES: u32 = 4096;

/// Requests from which it is absurd that each is for another device.
const MIN_DEVICES: usize = 4;

/// Times since 1970 from 2000 to 2100, in ns.
const DATES_NS: std::ops::Range<u64> = 946_684_800_000_000_000..4_102_444_800_000_000_000;

/// The requests on the first lines of a trace, as a format reads them; arrivals are the times of the file.
#[derive(Debug, Default)]
pub struct HeadReading {
    requests: Vec<Request>,
    /// Lines that the format refuses.
    refused_lines: usize,
}

impl HeadReading {
    /// Reads the first lines.
    pub(super) fn new(parser: &mut impl LineParser, head: &Head) -> Self {
        let mut reading = HeadReading::default();
        for text in head.lines() {
            match parser.parse(Line { text, run: text }) {
                Ok(Some(request)) => reading.requests.push(request),
                Ok(None) | Err(Fault::EmptyRequest) => {}
                Err(Fault::Error(_)) if parser.is_header(text) => {}
                Err(Fault::Error(_)) => reading.refused_lines += 1,
            }
        }
        reading
    }

    /// Mean time between arrivals, in ns.
    fn mean_gap_ns(&self) -> Option<u64> {
        let times = || self.requests.iter().map(|request| request.arrival.as_ns());
        let span = times().max()? - times().min()?;
        (self.requests.len() > 1).then(|| span / (self.requests.len() as u64 - 1))
    }

    /// Whether times are dates of this century, which no other number of a trace resembles.
    fn has_dates(&self, clock: Clock) -> bool {
        clock == Clock::Unix
            && self.requests.iter().all(|request| DATES_NS.contains(&request.arrival.as_ns()))
    }

    /// What the requests would mean, where that is absurd.
    fn absurdity(&self, clock: Clock) -> Option<String> {
        let count = self.requests.len();
        if count < 2 {
            return None;
        }
        if let Some(gap_ns) = self.mean_gap_ns().filter(|gap_ns| *gap_ns > MAX_MEAN_GAP_NS) {
            return Some(format!("requests would arrive {} s apart on average", gap_ns / 1_000_000_000));
        }
        let mut media = self.requests.iter().filter(|request| request.op.is_media()).peekable();
        if media.peek().is_some() && media.all(|request| request.blocks.is_multiple_of(PAGE_BYTES)) {
            return Some("all lengths would be multiples of 2 MiB".to_owned());
        }
        let mut devices: Vec<u16> = self.requests.iter().map(|request| request.device).collect();
        devices.sort_unstable();
        devices.dedup();
        (count >= MIN_DEVICES && devices.len() == count && !self.has_dates(clock))
            .then(|| format!("each of {count} requests would be for another device"))
    }

    /// Whether another format that fits is more likely.
    fn is_doubtful(&self, clock: Clock) -> bool {
        if self.absurdity(clock).is_some() || 4 * self.refused_lines > self.requests.len() {
            return true;
        }
        if self.has_dates(clock) {
            return false;
        }
        let decreasing_count =
            self.requests.windows(2).filter(|pair| pair[1].arrival < pair[0].arrival).count();
        self.mean_gap_ns().is_some_and(|gap_ns| gap_ns < MIN_MEAN_GAP_NS)
            || 4 * decreasing_count > self.requests.len()
    }
}

/// The format of a trace with this beginning; `None` if none fits.
///
/// # Errors
/// The beginning fits several formats equally well, or a single one that would make it absurd.
pub(super) fn choose(head: &Head) -> Result<Option<&'static dyn Format>> {
    let matching = LIST.iter().copied().filter(|format| format.matches_head(head));
    let readings: Vec<(&'static dyn Format, Option<HeadReading>)> =
        matching.map(|format| (format, format.read_head(head))).collect();
    if let [(format, reading)] = &readings[..] {
        let absurdity = reading.as_ref().and_then(|reading| reading.absurdity(format.clock()));
        return absurdity.map_or(Ok(Some(*format)), |absurdity| Err(absurd_error(*format, &absurdity)));
    }
    let is_likely = |(format, reading): &&(&'static dyn Format, Option<HeadReading>)| {
        reading.as_ref().is_none_or(|reading| !reading.is_doubtful(format.clock()))
    };
    let likely: Vec<_> = readings.iter().filter(is_likely).collect();
    // The formats of one shape read a single request as the same: its time becomes 0.
    let has_one_request = |(_, reading): &&(&'static dyn Format, Option<HeadReading>)| {
        reading.as_ref().is_some_and(|reading| reading.requests.len() < 2)
    };
    match &likely[..] {
        [(format, _)] => Ok(Some(*format)),
        [(format, _), ..] if likely.iter().all(has_one_request) => Ok(Some(*format)),
        [] if readings.is_empty() => Ok(None),
        [] => Err(ambiguous_error(readings.iter().map(|(format, _)| *format))),
        formats => Err(ambiguous_error(formats.iter().map(|(format, _)| *format))),
    }
}

fn absurd_error(format: &dyn Format, absurdity: &str) -> Error {
    let name = format.name();
    Error::user(format!("the lines have the shape of `{name}`, but then {absurdity}")).with_remedy(format!(
        "set `--format {name}` if that is right ({}), or state the meaning of the columns with `--columns`",
        format.description()
    ))
}

fn ambiguous_error(formats: impl Iterator<Item = &'static dyn Format>) -> Error {
    let (names, meanings): (Vec<String>, Vec<String>) = formats
        .map(|format| {
            let (name, description) = (format.name(), format.description());
            (format!("`{name}`"), format!("`--format {name}` ({description})"))
        })
        .unzip();
    Error::user(format!("the lines have the shape of {}", names.join(" and of ")))
        .with_remedy(format!("set the format: {}", meanings.join(", or ")))
}
