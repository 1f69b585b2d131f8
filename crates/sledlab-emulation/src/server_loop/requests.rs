//! Handling of requests: arrival, submission to the model, and the reply when the model has completed the request.

use sledlab_core::{Result, Span, Time};
use sledlab_sim::Answer;

use super::{ProbeTiming, ServerState};
use crate::in_flight::{self, InFlightRequest};
use crate::record::recording::Record;
use crate::sockets::connection::{Connection, Reply, SendResult};
use crate::timing::lateness::Cause;
use crate::transport::nbd::{Command, Errno, NbdRequest};

/// Maximum extents in the reply to one query.
const MAX_EXTENTS: usize = 1 << 12;

impl ServerState {
    /// Accepts a request that has arrived completely, and was detected at `detected_at`; `store_result` is the result
    /// of storing the data of a write.
    pub(super) fn arrive(
        &mut self,
        slot: usize,
        request: NbdRequest,
        store_result: Result<(), Errno>,
        detected_at: u64,
    ) -> Result<()> {
        self.status_updates.due = true;
        self.stalls.arrivals += u64::from(self.is_after_stall);
        let start = self.clock.now();
        let operation = in_flight::operation(&request).filter(|_| self.model.is_some());
        let Some(operation) = operation else {
            self.answer_immediately(slot, &request, store_result);
            self.answered_at = self.is_untimed.then_some(start);
            return Ok(());
        };
        let reply = store_result.and_then(|()| self.prepare(slot, &request));
        self.recent_stalls.record_data(start, self.clock.now());
        let Some(connection) = self.connections.get_mut(slot) else { return Ok(()) };
        let (reply, previous_data) = match reply {
            Ok(reply_and_previous) => reply_and_previous,
            Err(errno) => {
                self.counts.errors += 1;
                connection
                    .answer(|replies, out| replies.encode_error(out, &request, errno, error_message(errno)));
                return Ok(());
            }
        };
        connection.begin_request(in_flight::data_bytes(&request));
        let flight = InFlightRequest {
            slot,
            connection: connection.number,
            starts: self.power_failures,
            request,
            operation,
            id: 0,
            stamp: Time::ZERO,
            arrival: Time::ZERO,
            completion: Time::ZERO,
            durable: Time::ZERO,
            reply,
            flushed_write: None,
            host_ns: 0,
            target: 0,
            send_at: 0,
            is_on_time: false,
        };
        let key = self.flights.insert(flight);
        self.submit(key, self.time.model(detected_at))?;
        self.note_arrival(key, previous_data.as_deref());
        Ok(())
    }

    /// Applies a request to the data and builds its reply; also returns the data that a write has replaced, if that is
    /// kept.
    fn prepare(&mut self, slot: usize, request: &NbdRequest) -> Result<(Reply, Option<Vec<u8>>), Errno> {
        let Some(connection) = self.connections.get(slot) else { return Ok((Reply::default(), None)) };
        let replies = connection.replies();
        if request.command == Command::Read {
            return Ok((connection.prepare_data(request, &self.store)?, None));
        }
        let keeps_previous =
            self.power.is_some() && matches!(request.command, Command::Write | Command::WriteZeroes);
        let previous_data = if keeps_previous { Some(self.replace(slot, request)?) } else { None };
        if !keeps_previous {
            self.change(request)?;
        }
        let mut bytes = Vec::new();
        replies.encode_success(&mut bytes, request);
        Ok((Reply::from_bytes(bytes), previous_data))
    }

    /// Applies a request for holes or zeroes; the data of a write was stored before.
    pub(super) fn change(&self, request: &NbdRequest) -> Result<(), Errno> {
        let (offset, length) = (request.offset, u64::from(request.length));
        let result = match request.command {
            Command::WriteZeroes if request.no_hole => self.store.zero(offset, length),
            Command::Trim | Command::WriteZeroes => self.store.punch(offset, length),
            _ => Ok(()),
        };
        result.map_err(|error| Errno::from(&error))
    }

    /// Answers a request that is not simulated.
    fn answer_immediately(&mut self, slot: usize, request: &NbdRequest, store_result: Result<(), Errno>) {
        let change_result = store_result.and_then(|()| self.change(request));
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let result = change_result.and_then(|()| match request.command {
            Command::Read => connection.answer_data(request, &self.store),
            Command::BlockStatus => {
                let extents = self.store.extents(request.offset, request.length.into(), MAX_EXTENTS);
                let extents = extents.map_err(|error| Errno::from(&error))?;
                connection.answer(|replies, out| replies.encode_extents(out, request, &extents));
                Ok(())
            }
            _ => {
                connection.answer(|replies, out| replies.encode_success(out, request));
                Ok(())
            }
        });
        match result {
            Ok(()) => self.count(request),
            Err(errno) => {
                self.counts.errors += 1;
                connection
                    .answer(|replies, out| replies.encode_error(out, request, errno, error_message(errno)));
            }
        }
    }

