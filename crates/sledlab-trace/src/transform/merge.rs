//! Several traces as one, in order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sledlab_core::hash::Map;
use sledlab_core::{Request, Result, Source, Time};

use super::device::{NameNumbers, too_many_devices_error};
use crate::continuation::Continuation;
use crate::lines::CHUNK;
use crate::stream_end::StreamEnd;

/// The requests of several sources in order of arrival; of requests with equal arrivals, that of the source named first
/// comes first.
///
/// Devices are numbered anew, from 0 in order of appearance, so that devices of different sources stay different,
/// unless [`Merge::join_devices`] declares those with equal names the same.
pub struct Merge<S> {
    streams: Vec<Stream<S>>,
    /// Streams with a buffered request, by its arrival.
    ready: BinaryHeap<Reverse<(Time, usize)>>,
    /// Streams whose next request has yet to be read.
    unread_streams: Vec<usize>,
    /// The names of the devices of each source.
    names: Vec<Continuation>,
    /// The names of the devices of the merged trace.
    merged_names: Continuation,
    /// Numbers by name, if devices with equal names are the same.
    numbers_by_name: Option<NameNumbers>,
    devices: Map<(usize, u16), u16>,
    stream_end: StreamEnd,
}

struct Stream<S> {
    source: S,
    chunk: Vec<Request>,
    next: usize,
    /// The device of the last request, and its number in the merged trace.
    last_device: Option<(u16, u16)>,
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
    /// Merges sources, each with the names of its devices; `merged_names` receives those of the merged trace.
    pub fn new(sources: impl IntoIterator<Item = (S, Continuation)>, merged_names: Continuation) -> Self {
        let stream = |source| Stream { source, chunk: Vec::new(), next: 0, last_device: None };
        let (streams, names): (Vec<Stream<S>>, Vec<Continuation>) =
            sources.into_iter().map(|(source, names)| (stream(source), names)).unzip();
        Merge {
            names,
            merged_names,
            unread_streams: (0..streams.len()).rev().collect(),
            streams,
            ready: BinaryHeap::new(),
            numbers_by_name: None,
            devices: Map::default(),
            stream_end: StreamEnd::default(),
        }
    }

    /// Makes devices with equal names in different sources the same device.
    #[must_use]
    pub fn join_devices(mut self) -> Self {
        self.numbers_by_name = Some(NameNumbers::default());
        self
    }

    fn next(&mut self) -> Result<Option<Request>> {
        while let Some(index) = self.unread_streams.pop() {
            if let Some(request) = self.streams[index].peek()? {
                self.ready.push(Reverse((request.arrival, index)));
            }
        }
        let Some(Reverse((_, index))) = self.ready.pop() else { return Ok(None) };
        let Some(mut request) = self.streams[index].peek()? else { return Ok(None) };
        self.streams[index].next += 1;
        self.unread_streams.push(index);
        request.device = match self.streams[index].last_device {
            Some((device, number)) if device == request.device => number,
            _ => self.number(index, request.device)?,
        };
        Ok(Some(request))
    }

    fn number(&mut self, index: usize, device: u16) -> Result<u16> {
        let number = match self.devices.get(&(index, device)) {
            Some(number) => *number,
            None => self.add_device(index, device)?,
        };
        self.streams[index].last_device = Some((device, number));
        Ok(number)
    }

    #[cold]
    fn add_device(&mut self, index: usize, device: u16) -> Result<u16> {
        let name = self.names[index].name(device);
        let number = match &mut self.numbers_by_name {
            Some(numbers) => numbers.number(&name),
            None => u16::try_from(self.devices.len()).ok(),
        };
        let number = number.ok_or_else(too_many_devices_error)?;
        if self.numbers_by_name.is_some() || self.streams.len() == 1 {
            self.merged_names.set_name(number, &name);
        } else {
            // Devices of different sources may have equal names.
            let distinct_name = format!("{}:{}", index + 1, String::from_utf8_lossy(&name));
            self.merged_names.set_name(number, distinct_name.as_bytes());
        }
        self.devices.insert((index, device), number);
        Ok(number)
    }
}

impl<S: Source> Source for Merge<S> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let old_len = requests.len();
        let mut outcome = Ok(());
        while requests.len() < old_len + CHUNK {
            match self.next() {
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
        let shares: Option<Vec<f64>> = self.streams.iter().map(|stream| stream.source.progress()).collect();
        shares
            .filter(|shares| !shares.is_empty())
            .map(|shares| shares.iter().sum::<f64>() / shares.len() as f64)
    }
}
