//! Polling the sockets: clients that connect, requests that arrive, room for replies.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as Failure;
use sledlab_core::{Error, Result};
use smallvec::SmallVec;

use super::{MAX_CONNECTIONS, ServerOrder, ServerState};
use crate::record::recording::Recording;
use crate::sockets::connection::{Connection, NextRequest, ReceiveResult, SendResult};
use crate::transport::nbd::ConnectionEnd;

/// Events of the codec that are handled for a connection before other connections have their turn.
const MAX_EVENTS_PER_TURN: usize = 32;

/// Slots of connections with activity, and the kind of activity.
type ActiveSlots = SmallVec<[(usize, PollFlags); 4]>;

impl ServerState {
    /// Polls the sockets and handles what has arrived, waiting at most `wait_ns` nanoseconds; `None` waits without
    /// limit.
    pub(super) fn handle_sockets(&mut self, wait_ns: Option<u64>) -> Result<()> {
        let (active_slots, is_woken, has_new_client) = self.poll(wait_ns)?;
        if is_woken {
            // The eventfd is reset so that it can wake the thread again; its count does not matter.
            let _ = rustix::io::read(&*self.shared.wake, &mut [0; 8]);
            if let Some(recording) = &mut self.recording {
                recording.try_send();
            }
        }
        for (slot, flags) in active_slots {
            if flags.contains(PollFlags::OUT) {
                self.send(slot);
            }
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            let is_broken = flags.intersects(PollFlags::HUP | PollFlags::ERR);
            if flags.contains(PollFlags::IN) && connection.wants_input() {
                self.receive(slot)?;
            } else if is_broken {
                // Its requests stay in flight in the model, but no client waits for them.
                self.disconnect(slot);
            }
        }
        self.is_after_stall = false;
        if has_new_client {
            self.accept();
        }
        Ok(())
    }