    fn count(&mut self, request: &NbdRequest) {
        let counts = &mut self.counts;
        let bytes = u64::from(request.length);
        match request.command {
            Command::Read => {
                counts.reads += 1;
                counts.bytes_read += bytes;
            }
            Command::Write | Command::WriteZeroes => {
                counts.writes += 1;
                counts.bytes_written += bytes;
                counts.fua += u64::from(request.fua);
            }
            Command::Flush => counts.flushes += 1,
            Command::Trim => counts.trims += 1,
            Command::Cache | Command::BlockStatus => return,
        }
        let is_aligned = request.offset.is_multiple_of(512) && request.length.is_multiple_of(512);
        counts.unaligned += u64::from(!is_aligned);
    }

    /// Submits an operation to the model, at `now` or right after the latest reply that has left early.
    fn submit(&mut self, key: u32, now: Time) -> Result<()> {
        let Some(model) = self.model.as_mut() else { return Ok(()) };
        let start = self.clock.now();
        let submit_time = now.max(self.last_sent_completion + Span::from_ns(1));
        let (id, stamp) = model.submit(submit_time, self.flights[key].operation, &mut self.answers)?;
        self.longest_queue = self.longest_queue.max(model.queue_length() as u64);
        self.recent_stalls.record_model(start, self.clock.now());
        self.counts.operations += 1;
        self.media_requests += u64::from(self.flights[key].operation.op.is_media());
        let flight = &mut self.flights[key];
        (flight.id, flight.stamp) = (id, stamp);
        if let Some(power) = &mut self.power {
            power.latest = power.latest.max(stamp);
        }
        if flight.flushed_write.is_none() {
            flight.arrival = stamp;
            let shift_ns = stamp.since(now).as_ns();
            // Requests that are found together get stamps 1 ns apart.
            if shift_ns > 1_000 {
                self.shifted.count += 1;
                self.shifted.sum_ns += shift_ns;
                self.shifted.longest_ns = self.shifted.longest_ns.max(shift_ns);
            }
        }
        let bytes = flight.reply_bytes();
        self.flights.add_waiting(bytes);
        self.ids.insert(id, key);
        self.take_answers(None);
        Ok(())
    }

    /// Simulates the events of the model that are due.
    pub(super) fn advance_model(&mut self, now: u64) -> Result<()> {
        loop {
            let (awaited_event, idle_event) = self.next_model_event();
            if awaited_event.or(idle_event).is_none_or(|at| at > now) {
                return Ok(());
            }
            let Some(model) = self.model.as_mut() else { return Ok(()) };
            let Some(event) = model.next_event() else { return Ok(()) };
            let start = self.clock.now();
            model.advance(event, &mut self.answers)?;
            self.recent_stalls.record_model(start, self.clock.now());
            self.take_answers(Some(event));
        }
    }

    /// Queues replies whose completion times the model has reported, until they are due. `event` is the time of the
    /// simulated event that reported them; `None` at an arrival.
    fn take_answers(&mut self, event: Option<Time>) {
        if self.answers.is_empty() {
            return;
        }
        let now = self.clock.now();
        let mut answers = std::mem::take(&mut self.answers);
        for Answer { id, time: completion, durable } in answers.drain(..) {
            let Some(key) = self.ids.remove(&id) else { continue };
            // A completion that was known only at its event: such events must be simulated early, and this one was if
            // `needs_lead` was set.
            let is_known_at_event = event.is_some_and(|event| completion <= event);
            let is_early = is_known_at_event && self.needs_lead;
            self.needs_lead |= is_known_at_event;
            let flight = &mut self.flights[key];
            let bytes = flight.reply_bytes();
            (flight.completion, flight.durable) = (completion, durable);
            flight.host_ns = self.host.ns(flight.request.command == Command::Read, flight.request.length);
            flight.target = self.time.real(completion).saturating_sub(flight.host_ns.into());
            flight.send_at = flight.target.saturating_sub(self.pacer.send_ns(bytes));
            flight.is_on_time = now <= flight.send_at || is_early;
            let target = flight.target;
            self.flights.remove_waiting(bytes);
            self.pacer.push(target, bytes, key);
        }
        self.answers = answers;
    }

    /// Hands over the replies that are due.
    pub(super) fn hand_over_due_replies(&mut self) -> Result<()> {
        while let Some(due) = self.pacer.take_due(self.clock.now()) {
            let key = due.key;
            self.note_completion(key);
            if self.flights[key].needs_flush() {
                self.flush_after_write(key)?;
                continue;
            }
            let flight = &mut self.flights[key];
            let slot = flight.slot;
            self.last_sent_completion = self.last_sent_completion.max(flight.completion);
            let reply = std::mem::take(&mut flight.reply);
            let number = flight.connection;
            let Some(connection) = self.connections.get_by_number(slot, number) else {
                self.record_unanswered(key);
                continue;
            };
            let is_first = !connection.has_replies();
            connection.push(reply, key);
            if !is_first {
                continue;
            }
            let mut completed = std::mem::take(&mut self.completed_keys);
            let send_result = connection.send(&self.store, &mut completed);
            let is_sent_at_once = completed.pop() == Some(key);
            self.completed_keys = completed;
            if is_sent_at_once {
                let now = self.clock.now();
                // The pacer ignores a completion that was known too late, unless its reply was early.
                if self.flights[key].is_on_time || now < due.target {
                    self.pacer.learn_send(due, now);
                }
                self.complete_reply(key, false);
            }
            let is_finished = self.connections.get(slot).is_some_and(Connection::is_finished);
            if send_result == SendResult::Gone || is_finished {
                self.disconnect(slot);
            }
        }
        Ok(())
    }

