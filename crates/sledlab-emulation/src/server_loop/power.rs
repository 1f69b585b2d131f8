//! Power failures: the device loses its power, and is switched on again.
//!
//! Overwritten data is kept from the arrival of the write until no failure can restore the data
//! ([`Versions`](crate::Versions)). Therefore the connection keeps a complete payload until the write arrives in the
//! store and in the model at once. A write counts as acknowledged when its reply is sent, which may be earlier than
//! planned because of the host path; so the power fails after the latest simulated time of a reply that a client has
//! received. A reply that is never sent acknowledges nothing.

use std::io;

use sledlab_core::{BLOCK_BYTES, Error, Op, Result, Span, Time};
use sledlab_models::system::Contents;

use super::ServerState;
use crate::PowerFailure;
use crate::power::PowerCut;
use crate::sockets::connection::Connection;
use crate::store::{DataStore, versions};
use crate::timing::clock::DeviceClock;
use crate::transport::nbd::{Command, Errno, NbdRequest};

impl ServerState {
    /// Applies a write to the store, and returns the previous contents of its blocks. If the store cannot be changed,
    /// the previous contents are restored.
    pub(super) fn replace(&mut self, slot: usize, request: &NbdRequest) -> Result<Vec<u8>, Errno> {
        let (offset, length) = (request.offset, u64::from(request.length));
        let first = offset / BLOCK_BYTES * BLOCK_BYTES;
        let end = (offset + length).next_multiple_of(BLOCK_BYTES);
        let mut previous_data = vec![0; (end - first) as usize];
        self.store.read_at(first, &mut previous_data).map_err(|error| Errno::from(&error))?;
        let data = self.connections.get_mut(slot).map(Connection::take_payload).unwrap_or_default();
        let write_result = match request.command {
            Command::Write => self.store.write_at(offset, &data).map_err(|error| Errno::from(&error)),
            _ => self.change(request),
        };
        if write_result.is_err() {
            for (offset_of_block, block) in
                (first..).step_by(BLOCK_BYTES as usize).zip(previous_data.chunks(BLOCK_BYTES as usize))
            {
                // Writing back fails only for a block without space, which is still a hole.
                let _ = self.store.write_at(offset_of_block, block);
            }
        }
        write_result.map(|()| previous_data)
    }

    /// Records that the model has accepted a request; a write has `replaced` the data of its blocks.
    pub(super) fn note_arrival(&mut self, key: u32, previous_data: Option<&[u8]>) {
        let (Some(power), flight) = (&mut self.power, &self.flights[key]) else { return };
        let (id, operation) = (flight.id, flight.operation);
        match (operation.op, previous_data) {
            (Op::Write, Some(previous_data)) => power.versions.arrive(id, operation.lbn, previous_data),
            // Of a block that is trimmed in part, the other part is as durable as the trim.
            (Op::Trim, _) => power.versions.trim(operation.lbn, operation.blocks.into()),
            _ => {}
        }
    }

    /// Records that the last submitted operation of a request is complete, or will be when its reply arrives.
    pub(super) fn note_completion(&mut self, key: u32) {
        let (Some(power), flight) = (&mut self.power, &self.flights[key]) else { return };
        power.latest = power.latest.max(flight.completion);
        match flight.operation.op {
            Op::Write => power.versions.complete(flight.id, flight.durable),
            Op::Flush => power.versions.flush(flight.id),
            Op::Read | Op::Trim => {}
        }
        power.versions.advance(power.latest);
    }

    /// Simulates a power failure if another thread has ordered one.
    ///
    /// # Errors
    /// A model that fails; a store that cannot be set to the contents that the model determines.
    pub(super) fn handle_power_cut(&mut self) -> Result<()> {
        // Until the clock starts, the order waits.
        let cut = if self.power.is_some() { self.shared.take_power_cut() } else { None };
        let Some(PowerCut { seed, sender }) = cut else { return Ok(()) };
        let failure = self.cut_power(seed)?;
        self.update_status(true);
        // The thread that gave the order may have stopped waiting.
        let _ = sender.send(failure);
        Ok(())
    }

    fn cut_power(&mut self, requested_seed: Option<u64>) -> Result<(PowerFailure, Contents)> {
        let not_enabled_error =
            || Error::internal("power failure of a server that does not keep overwritten data");
        let failed_at = self.clock.now();
        let power = self.power.as_mut().ok_or_else(not_enabled_error)?;
        let model = self.model.take().ok_or_else(not_enabled_error)?;
        let power_lost_at = self.time.model(failed_at).max(power.latest + Span::from_ns(1));
        let (seed, mut survives) = power.survival_draw(requested_seed);
        let mut answers = std::mem::take(&mut self.answers);
        let contents = model.crash(power_lost_at, &mut survives, &mut answers)?;
        power.versions.advance(power_lost_at);
        let recovered = power.take_versions().recover(&contents)?;
        restore(&self.store, &recovered).map_err(|error| {
            Error::user(format!("cannot restore the data after the power failure: {error}"))
                .with_remedy("store the data in memory, or where there is space for the entire device")
        })?;
        let in_flight = self.flights.len() as u64;
        for answer in answers.drain(..) {
            self.record_late_completion(answer);
        }
        self.break_connections();
        let (digest_of_rows, rows) = (self.rows)();
        self.power_on()?;
        let failure = PowerFailure {
            model_s: power_lost_at.as_seconds(),
            real_s: failed_at as f64 / 1e9,
            on_s: self.time.power_on_ns() as f64 / 1e9,
            seed,
            in_flight,
            newest: recovered.newest,
            older: recovered.older.len() as u64,
            lost: recovered.lost,
            rows,
            digest_of_rows,
        };
        if let Some(power) = &mut self.power {
            power.failures.push(failure.clone());
        }
        Ok((failure, contents))
    }

    /// Breaks all connections; requests in flight are never answered.
    fn break_connections(&mut self) {
        self.connections.clear();
        for key in self.flights.keys() {
            if self.ids.contains_key(&self.flights[key].id) {
                self.record_power_loss(key);
            } else {
                self.record_unanswered(key);
            }
        }
        self.ids.clear();
        self.pacer.clear();
        self.status_updates.due = true;
    }

    /// Switches the device on anew: its time and its numbers begin at 0.
    fn power_on(&mut self) -> Result<()> {
        let power = self
            .power
            .as_mut()
            .ok_or_else(|| Error::internal("restart of a server without power failures"))?;
        self.model = Some(power.restart()?);
        self.power_failures += 1;
        self.media_requests = 0;
        self.needs_lead = false;
        self.last_sent_completion = Time::ZERO;
        self.resumption = None;
        self.time = DeviceClock::new(self.time.scale(), self.clock.now());
        Ok(())
    }
}

/// Sets blocks of the store to the data that the model has found.
fn restore(store: &DataStore, recovered: &versions::RecoveredBlocks) -> io::Result<()> {
    for (lbn, data) in &recovered.older {
        let offset = lbn * BLOCK_BYTES;
        if data.iter().any(|byte| *byte != 0) {
            store.write_at(offset, data)?;
        } else {
            store.punch(offset, BLOCK_BYTES)?;
        }
    }
    Ok(())
}
