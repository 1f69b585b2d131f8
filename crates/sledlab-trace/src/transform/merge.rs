//! Several traces as one, in order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sledlab_core::hash::Map;
use sledlab_core::{Error, Request, Result, Source, Time};

use crate::lines::CHUNK;
use crate::stream_end::StreamEnd;

/// The requests of several sources in order of arrival; of requests with equal arrivals, that of the source named first
/// comes first.
///
/// Devices are numbered anew, from 0 in order of appearance, so that equal numbers in different sources stay different
/// devices, unless [`Merge::keep_devices`] declares them the same.
pub struct Merge<S> {
    streams: Vec<Stream<S>>,
    /// Streams with a buffered request, by its arrival.
    ready: BinaryHeap<Reverse<(Time, usize)>>,
    /// Streams whose next request has yet to be read.
    due: Vec<usize>,
    renumber: bool,
    devices: Map<(usize, u16), u16>,
    stream_end: StreamEnd,
}

struct Stream<S> {
    source: S,
    chunk: Vec<Request>,
    next: usize,
}

impl<S: Source> Stream<S> {
    /// The stream's next request, without taking it.
    fn peek(&mut self) -> Result<Option<Request>> {
        if self.next == self.chunk.len() {
            self.chunk.clear();
            self.next = 0;
            if self.source.fill(&mut self.chunk)? == 0 {
                return Ok(None);
            }
        }
        Ok(self.chunk.get(self.next).copied())
    }
}

impl<S: Source> Merge<S> {
    /// Merges `sources`.
    pub fn new(sources: impl IntoIterator<Item = S>) -> Self {
        let stream = |source| Stream { source, chunk: Vec::new(), next: 0 };
        let streams: Vec<Stream<S>> = sources.into_iter().map(stream).collect();
        Merge {
            due: (0..streams.len()).rev().collect(),
            streams,
            ready: BinaryHeap::new(),
            renumber: true,
            devices: Map::default(),
            stream_end: StreamEnd::default(),
        }
    }

    /// Leaves the numbers of devices as they are.
    #[must_use]
    pub fn keep_devices(mut self) -> Self {
        self.renumber = false;
        self
    }

    fn next(&mut self) -> Result<Option<Request>> {
        while let Some(index) = self.due.pop() {
            if let Some(request) = self.streams[index].peek()? {
                self.ready.push(Reverse((request.arrival, index)));
            }
        }
        let Some(Reverse((_, index))) = self.ready.pop() else { return Ok(None) };
        let Some(mut request) = self.streams[index].peek()? else { return Ok(None) };
        self.streams[index].next += 1;
        self.due.push(index);
        if self.renumber {
            request.device = self.number(index, request.device)?;
        }
        Ok(Some(request))
    }

    fn number(&mut self, index: usize, device: u16) -> Result<u16> {
        if let Some(number) = self.devices.get(&(index, device)) {
            return Ok(*number);
        }
        let number = u16::try_from(self.devices.len()).map_err(|_| {
            Error::user(format!("the traces have more than {} devices together", usize::from(u16::MAX) + 1))
                .with_remedy("merge fewer traces")
        })?;
        self.devices.insert((index, device), number);
        Ok(number)
    }
}

impl<S: Source> Source for Merge<S> {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let before = into.len();
        let mut outcome = Ok(());
        while into.len() < before + CHUNK {
            match self.next() {
                Ok(Some(request)) => into.push(request),
                Ok(None) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        self.stream_end.close(into.len() - before, outcome)
    }

    fn progress(&self) -> Option<f64> {
        let shares: Option<Vec<f64>> = self.streams.iter().map(|stream| stream.source.progress()).collect();
        shares
            .filter(|shares| !shares.is_empty())
            .map(|shares| shares.iter().sum::<f64>() / shares.len() as f64)
    }
}
