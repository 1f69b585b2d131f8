//! Notes: what a reader omitted, or what a user should know about a trace that can be read.

use sledlab_core::Time;

/// Requests in a first look at the resolution of arrival times.
const MIN_REQUESTS: usize = 16;

/// Something that a user should know about a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Requests of length 0, which were omitted.
    EmptyRequests,
    /// Header lines after the first request.
    RepeatedHeaders,
    /// Lines `wait` in version 3 of fio's iolog, which has timestamps.
    IgnoredWaits,
    /// `blkparse` text without events Q: events D (issued to the driver) are the requests.
    IssueEvents,
    /// A format that does not state the direction of requests: all are reads.
    AllReads,
    /// The first request is more than a year after the zero of the trace's clock.
    LateStart,
    /// Requests that share arrival times in whole seconds.
    WholeSeconds,
}

impl Note {
    /// The note as a sentence. `count` is the number of requests or lines that were omitted.
    pub fn sentence(self, count: u64) -> String {
        let requests = if count == 1 { "request" } else { "requests" };
        let lines = if count == 1 { "line" } else { "lines" };
        match self {
            Note::EmptyRequests => format!("omitted {count} {requests} of length 0"),
            Note::RepeatedHeaders => format!("omitted {count} repeated header {lines}"),
            Note::IgnoredWaits => {
                format!("omitted {count} {lines} `wait`: version 3 of fio's iolog has timestamps")
            }
            Note::IssueEvents => {
                "the requests are the events D (issued to the driver): the recording begins without events Q"
                    .to_owned()
            }
            Note::AllReads => {
                "the format does not distinguish reads and writes: all requests are reads".to_owned()
            }
            Note::LateStart => {
                "the times look like dates: the first request is more than a year after 0; arrivals \
                                count from it, unless `trace.start` is `zero`"
                    .to_owned()
            }
            Note::WholeSeconds => "many requests share times in whole seconds, as if they arrived together: \
                                   `--spread 1` distributes them evenly over the second"
                .to_owned(),
        }
    }
}

/// Whether arrivals are bunched at whole seconds: all are whole seconds, and most share one with another.
pub(crate) fn are_in_whole_seconds(arrivals: impl Iterator<Item = Time>) -> bool {
    let (mut requests, mut instants, mut last_arrival) = (0_usize, 0_usize, None);
    for arrival in arrivals {
        if !arrival.as_ns().is_multiple_of(1_000_000_000) {
            return false;
        }
        requests += 1;
        instants += usize::from(last_arrival.replace(arrival) != Some(arrival));
    }
    // A single instant is a burst: there is no evidence for a clock that ticks once in a second.
    requests >= MIN_REQUESTS && instants >= 2 && 2 * instants <= requests
}
