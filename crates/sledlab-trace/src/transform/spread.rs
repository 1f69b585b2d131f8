//! Distributes requests with equal arrivals, whose times have a coarse resolution.

use sledlab_core::{Error, Request, Result, Source, Time};

use crate::stream_end::StreamEnd;

/// Requests with equal arrivals, distributed evenly over the resolution of the times: of n requests at t, request k
/// arrives at t + k / n times the resolution.
///
/// Memory grows with the number of requests at one time.
pub struct Spread<S> {
    source: S,
    resolution_ns: u64,
    /// Requests of the present time, and those read after them.
    buffered: Vec<Request>,
    is_drained: bool,
    last_arrival: Time,
    stream_end: StreamEnd,
}

impl<S: Source> Spread<S> {
    /// Distributes the requests of `source` over `resolution_s` seconds.
    ///
    /// # Errors
    /// The resolution is not positive, or above an hour.
    pub fn new(source: S, resolution_s: f64) -> Result<Self> {
        if !(resolution_s > 0.0 && resolution_s <= 3600.0) {
            return Err(Error::user(format!("times cannot be distributed over {resolution_s} s"))
                .with_remedy(
                    "choose the resolution of the times in the trace, such as 1 for whole seconds",
                ));
        }
        let resolution_ns = (resolution_s * 1e9).round() as u64;
        let stream_end = StreamEnd::default();
        Ok(Spread {
            source,
            resolution_ns,
            buffered: Vec::new(),
            is_drained: false,
            last_arrival: Time::ZERO,
            stream_end,
        })
    }

    /// Moves the requests of the first buffered time, once all of them have been read, to `into`.
    fn read_chunk(&mut self, requests: &mut Vec<Request>) -> Result<()> {
        let count = loop {
            let Some(first_arrival) = self.buffered.first().map(|request| request.arrival) else {
                if self.is_drained || self.source.fill(&mut self.buffered)? == 0 {
                    return Ok(());
                }
                continue;
            };
            let count = self.buffered.iter().position(|request| request.arrival != first_arrival);
            match count {
                Some(count) => break count,
                None if self.is_drained => break self.buffered.len(),
                None => self.is_drained = self.source.fill(&mut self.buffered)? == 0,
            }
        };
        for (number, mut request) in self.buffered.drain(..count).enumerate() {
            let shift_ns = u128::from(self.resolution_ns) * number as u128 / count as u128;
            let arrival = Time::from_ns(request.arrival.as_ns().saturating_add(shift_ns as u64));
            // Times finer than the resolution stay in order.
            self.last_arrival = self.last_arrival.max(arrival);
            request.arrival = self.last_arrival;
            requests.push(request);
        }
        Ok(())
    }
}

impl<S: Source> Source for Spread<S> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let old_len = requests.len();
        let mut outcome = Ok(());
        while outcome.is_ok() && requests.len() < old_len + crate::lines::CHUNK {
            let count = requests.len();
            outcome = self.read_chunk(requests);
            if requests.len() == count {
                break;
            }
        }
        self.stream_end.close(requests.len() - old_len, outcome)
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
