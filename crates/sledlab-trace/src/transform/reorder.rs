//! Sorts a nearly sorted stream by arrival time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sledlab_core::{Error, Request, Result, Source, Time};

use crate::arrivals::{MAX_ARRIVAL_NS, early_arrival_error, late_arrival_error};
use crate::continuation::Continuation;
use crate::lines::CHUNK;
use crate::stream_end::StreamEnd;

/// The requests of an inner stream in order of arrival. In the inner stream no request may stand more than `window`
/// places after one that arrives later. Memory is `window` requests. Requests with equal arrivals keep their order.
pub struct Reorder<S> {
    inner: S,
    window: usize,
    /// Buffered requests, earliest arrival first; the number is the position in the inner stream.
    buffered: BinaryHeap<Reverse<(Time, u64, HeapRequest)>>,
    read_count: u64,
    chunk: Vec<Request>,
    next: usize,
    is_drained: bool,
    /// If set, arrivals count from the first request, or from that of the trace which this trace continues.
    continuation: Option<Continuation>,
    base_ns: Option<u64>,
    last_arrival: Time,
    stream_end: StreamEnd,
}

/// A request that takes no part in comparisons: arrival and number decide before it.
#[derive(Clone, Copy, Debug)]
struct HeapRequest(Request);

impl PartialEq for HeapRequest {
    fn eq(&self, _: &HeapRequest) -> bool {
        true
    }
}
impl Eq for HeapRequest {}
impl PartialOrd for HeapRequest {
    fn partial_cmp(&self, other: &HeapRequest) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for HeapRequest {
    fn cmp(&self, _: &HeapRequest) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl<S: Source> Reorder<S> {
    /// Sorts the requests of `inner`.
    pub fn new(inner: S, window: usize) -> Self {
        Reorder {
            inner,
            window: window.max(1),
            buffered: BinaryHeap::new(),
            read_count: 0,
            chunk: Vec::new(),
            next: 0,
            is_drained: false,
            continuation: None,
            base_ns: None,
            last_arrival: Time::ZERO,
            stream_end: StreamEnd::default(),
        }
    }

    /// Counts arrivals from the first request, or from that of the trace which this one continues.
    #[must_use]
    pub fn from_first_arrival(mut self, continuation: Continuation) -> Self {
        self.continuation = Some(continuation);
        self
    }

    /// Reads until `window` requests are buffered in addition to the next one to return.
    fn fill_buffer(&mut self) -> Result<()> {
        while !self.is_drained && self.buffered.len() <= self.window {
            if self.next == self.chunk.len() {
                self.chunk.clear();
                self.next = 0;
                if self.inner.fill(&mut self.chunk)? == 0 {
                    self.is_drained = true;
                    return Ok(());
                }
            }
            let request = self.chunk[self.next];
            self.next += 1;
            self.buffered.push(Reverse((request.arrival, self.read_count, HeapRequest(request))));
            self.read_count += 1;
        }
        Ok(())
    }

    fn next_request(&mut self) -> Result<Option<Request>> {
        let Some(Reverse((arrival, number, HeapRequest(mut request)))) = self.buffered.pop() else {
            return Ok(None);
        };
        if arrival < self.last_arrival {
            let lateness_ms = self.last_arrival.since(arrival).as_ms();
            let window = self.window;
            return Err(Error::user(format!(
                "request {number} arrives {lateness_ms} ms before one {window} places above it"
            ))
            .with_remedy(format!("sort with a longer window than {window} requests, or sort the file")));
        }
        self.last_arrival = arrival;
        if let Some(continuation) = &self.continuation {
            let base_ns = *self.base_ns.get_or_insert_with(|| continuation.begin(arrival.as_ns()));
            let since_ns = arrival
                .as_ns()
                .checked_sub(base_ns)
                .ok_or_else(|| early_arrival_error(base_ns - arrival.as_ns()))?;
            if since_ns > MAX_ARRIVAL_NS {
                return Err(late_arrival_error());
            }
            request.arrival = Time::from_ns(since_ns);
        }
        Ok(Some(request))
    }
}

impl<S: Source> Source for Reorder<S> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let old_len = requests.len();
        let mut outcome = Ok(());
        while requests.len() < old_len + CHUNK {
            match self.fill_buffer().and_then(|()| self.next_request()) {
                Ok(Some(request)) => requests.push(request),
                Ok(None) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        self.stream_end.close(requests.len() - old_len, outcome)
    }

    fn progress(&self) -> Option<f64> {
        self.inner.progress()
    }
}