    /// Submits the flush of a write with force unit access: the write has completed, but its reply waits for the flush.
    fn flush_after_write(&mut self, key: u32) -> Result<()> {
        let flight = &mut self.flights[key];
        let completion = flight.completion;
        let record = flight.record(completion.as_ns(), 0, Cause::OnTime, true);
        flight.flushed_write = Some(flight.id);
        flight.operation = in_flight::flush_operation();
        flight.stamp = Time::ZERO;
        if let Some(recording) = &mut self.recording {
            recording.push(&record);
        }
        self.submit(key, completion)
    }

    /// Records that a reply was sent; `waited` is whether the reply had to wait for the client to read.
    pub(super) fn complete_reply(&mut self, key: u32, waited_for_client: bool) {
        let now = self.clock.now();
        let Some(flight) = self.flights.remove(key) else { return };
        if let Some(power) = &mut self.power {
            power.versions.acknowledge(flight.flushed_write.unwrap_or(flight.id));
        }
        let lateness_ns = now.cast_signed() - flight.target.cast_signed();
        let cause = self.recent_stalls.cause(flight.send_at, now, lateness_ns);
        let cause = if waited_for_client && cause != Cause::OnTime { Cause::Client } else { cause };
        let response_ns = self.time.real(flight.completion).saturating_sub(self.time.real(flight.arrival));
        self.lateness.record(lateness_ns, response_ns, cause);
        self.count(&flight.request);
        if let Some(timings) = &mut self.probe_timings {
            let is_read = flight.request.command == Command::Read;
            let arrival_ns = self.time.real(flight.arrival);
            timings.push(ProbeTiming {
                is_read,
                bytes: flight.request.length,
                ns: now.saturating_sub(arrival_ns),
            });
        }
        if let Some(recording) = &mut self.recording {
            recording.push(&flight.record(self.time.model(now).as_ns(), lateness_ns, cause, false));
        }
        if let Some(connection) = self.connections.get_by_number(flight.slot, flight.connection) {
            connection.end_request(flight.data_bytes());
        }
    }

    /// Records the operation of a request that gets no reply: its client has gone, the run ends, or the power failed
    /// after the operation was complete.
    pub(super) fn record_unanswered(&mut self, key: u32) {
        self.record_unsent(key, 0);
    }

    /// Records an operation that did not complete because of the power failure.
    pub(super) fn record_power_loss(&mut self, key: u32) {
        self.record_unsent(key, Record::LOST);
    }

    fn record_unsent(&mut self, key: u32, flag: u8) {
        let Some(flight) = self.flights.remove(key) else { return };
        // An operation that the model has refused, or has never received, is not recorded.
        if let Some(recording) = self.recording.as_mut().filter(|_| flight.stamp > Time::ZERO) {
            let record = flight.record(flight.completion.as_ns(), 0, Cause::OnTime, true);
            recording.push(&Record { flags: record.flags | flag, ..record });
        }
    }

    /// Records when the model would have completed a request of a server that has ended.
    pub(super) fn record_late_completion(&mut self, answer: Answer) {
        if let Some(key) = self.ids.remove(&answer.id) {
            self.flights[key].completion = answer.time;
        }
    }

    /// Ends the run with an error: replies to every waiting request with an error, as far as clients read replies at
    /// once.
    pub(super) fn fail_waiting_requests(&mut self) {
        for key in self.flights.keys() {
            let InFlightRequest { slot, connection, request, ref reply, .. } = self.flights[key];
            let is_unsent = !reply.is_empty();
            let open_connection = self.connections.get_by_number(slot, connection);
            if let Some(connection) = open_connection.filter(|_| is_unsent) {
                connection.answer(|replies, out| {
                    replies.encode_error(out, &request, Errno::Io, "the simulation failed");
                });
                self.counts.errors += 1;
            }
            if is_unsent {
                self.record_unanswered(key);
            }
        }
        let mut sent_keys = Vec::new();
        for connection in self.connections.iter_mut() {
            // For clients that do not read the error, the connection is closed.
            let _ = connection.send(&self.store, &mut sent_keys);
        }
    }
}

/// Returns the error message that the reply contains.
fn error_message(errno: Errno) -> &'static str {
    match errno {
        Errno::NoSpc => "no space left for the data",
        Errno::Perm => "the data is read-only",
        _ => "the data cannot be read or written",
    }
}
