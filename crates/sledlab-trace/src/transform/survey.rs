//! A first pass over a trace, which counts requests and finds the extent of each device.

use sledlab_core::{Request, Result, Source, Time};

/// Counts and extents of a trace, in constant memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Requests of all kinds.
    pub requests: u64,
    /// For each device, by number: the first block after its highest request; 0 where it has none.
    pub extents: Vec<u64>,
    /// Arrival of the last request.
    pub last_arrival: Time,
}

impl Survey {
    /// The first block after the highest request of any device.
    pub fn highest_end(&self) -> u64 {
        self.extents.iter().copied().max().unwrap_or(0)
    }

    fn take(&mut self, request: &Request) {
        let device = usize::from(request.device);
        if device >= self.extents.len() {
            self.extents.resize(device + 1, 0);
        }
        self.extents[device] = self.extents[device].max(request.end());
        self.last_arrival = request.arrival;
    }
}

/// Reads `source` to its end.
///
/// A trace from standard input cannot be read a second time: survey a file.
pub fn survey(source: &mut impl Source) -> Result<Survey> {
    survey_with_progress(source, &mut || Ok(()))
}

/// Like [`survey`]; `watch` is called before every chunk.
///
/// # Errors
/// The source's own, and what `watch` returns.
pub fn survey_with_progress(
    source: &mut impl Source,
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<Survey> {
    let mut survey = Survey::default();
    let mut chunk = Vec::new();
    while watch().and_then(|()| source.fill(&mut chunk))? > 0 {
        for request in &chunk {
            survey.take(request);
        }
        survey.requests += chunk.len() as u64;
        chunk.clear();
    }
    Ok(survey)
}
