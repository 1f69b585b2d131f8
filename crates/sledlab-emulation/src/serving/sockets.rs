//! Polling the sockets: clients that connect, requests that arrive, room for replies.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as Failure;
use sledlab_core::{Error, Result};
use smallvec::SmallVec;

use super::{MAX_CONNECTIONS, ServerOrder, ServerState};
use crate::connection::{Connection, NextRequest, Received, SendResult};
use crate::recording::Recording;
use crate::transport::nbd::ConnectionEnd;

/// Events of the codec that are handled for a connection before other connections have their turn.
const AT_A_TIME: usize = 32;

/// Slots of connections with activity, and the kind of activity.
type ActiveSlots = SmallVec<[(usize, PollFlags); 4]>;

impl ServerState {
    /// Polls the sockets and handles what has arrived, waiting at most `wait_ns` nanoseconds; `None` waits without
    /// limit.
    pub(super) fn look(&mut self, wait_ns: Option<u64>) -> Result<()> {
        let (result, woken, coming) = self.poll(wait_ns)?;
        if woken {
            // The eventfd is emptied so that it wakes the thread again; its count does not matter.
            let _ = rustix::io::read(&*self.shared.wake, &mut [0; 8]);
            if let Some(recording) = &mut self.recording {
                recording.offer();
            }
        }
        for (slot, flags) in result {
            if flags.contains(PollFlags::OUT) {
                self.send(slot);
            }
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            let broken = flags.intersects(PollFlags::HUP | PollFlags::ERR);
            if flags.contains(PollFlags::IN) && connection.reads() {
                self.receive(slot)?;
            } else if broken {
                // Its requests stay in flight in the model, but no client waits for them.
                self.disconnect(slot);
            }
        }
        self.after_stall = false;
        if coming {
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
        let reads = self.takes_more();
        for (slot, connection) in self.connections.iter() {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, reads && connection.reads());
            flags.set(PollFlags::OUT, connection.sends());
            slots.push(slot);
            fds.push(PollFd::new(&connection.socket, flags));
        }
        let listens = slots.len() < MAX_CONNECTIONS;
        fds.extend(
            self.listener
                .as_ref()
                .filter(|_| listens)
                .map(|listener| PollFd::new(&listener.socket, PollFlags::IN)),
        );
        let timeout = wait_ns.map(|ns| Timespec {
            tv_sec: (ns / 1_000_000_000).cast_signed(),
            tv_nsec: (ns % 1_000_000_000).cast_signed(),
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Failure::INTR) => {}
            Err(error) => return Err(Error::internal(format!("the sockets cannot be looked at: {error}"))),
        }
        let is_there = |fd: &PollFd| !fd.revents().is_empty();
        let result = slots.iter().zip(&fds[1..]).filter(|(_, fd)| is_there(fd));
        let result = result.map(|(slot, fd)| (*slot, fd.revents())).collect();
        Ok((result, is_there(&fds[0]), fds.get(slots.len() + 1).is_some_and(is_there)))
    }

    /// Accepts clients that wait. Where the process or the machine cannot take more, they go on waiting.
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
        for key in self.connections.remove(slot).map(|gone| gone.unsent()).unwrap_or_default() {
            self.record_silently(key);
        }
    }

    /// Sends replies that wait for a client, and ends the requests whose replies have left.
    pub(super) fn send(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let mut completed = std::mem::take(&mut self.answered);
        let sent = connection.send(&self.store, &mut completed);
        let over = connection.is_over();
        for key in completed.drain(..) {
            self.left(key, true);
        }
        self.answered = completed;
        let over = over || self.connections.get(slot).is_some_and(Connection::is_over);
        if sent == SendResult::Gone || over {
            self.disconnect(slot);
        }
    }

    fn receive(&mut self, slot: usize) -> Result<()> {
        let Some(connection) = self.connections.get_mut(slot) else { return Ok(()) };
        match connection.receive() {
            Received::Bytes => self.work_off_one(slot),
            Received::Nothing => Ok(()),
            Received::Gone => {
                self.disconnect(slot);
                Ok(())
            }
        }
    }

    /// Whether some connection has input that can be parsed.
    pub(super) fn has_input(&self) -> bool {
        self.takes_more() && self.connections.iter().any(|(_, connection)| connection.has_input())
    }

    /// Whether requests are accepted: not while the server ends or starts the next stage, nor while the recording
    /// is behind.
    fn takes_more(&self) -> bool {
        self.shared.ordered() == ServerOrder::Serve
            && !self.recording.as_ref().is_some_and(Recording::is_full)
    }

    /// Parses some of the input of each connection.
    pub(super) fn parse_input(&mut self) -> Result<()> {
        for slot in 0..self.connections.places() {
            if self.takes_more() && self.connections.get(slot).is_some_and(Connection::has_input) {
                self.work_off_one(slot)?;
            }
        }
        Ok(())
    }

    fn work_off_one(&mut self, slot: usize) -> Result<()> {
        let result = self.clock.now();
        let mut spent = result;
        for _ in 0..AT_A_TIME {
            let Some(connection) = self.connections.get_mut(slot).filter(|connection| connection.has_input())
            else {
                break;
            };
            match connection.next(&self.store, self.power.is_some()) {
                NextRequest::More => break,
                NextRequest::Done => {
                    let now = self.clock.now();
                    self.recent_stalls.data(spent, now);
                    spent = now;
                }
                NextRequest::Request(request, stored) => {
                    self.arrive(slot, request, stored, result)?;
                    spent = self.clock.now();
                }
                NextRequest::Close(ConnectionEnd::Requested) => connection.ending = true,
                NextRequest::Close(ConnectionEnd::Violation(_)) => {
                    self.counts.violations += 1;
                    // Replies made before the violation still go to the client.
                    self.send(slot);
                    self.disconnect(slot);
                }
            }
        }
        self.send_if_any(slot);
        self.hand_over_due_replies()
    }

    fn send_if_any(&mut self, slot: usize) {
        let connection = self.connections.get(slot);
        if connection.is_some_and(|connection| connection.sends() || connection.is_over()) {
            self.send(slot);
        }
    }
}
