//! Messages between nodes without other work: an exchange or a collective operation.
//!
//! Each node prepares messages in software, one after the other, while its port sends those that are ready; software
//! also handles received messages. A round of a collective is over for a node when it has sent all its messages and
//! handled all messages that it awaits.
//!
//! Receivers take turns, as connections of equal rank do on a real port: software prepares one message for each in
//! turn, and the port sends one packet of each prepared message in turn.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use sledlab_core::{Error, Result, Span, Time};
use sledlab_models::network::{Network, Packet, Port};

/// Maximum number of messages whose packets take turns on a port. The limit bounds memory; messages of one packet do
/// not need more than one place.
const MAX_OUTBOX: usize = 64;

/// The bytes that a node sends to one port.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutgoingTransfer {
    pub to: Port,
    pub bytes: u64,
    /// Size of the messages into which the bytes are divided; a transfer of no bytes is one message.
    pub message_bytes: u64,
}

impl OutgoingTransfer {
    pub fn message_count(&self) -> u64 {
        self.bytes.div_ceil(self.message_bytes).max(1)
    }
}

/// The transfers that a node sends, and the messages that it awaits, before its next round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub transfers: VecDeque<OutgoingTransfer>,
    /// Number of awaited messages.
    pub awaited_messages: u64,
}

/// A node in an exchange or a collective.
#[derive(Debug, Default)]
pub(super) struct MessagingNode {
    pub port: Port,
    rounds: Vec<Round>,
    /// Processor time of a message and of a byte, the same at either end, in ns.
    message_ns: f64,
    byte_ns: f64,
    round: usize,
    /// Prepared messages of which packets remain to be sent: receiver and remaining bytes.
    outbox: VecDeque<(Port, u64)>,
    /// When the software will have handled all messages assigned to it.
    software_free: Time,
    /// When the software began to prepare the messages of the round, and (`prepared`) the messages and bytes in the
    /// outbox so far.
    preparation_start: Time,
    prepared: (u64, u64),
    port_free: Time,
    /// For each round, the number of handled messages and the time of the last.
    received: Vec<(u64, Time)>,
    /// End of the last round.
    finish_time: Option<Time>,
    /// Time in which the processor was busy.
    pub busy: Span,
}

impl MessagingNode {
    pub fn new(port: Port, rounds: Vec<Round>, message_ns: f64, byte_ns: f64) -> Self {
        let received = vec![(0, Time::ZERO); rounds.len()];
        MessagingNode { port, rounds, message_ns, byte_ns, received, ..MessagingNode::default() }
    }

    fn software_time(&self, messages: u64, bytes: u64) -> Span {
        Span::from_ns((self.message_ns * messages as f64 + self.byte_ns * bytes as f64 + 0.5) as u64)
    }

    fn begin(&mut self, now: Time) {
        self.preparation_start = now.max(self.software_free);
        self.prepared = (0, 0);
        let (messages, bytes) =
            self.rounds[self.round].transfers.iter().fold((0, 0), |(messages, bytes), transfer| {
                (messages + transfer.message_count(), bytes + transfer.bytes)
            });
        let duration = self.software_time(messages, bytes);
        self.software_free = self.preparation_start + duration;
        self.busy += duration;
    }

    /// Returns when the software has prepared the next message; `None` after the last message of the round.
    fn next_prepared(&self) -> Option<Time> {
        let transfer = self.rounds.get(self.round)?.transfers.front()?;
        let (messages, bytes) = self.prepared;
        Some(
            self.preparation_start
                + self.software_time(messages + 1, bytes + transfer.bytes.min(transfer.message_bytes)),
        )
    }

    /// Returns when the next packet can be sent; `None` if all messages of the round have been sent.
    fn next_send(&self) -> Option<Time> {
        if self.outbox.is_empty() {
            Some(self.next_prepared()?.max(self.port_free))
        } else {
            Some(self.port_free)
        }
    }

    /// Returns when all messages of this round have been sent and handled, if that is known.
    fn round_end(&self) -> Option<Time> {
        let round = self.rounds.get(self.round)?;
        let (received, last_time) = self.received[self.round];
        let is_sent = round.transfers.is_empty() && self.outbox.is_empty();
        let (messages, bytes) = self.prepared;
        (is_sent && received >= round.awaited_messages).then(|| {
            self.port_free.max(last_time).max(self.preparation_start + self.software_time(messages, bytes))
        })
    }

    fn next_event(&self) -> Option<Time> {
        self.next_send().or_else(|| self.round_end())
    }