    /// Polls: returns the connections with activity, whether the thread was woken, and whether a client waits to be
    /// accepted.
    fn poll(&self, wait_ns: Option<u64>) -> Result<(ActiveSlots, bool, bool)> {
        let mut slots: SmallVec<[usize; 4]> = SmallVec::new();
        let mut fds: SmallVec<[PollFd; 6]> = SmallVec::new();
        fds.push(PollFd::new(&*self.shared.wake, PollFlags::IN));
        let accepts_requests = self.accepts_requests();
        for (slot, connection) in self.connections.iter() {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, accepts_requests && connection.wants_input());
            flags.set(PollFlags::OUT, connection.has_replies());
            slots.push(slot);
            fds.push(PollFd::new(&connection.socket, flags));
        }
        let accepts_clients = slots.len() < MAX_CONNECTIONS;
        fds.extend(
            self.listener
                .as_ref()
                .filter(|_| accepts_clients)
                .map(|listener| PollFd::new(&listener.socket, PollFlags::IN)),
        );
        let timeout = wait_ns.map(|ns| Timespec {
            tv_sec: (ns / 1_000_000_000).cast_signed(),
            tv_nsec: (ns % 1_000_000_000).cast_signed(),
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Failure::INTR) => {}
            Err(error) => return Err(Error::internal(format!("cannot poll the sockets: {error}"))),
        }
        let has_event = |fd: &PollFd| !fd.revents().is_empty();
        let active_slots = slots.iter().zip(&fds[1..]).filter(|(_, fd)| has_event(fd));
        let active_slots = active_slots.map(|(slot, fd)| (*slot, fd.revents())).collect();
        Ok((active_slots, has_event(&fds[0]), fds.get(slots.len() + 1).is_some_and(has_event)))
    }

    /// Accepts clients that wait. If the process or the machine has no resources for more, they remain waiting.
    fn accept(&mut self) {
        while self.connections.len() < MAX_CONNECTIONS
            && let Some(listener) = &self.listener
        {
            match listener.accept() {
                Ok(Some(client)) => {
                    let slot = self.connect(client);
                    self.send(slot);
                }
                Ok(None) => break,
                Err(_) => {
                    // Pauses: trying again at once would take all of the thread's time.
                    std::thread::sleep(std::time::Duration::from_millis(1));
                    break;
                }
            }
        }
    }

    /// Gives a client a slot; the caller has checked that one is free.
    pub(super) fn connect(&mut self, client: OwnedFd) -> usize {
        let number = self.counts.connections;
        self.counts.connections += 1;
        self.status_updates.due = true;
        self.connections.insert(Connection::new(client, number, self.export.clone()))
    }

    /// Closes a connection. The model continues with the requests submitted to it.
    pub(super) fn disconnect(&mut self, slot: usize) {
        self.status_updates.due = true;
        for key in
            self.connections.remove(slot).map(|connection| connection.unsent_keys()).unwrap_or_default()
        {
            self.record_unanswered(key);
        }
    }

    /// Sends replies that wait for a client, and ends the requests whose replies have left.
    pub(super) fn send(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let mut completed = std::mem::take(&mut self.completed_keys);
        let send_result = connection.send(&self.store, &mut completed);
        let is_finished = connection.is_finished();
        for key in completed.drain(..) {
            self.complete_reply(key, true);
        }
        self.completed_keys = completed;
        let is_finished = is_finished || self.connections.get(slot).is_some_and(Connection::is_finished);
        if send_result == SendResult::Gone || is_finished {
            self.disconnect(slot);
        }
    }

    fn receive(&mut self, slot: usize) -> Result<()> {
        let Some(connection) = self.connections.get_mut(slot) else { return Ok(()) };
        match connection.receive() {
            ReceiveResult::Bytes => self.parse_connection_input(slot),
            ReceiveResult::Nothing => Ok(()),
            ReceiveResult::Gone => {
                self.disconnect(slot);
                Ok(())
            }
        }
    }

    /// Whether some connection has input that can be parsed.
    pub(super) fn has_input(&self) -> bool {
        self.accepts_requests() && self.connections.iter().any(|(_, connection)| connection.has_input())
    }

    /// Whether requests are accepted: not while the server ends or starts the next stage, nor while the recording
    /// is behind.
    fn accepts_requests(&self) -> bool {
        self.shared.current_order() == ServerOrder::Serve
            && !self.recording.as_ref().is_some_and(Recording::is_full)
    }

    /// Parses some of the input of each connection.
    pub(super) fn parse_input(&mut self) -> Result<()> {
        for slot in 0..self.connections.slot_count() {
            if self.accepts_requests() && self.connections.get(slot).is_some_and(Connection::has_input) {
                self.parse_connection_input(slot)?;
            }
        }
        Ok(())
    }

    fn parse_connection_input(&mut self, slot: usize) -> Result<()> {
        let detected_at = self.clock.now();
        let mut step_start = detected_at;
        for _ in 0..MAX_EVENTS_PER_TURN {
            let Some(connection) = self.connections.get_mut(slot).filter(|connection| connection.has_input())
            else {
                break;
            };
            match connection.next(&self.store, self.power.is_some()) {
                NextRequest::More => break,
                NextRequest::Done => {
                    let now = self.clock.now();
                    self.recent_stalls.record_data(step_start, now);
                    step_start = now;
                }
                NextRequest::Request(request, store_result) => {
                    self.arrive(slot, request, store_result, detected_at)?;
                    step_start = self.clock.now();
                }
                NextRequest::Close(ConnectionEnd::Requested) => connection.is_disconnecting = true,
                NextRequest::Close(ConnectionEnd::Violation(_)) => {
                    self.counts.violations += 1;
                    // Replies made before the violation still go to the client.
                    self.send(slot);
                    self.disconnect(slot);
                }
            }
        }
        self.send_pending(slot);
        self.hand_over_due_replies()
    }

    fn send_pending(&mut self, slot: usize) {
        let connection = self.connections.get(slot);
        if connection.is_some_and(|connection| connection.has_replies() || connection.is_finished()) {
            self.send(slot);
        }
    }
}
