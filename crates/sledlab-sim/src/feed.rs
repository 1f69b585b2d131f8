//! The sequence of operations of a host and the times at which the host issues them.

use std::collections::VecDeque;

use sledlab_core::{Error, Request, Result, Source, Span, Time};
use sledlab_trace::Continuation;

use crate::replay::{Limits, Mode, Replay};

/// Latest arrival: 146 years. Times computed from it fit into the clock's range of 584 years.
const MAX_ARRIVAL: Time = Time::from_ns(1 << 62);

/// Maximum number of a trace's devices in an error message.
const MAX_LISTED_DEVICES: usize = 8;

/// A source as seen through a replay: the next operation, and when it is issued.
pub(crate) struct Feed<'a> {
    source: Box<dyn Source + 'a>,
    buffer: Vec<Request>,
    next_index: usize,
    issued_operations: u64,
    /// Reads and writes issued, and those in the buffer.
    requests: u64,
    limits: Limits,
    speedup: f64,
    capacity_blocks: u64,
    /// In a closed replay, the times at which each free slot may issue, earliest first.
    slots: Option<VecDeque<Time>>,
    /// In a replay with recorded gaps, the recorded arrival of the last operation issued.
    recorded_arrival: Option<Time>,
    last_arrival: Time,
    /// The first device of the trace, to detect a second one.
    device: Option<u16>,
    /// Names of devices, for messages.
    devices: Continuation,
}

/// Inserts a time into a list of times in order.
#[cold]
fn insert_sorted(times: &mut VecDeque<Time>, time: Time) {
    times.insert(times.partition_point(|other| *other <= time), time);
}

impl<'a> Feed<'a> {
    /// Returns a feed of `source`, whose `devices` have names if the trace format has them.
    pub fn new(
        source: Box<dyn Source + 'a>,
        devices: Continuation,
        replay: &Replay,
        capacity_blocks: u64,
    ) -> Self {
        let slots = match replay.mode {
            Mode::Open => None,
            Mode::Gaps => Some(VecDeque::from([Time::ZERO])),
            Mode::Closed { outstanding, .. } => Some(VecDeque::from(vec![Time::ZERO; outstanding as usize])),
        };
        Feed {
            source,
            buffer: Vec::new(),
            next_index: 0,
            issued_operations: 0,
            requests: 0,
            limits: replay.limits,
            speedup: replay.speedup,
            capacity_blocks,
            slots,
            recorded_arrival: (replay.mode == Mode::Gaps).then_some(Time::ZERO),
            last_arrival: Time::ZERO,
            device: None,
            devices,
        }
    }

    /// Returns when the next operation is issued, without removing it. `None` at the end, and in a closed replay while
    /// no slot is free.
    #[inline]
    pub fn next_arrival(&mut self) -> Result<Option<Time>> {
        if self.next_index == self.buffer.len() && !self.refill()? {
            return Ok(None);
        }
        let at = match &self.slots {
            None => Some(self.buffer[self.next_index].arrival),
            Some(slots) => slots.front().map(|free_at| *free_at + self.recorded_gap()),
        };
        Ok(at.filter(|at| *at <= self.limits.until))
    }

    /// Removes the operation for which [`next_arrival`](Feed::next_arrival) returned `at`; also returns its number.
    #[inline]
    pub fn take(&mut self, at: Time) -> (u64, Request) {
        if let Some(slots) = &mut self.slots {
            slots.pop_front();
        }
        let recorded_request = self.buffer[self.next_index];
        if let Some(arrival) = &mut self.recorded_arrival {
            *arrival = recorded_request.arrival;
        }
        let request = Request { arrival: at, ..recorded_request };
        self.next_index += 1;
        self.issued_operations += 1;
        (self.issued_operations - 1, request)
    }

    /// Returns the recorded time between the last operation issued and the next; zero where slots decide alone.
    #[inline]
    fn recorded_gap(&self) -> Span {
        self.recorded_arrival
            .map_or(Span::ZERO, |arrival| self.buffer[self.next_index].arrival.since(arrival))
    }

    /// Adds a slot of a closed replay that is free from `at` on. Completions are in order, except for those of flushes,
    /// which may lie in the future, and the think time is constant.
    #[inline]
    pub fn free_slot(&mut self, at: Time) {
        let Some(slots) = &mut self.slots else { return };
        match slots.back() {
            Some(last_free_at) if *last_free_at > at => insert_sorted(slots, at),
            _ => slots.push_back(at),
        }
    }

    /// Returns the number of issued operations.
    pub fn issued_operations(&self) -> u64 {
        self.issued_operations
    }

