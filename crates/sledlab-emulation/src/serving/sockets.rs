//! Looking at the sockets: clients that come, requests that arrive, room for replies.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as Failure;
use sledlab_core::{Error, Result};
use smallvec::SmallVec;

use super::{MOST_CONNECTIONS, ServerOrder, Serving};
use crate::connection::{Connection, NextRequest, Received, Sent};
use crate::recording::Recording;
use crate::transport::nbd::Ending;

/// What is looked at in the input of a connection before others have their turn.
const AT_A_TIME: usize = 32;

/// What was found at a connection.
type Found = SmallVec<[(usize, PollFlags); 4]>;

impl Serving {
    /// Looks at the sockets, waiting so many nanoseconds for something to be there; `None` waits forever.
    pub(super) fn look(&mut self, wait_ns: Option<u64>) -> Result<()> {
        let (found, woken, coming) = self.poll(wait_ns)?;
        if woken {
            // Emptied, so that it wakes again; that it was full is all that matters.
            let _ = rustix::io::read(&*self.shared.wake, &mut [0; 8]);
            if let Some(recording) = &mut self.recording {
                recording.offer();
            }
        }
        for (slot, flags) in found {
            if flags.contains(PollFlags::OUT) {
                self.send(slot);
            }
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            let broken = flags.intersects(PollFlags::HUP | PollFlags::ERR);
            if flags.contains(PollFlags::IN) && connection.reads() {
                self.receive(slot)?;
            } else if broken {
                // What it asked for is still under way in the model, but nobody waits for it.
                self.disconnect(slot);
            }
        }
        self.after_stall = false;
        if coming {
            self.accept();
        }
        Ok(())
    }

    /// What is there at the connections; whether the thread was woken; whether a client waits to be accepted.
    fn poll(&self, wait_ns: Option<u64>) -> Result<(Found, bool, bool)> {
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
        let listens = slots.len() < MOST_CONNECTIONS;
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
        let found = slots.iter().zip(&fds[1..]).filter(|(_, fd)| is_there(fd));
        let found = found.map(|(slot, fd)| (*slot, fd.revents())).collect();
        Ok((found, is_there(&fds[0]), fds.get(slots.len() + 1).is_some_and(is_there)))
    }

    /// Accepts clients that wait. Where there is no room for more, in the process or the machine, they wait on.
    fn accept(&mut self) {
        while self.connections.len() < MOST_CONNECTIONS
            && let Some(listener) = &self.listener
        {
            match listener.accept() {
                Ok(Some(client)) => {
                    let slot = self.connect(client);
                    self.send(slot);
                }
                Ok(None) => break,
                Err(_) => {
                    // Not at once again: that would be all it does.
                    std::thread::sleep(std::time::Duration::from_millis(1));
                    break;
                }
            }
        }
    }

    /// Gives a client a place; there is one.
    pub(super) fn connect(&mut self, client: OwnedFd) -> usize {
        let number = self.counts.connections;
        self.counts.connections += 1;
        self.telling.due = true;
        self.connections.insert(Connection::new(client, number, self.export.clone()))
    }

    /// Forgets a client. The model goes on with what it was asked.
    pub(super) fn disconnect(&mut self, slot: usize) {
        self.telling.due = true;
        for key in self.connections.remove(slot).map(|gone| gone.unsent()).unwrap_or_default() {
            self.record_silently(key);
        }
    }

    /// Sends what waits for a client, and ends what has left.
    pub(super) fn send(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let mut answered = std::mem::take(&mut self.answered);
        let sent = connection.send(&self.store, &mut answered);
        let over = connection.is_over();
        for key in answered.drain(..) {
            self.left(key, true);
        }
        self.answered = answered;
        let over = over || self.connections.get(slot).is_some_and(Connection::is_over);
        if sent == Sent::Gone || over {
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

    /// Whether something has arrived that was not looked at.
    pub(super) fn has_input(&self) -> bool {
        self.takes_more() && self.connections.iter().any(|(_, connection)| connection.has_input())
    }

    /// Whether requests may arrive at all.
    fn takes_more(&self) -> bool {
        self.shared.ordered() == ServerOrder::Serve
            && !self.recording.as_ref().is_some_and(Recording::is_full)
    }

    /// Looks at some of what has arrived at each connection.
    pub(super) fn work_off(&mut self) -> Result<()> {
        for slot in 0..self.connections.places() {
            if self.takes_more() && self.connections.get(slot).is_some_and(Connection::has_input) {
                self.work_off_one(slot)?;
            }
        }
        Ok(())
    }

    fn work_off_one(&mut self, slot: usize) -> Result<()> {
        let found = self.clock.now();
        let mut spent = found;
        for _ in 0..AT_A_TIME {
            let Some(connection) = self.connections.get_mut(slot).filter(|connection| connection.has_input())
            else {
                break;
            };
            match connection.next(&self.store, self.power.is_some()) {
                NextRequest::More => break,
                NextRequest::Done => {
                    let now = self.clock.now();
                    self.held.data(spent, now);
                    spent = now;
                }
                NextRequest::Request(request, stored) => {
                    self.arrive(slot, request, stored, found)?;
                    spent = self.clock.now();
                }
                NextRequest::Close(Ending::Asked) => connection.ending = true,
                NextRequest::Close(Ending::Violation(_)) => {
                    self.counts.violations += 1;
                    // What was said before, the client may still want to know.
                    self.send(slot);
                    self.disconnect(slot);
                }
            }
        }
        self.send_if_any(slot);
        self.hand_over_due()
    }

    fn send_if_any(&mut self, slot: usize) {
        let connection = self.connections.get(slot);
        if connection.is_some_and(|connection| connection.sends() || connection.is_over()) {
            self.send(slot);
        }
    }
}
