//! How the times of a trace become arrivals, for traces of all kinds.

use sledlab_core::{Error, Request, Result, Source, Time};

use crate::arrivals::{Clock, MAX_ARRIVAL_NS, TraceArrivals, TraceStart};
use crate::continuation::Continuation;
use crate::notes::{Note, are_in_whole_seconds};
use crate::transform::{Reorder, Spread, TimeWindow, TransformedSource};

/// The part of a trace that is read, in seconds after time 0; arrivals then count from its start. By default all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowOptions {
    /// Start of the part.
    pub from_s: f64,
    /// End of the part, whose requests are not read any more; 0 for the end of the trace.
    pub until_s: f64,
}

impl WindowOptions {
    /// Returns the requests of a source in the window.
    ///
    /// # Errors
    /// The window ends before it starts, or a time is negative or above 285 years.
    fn apply(self, source: Box<dyn Source>) -> Result<Box<dyn Source>> {
        let WindowOptions { from_s, until_s } = self;
        if self == WindowOptions::default() {
            return Ok(source);
        }
        let is_time = |time_s: &f64| (0.0..=MAX_ARRIVAL_NS as f64 / 1e9).contains(time_s);
        if ![from_s, until_s].iter().all(is_time) || (until_s > 0.0 && until_s <= from_s) {
            return Err(Error::user(format!(
                "the window from {from_s} to {until_s} s of the trace is empty"
            ))
            .with_remedy(
                "choose `from_s`, 0 or more, and `until_s` after it, or 0 for the end of the trace",
            ));
        }
        let time = |time_s: f64| Time::from_ns((time_s * 1e9).round() as u64);
        let until = if until_s > 0.0 { time(until_s) } else { Time::MAX };
        Ok(Box::new(TransformedSource::new(
            source,
            TimeWindow { from: time(from_s), until, from_zero: true },
        )))
    }
}

/// How the times of a trace become arrivals. By default they count from the start of the trace and must be in order.
#[derive(Clone, Debug, Default)]
pub struct ArrivalOptions {
    /// The instant from which the times count.
    pub clock: Clock,
    /// The instant of the trace that becomes time 0.
    pub start: TraceStart,
    /// Sorts requests that are out of order by up to this many requests; 0 rejects a trace that is not in order.
    pub sort_window: usize,
    /// Resolution of the times in seconds, over which requests with equal times are distributed; `None` keeps times.
    pub spread_s: Option<f64>,
    /// The part of the trace that is read.
    pub window: WindowOptions,
    /// The clock and the notes that the trace shares with traces that it continues, or that continue it.
    pub continuation: Continuation,
}

impl ArrivalOptions {
    /// The arrivals that the reader of the trace makes of its times.
    pub(crate) fn arrivals(&self) -> TraceArrivals {
        let make_arrivals = if self.sort_window > 0 { TraceArrivals::unordered } else { TraceArrivals::new };
        make_arrivals(self.clock, self.start, self.continuation.clone())
    }

    /// The requests of a reader with these arrivals, in order, spread and in the window.
    ///
    /// # Errors
    /// The resolution of the times is not positive, or above an hour; the window is empty.
    pub(crate) fn apply(self, source: impl Source + 'static) -> Result<Box<dyn Source>> {
        let in_order: Box<dyn Source> = if self.sort_window == 0 {
            Box::new(source)
        } else {
            let reordered = Reorder::new(source, self.sort_window);
            if TraceArrivals::from_first_request(self.clock, self.start) {
                Box::new(reordered.from_first_arrival(self.continuation.clone()))
            } else {
                Box::new(reordered)
            }
        };
        self.window.apply(match self.spread_s {
            Some(spread_s) => Box::new(Spread::new(in_order, spread_s)?),
            None => Box::new(WatchedTimes { source: in_order, notes: Some(self.continuation) }),
        })
    }
}

/// Requests of which the first chunk shows whether their times are whole seconds, which is noted.
struct WatchedTimes {
    source: Box<dyn Source>,
    /// Takes the note; `None` after the first chunk.
    notes: Option<Continuation>,
}

impl Source for WatchedTimes {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        let old_len = requests.len();
        let count = self.source.fill(requests)?;
        if let Some(notes) = self.notes.take()
            && are_in_whole_seconds(requests[old_len..].iter().map(|request| request.arrival))
        {
            notes.add_note(Note::WholeSeconds, 1);
        }
        Ok(count)
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