    /// Returns the share of the replay that has been issued, if known.
    pub fn progress(&self) -> Option<f64> {
        let share = |count: u64, maximum: u64| (maximum < u64::MAX).then(|| count as f64 / maximum as f64);
        // Operations in the buffer may be of any kind: all count as requests here.
        let requests = self.requests.saturating_sub((self.buffer.len() - self.next_index) as u64);
        let shares =
            [share(self.issued_operations, self.limits.operations), share(requests, self.limits.requests)];
        let until = self.limits.until;
        let time_share = (until < Time::MAX).then(|| self.last_arrival.as_ns() as f64 / until.as_ns() as f64);
        shares.into_iter().chain([time_share, self.source.progress()]).flatten().reduce(f64::max)
    }

    /// Reads the next chunk, checks its requests, and scales their times; returns false at the end.
    #[cold]
    fn refill(&mut self) -> Result<bool> {
        let remaining_operations = self.limits.operations - self.issued_operations;
        if remaining_operations == 0 || self.requests == self.limits.requests {
            return Ok(false);
        }
        self.buffer.clear();
        self.next_index = 0;
        if self.source.fill(&mut self.buffer)? == 0 {
            return Ok(false);
        }
        self.buffer.truncate(usize::try_from(remaining_operations).unwrap_or(usize::MAX));
        self.truncate_at_limit();
        let is_scaled = self.speedup.to_bits() != 1.0_f64.to_bits();
        for (offset, request) in self.buffer.iter_mut().enumerate() {
            let number = self.issued_operations + offset as u64;
            if is_scaled {
                request.arrival =
                    Time::from_ns((request.arrival.as_ns() as f64 / self.speedup).round() as u64);
            }
            if request.arrival < self.last_arrival {
                return Err(unsorted_error(number, request.arrival, self.last_arrival));
            }
            self.last_arrival = request.arrival;
            check(number, request, self.capacity_blocks)?;
            if *self.device.get_or_insert(request.device) != request.device {
                return Err(several_devices_error(number, request.device, &self.devices));
            }
        }
        Ok(true)
    }

    /// Counts the requests in the buffer, and truncates it after the last one that the limit allows.
    fn truncate_at_limit(&mut self) {
        for (index, request) in self.buffer.iter().enumerate() {
            self.requests += u64::from(request.op.is_media());
            if self.requests == self.limits.requests {
                self.buffer.truncate(index + 1);
                return;
            }
        }
    }
}

/// Checks a request. Trace readers check requests, too, but a source may also be code of a user.
#[inline]
fn check(number: u64, request: &Request, capacity_blocks: u64) -> Result<()> {
    let end = request.lbn.saturating_add(u64::from(request.blocks));
    if request.arrival > MAX_ARRIVAL {
        return Err(late_arrival_error(number, request.arrival));
    }
    if request.op.is_media() && (end > capacity_blocks || request.blocks == 0) {
        return Err(invalid_range_error(number, request, capacity_blocks));
    }
    Ok(())
}

#[cold]
fn invalid_range_error(number: u64, request: &Request, capacity_blocks: u64) -> Error {
    if request.blocks == 0 {
        return Error::user(format!("request {number} has a length of 0 blocks"))
            .with_remedy("remove it, or give it a length");
    }
    let first = request.lbn;
    let last = first.saturating_add(u64::from(request.blocks) - 1);
    Error::user(format!(
        "request {number} (blocks {first} to {last}) lies outside the device, which has {capacity_blocks} blocks"
    ))
    .with_remedy("choose --outside wrap, clip or scale, or a larger device")
}

#[cold]
fn late_arrival_error(number: u64, arrival: Time) -> Error {
    Error::user(format!(
        "request {number} arrives at {arrival}, past the latest time a run can reach ({MAX_ARRIVAL})"
    ))
    .with_remedy("check the unit of the times, or subtract the start with `sledlab trace slice --from`")
}

#[cold]
fn unsorted_error(number: u64, arrival: Time, last: Time) -> Error {
    Error::user(format!("request {number} arrives at {arrival}, before its predecessor at {last}"))
        .with_remedy("sort the requests by arrival time")
}

#[cold]
fn several_devices_error(number: u64, device: u16, devices: &Continuation) -> Error {
    let names = devices.names();
    let listed_names: Vec<String> = names
        .iter()
        .take(MAX_LISTED_DEVICES)
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    let ellipsis = if names.len() > MAX_LISTED_DEVICES { ", ..." } else { "" };
    let message = if names.is_empty() {
        format!("the trace has several devices: request {number} is for device {device}")
    } else {
        format!("the trace has several devices: {}{ellipsis}", listed_names.join(", "))
    };
    Error::user(message).with_remedy(
        "choose one with `sledlab trace slice FILE OUT --device NAME` (`sledlab trace info FILE` lists all), place \
         them one after another with --set trace.devices=place, or overlay them with --set trace.devices=overlay",
    )
}