    fn advance(&mut self, now: Time, packet_bytes: u64, network: &mut dyn Network) {
        if self.next_send().is_some_and(|at| at <= now) {
            self.fill_outbox(now);
            self.send(now, packet_bytes, network);
        } else if self.round_end().is_some_and(|at| at <= now) {
            self.round += 1;
            if self.round < self.rounds.len() {
                self.begin(now);
            } else {
                self.finish_time = Some(now);
            }
        }
    }

    /// Moves messages that are prepared at `now` to the outbox, of each transfer in turn.
    fn fill_outbox(&mut self, now: Time) {
        while self.outbox.len() < MAX_OUTBOX && self.next_prepared().is_some_and(|at| at <= now) {
            let transfers = &mut self.rounds[self.round].transfers;
            let Some(mut transfer) = transfers.pop_front() else { break };
            let bytes = transfer.bytes.min(transfer.message_bytes);
            transfer.bytes -= bytes;
            if transfer.bytes > 0 {
                transfers.push_back(transfer);
            }
            self.prepared = (self.prepared.0 + 1, self.prepared.1 + bytes);
            self.outbox.push_back((transfer.to, bytes));
        }
    }

    fn send(&mut self, now: Time, packet_bytes: u64, network: &mut dyn Network) {
        let Some((receiver, remaining_bytes)) = self.outbox.pop_front() else { return };
        let bytes = packet_bytes.min(remaining_bytes);
        let tag = (self.round as u64) << 1 | u64::from(bytes == remaining_bytes);
        self.port_free = network.send(now, Packet { sender: self.port, receiver, bytes, tag });
        if bytes < remaining_bytes {
            self.outbox.push_back((receiver, remaining_bytes - bytes));
        }
    }

    fn receive(&mut self, now: Time, packet: &Packet) {
        let round = (packet.tag >> 1) as usize;
        let messages = packet.tag & 1;
        let duration = self.software_time(messages, packet.bytes);
        self.software_free = self.software_free.max(now) + duration;
        self.busy += duration;
        if let Some(received) = self.received.get_mut(round) {
            received.0 += messages;
            received.1 = self.software_free;
        }
    }
}

/// Runs the rounds of all nodes, starting at `now`; returns the end for each, and the end of all. Nodes are in
/// order of their ports. The client, which is not a node, receives messages without software.
///
/// # Errors
/// Awaited messages that are never sent, a defect; and an interrupt by the user.
pub(super) fn run(
    nodes: &mut [MessagingNode],
    network: &mut dyn Network,
    packet_bytes: u64,
    now: Time,
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<(Vec<Time>, Time)> {
    let mut due = BinaryHeap::new();
    let index_of =
        |nodes: &[MessagingNode], port: Port| nodes.binary_search_by_key(&port, |node| node.port).ok();
    for (index, node) in nodes.iter_mut().enumerate() {
        (node.software_free, node.port_free) = (now, now);
        if node.rounds.is_empty() {
            node.finish_time = Some(now);
            continue;
        }
        node.begin(now);
        node.next_event().into_iter().for_each(|at| due.push(Reverse((at, index))));
    }
    let mut arrived = Vec::new();
    let mut end = now;
    loop {
        let next = due.peek().map(|Reverse((at, _))| *at);
        // Arrivals come first, so that a node that awaits a message continues at the same time.
        if let Some(at) = network.next_event().filter(|at| next.is_none_or(|next| *at <= next)) {
            network.advance(at, &mut arrived);
            end = at;
            for packet in arrived.drain(..) {
                let Some(index) = index_of(nodes, packet.receiver) else { continue };
                let event_before = nodes[index].next_event();
                nodes[index].receive(at, &packet);
                let event_after = nodes[index].next_event();
                event_after
                    .filter(|_| event_after != event_before)
                    .into_iter()
                    .for_each(|at| due.push(Reverse((at, index))));
            }
            continue;
        }
        let Some(Reverse((at, index))) = due.pop() else { break };
        let node = &mut nodes[index];
        // A delayed event is in the queue again, under its new time.
        if node.finish_time.is_some() || node.next_event() != Some(at) {
            continue;
        }
        node.advance(at, packet_bytes, network);
        if node.finish_time.is_none() {
            node.next_event().into_iter().for_each(|at| due.push(Reverse((at, index))));
        }
        watch()?;
    }
    let lost_message_error = |node: &MessagingNode| {
        Error::internal(format!(
            "node {} waits in round {} for messages that no node sends",
            node.port, node.round
        ))
    };
    let ends = nodes.iter().map(|node| node.finish_time.ok_or_else(|| lost_message_error(node)));
    let ends = ends.collect::<Result<Vec<Time>>>()?;
    let last = ends.iter().copied().max().unwrap_or(now);
    Ok((ends, end.max(last)))
}
