//! A step of a node that overlaps reading, computing, writing and messages (`node.prefetch_pages > 0`). The node reads
//! ahead and writes behind, the processor works on pages that have been read, and messages are sent and received
//! meanwhile.

use std::collections::VecDeque;

use sledlab_core::{Op, Result, Span, Time};
use sledlab_models::network::{Network, Packet, Port};
use sledlab_trace::work::{NodeStep, Work};

use super::member::{Member, MemberParts};
use super::messages::{Message, messages};
use super::sampling::Sampling;
use super::sequence::{Cursor, Sequence};
use super::share::Share;
use super::store::Traffic;

/// The component to which the time of a node is charged while its step is not done: the first of these that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cause {
    /// The processor works on data.
    Compute,
    /// The processor packs or receives messages, or a message is in transfer.
    Network,
    /// Pages are being read or written.
    Store,
    /// None of the above: the node waits for other nodes.
    #[default]
    Waiting,
}

/// A task of the processor.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// The compute part of a unit of the step; its network part follows.
    Unit { network: Span },
    /// The network part of a unit.
    Packing,
    /// Software for a message to send.
    Posting,
    /// Receiving messages: their number and bytes.
    Receiving { messages: u64, bytes: u64 },
}

/// Operation, first block and blocks of a request to the store.
type StoreRequest = (Op, u64, u32);

/// The step of a node. Its units of work are the pages it reads. If it reads none, the units are incoming messages;
/// without these, the entire step is one unit.
pub(super) struct Overlap {
    reads: Sequence,
    writes: Sequence,
    reading: Cursor,
    writing: Cursor,
    depth: u64,
    request: Span,
    units: u64,
    done: u64,
    compute: Share,
    network: Share,
    /// Reads issued so far, reads in flight (`reads_in_flight`), and pages read that wait for the processor (`ready`).
    reads_issued: u64,
    reads_in_flight: u64,
    ready: u64,
    /// Pages to write that have become due so far; the next fields count writes issued and in flight.
    due: u64,
    unit_writes: Share,
    byte_writes: Share,
    writes_issued: u64,
    writes_in_flight: u64,
    /// Requests that wait for their software: the time when each is ready, and the request to the store; `None` for a
    /// page in the page cache.
    software: VecDeque<(Time, Option<StoreRequest>)>,
    software_free: Time,
    task: Option<(Task, Time)>,
    /// Messages in the order of the units of work after which they are due.
    messages: Vec<Message>,
    sent: usize,
    outbox: VecDeque<(Port, u64)>,
    port_free: Time,
    /// Messages and bytes that the step awaits; `arrived` wait for software, `handled_*` have been processed.
    awaited_messages: u64,
    awaited_bytes: u64,
    /// Bytes that the node sends to itself; they count as received when they are packed.
    own_bytes: Share,
    arrived: (u64, u64),
    handled_messages: u64,
    handled_bytes: u64,
    /// Packets in transfer to this node.
    inbound: u64,
    last_update: Time,
    cause: Cause,
    pub parts: MemberParts,
    pub finish_time: Option<Time>,
    sampling: Sampling,
    /// The time of skipped passes that [`advance`](Self::advance) has not added to its clock yet.
    delay: Span,
}

/// Messages and bytes that a node receives in a phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IncomingMessages {
    pub messages: u64,
    pub bytes: u64,
}

impl Overlap {
    /// Begins the step of `member` at `now`.
    ///
    /// # Errors
    /// Kinds of operation without cycles.
    pub fn new(
        member: &mut Member,
        work: &Work,
        phase: &str,
        step: &NodeStep,
        incoming: IncomingMessages,
        now: Time,
    ) -> Result<Self> {
        let reads = member.sequence(work, phase, &step.reads);
        let writes = member.sequence(work, &format!("{phase}, written"), &step.writes);
        let charge = member.charge(work, step)?;
        let own_bytes =
            step.sends.iter().find(|(to, _)| *to as usize == member.index).map_or(0, |(_, bytes)| *bytes);
        let units = match (reads.len(), incoming.messages) {
            (0, 0) => 1,
            (0, messages) => messages,
            (pages, _) => pages,
        };
        let received_bytes = incoming.bytes + own_bytes;
        let batch = member.node.params.write_batch_pages;
        let byte_writes = if received_bytes > 0 { writes.len() } else { 0 };
        // Passes may be skipped if no other node affects the step.
        let is_alone =
            incoming.messages == 0 && step.sends.iter().all(|(to, _)| *to as usize == member.index);
        let sampling = if is_alone { member.sampling(&reads, &writes, phase) } else { Sampling::none() };
        let mut overlap = Overlap {
            depth: member.node.params.prefetch_pages.max(1),
            request: member.request_overhead(phase),
            units,
            done: 0,
            compute: Share::new(charge.compute_ns, units),
            network: Share::new(charge.network_ns, units),
            reads_issued: 0,
            reads_in_flight: 0,
            ready: u64::from(reads.len() == 0 && incoming.messages == 0),
            due: 0,
            unit_writes: Share::in_batches(writes.len() - byte_writes, units, batch),
            byte_writes: Share::in_batches(byte_writes, received_bytes, batch),
            writes_issued: 0,
            writes_in_flight: 0,
            software: VecDeque::new(),
            software_free: now,
            task: None,
            messages: messages(member, work, step, units, reads.len() == 0 && received_bytes > 0),
            sent: 0,
            outbox: VecDeque::new(),
            port_free: now,
            awaited_messages: incoming.messages,
            awaited_bytes: received_bytes,
            own_bytes: Share::new(own_bytes, units),
            arrived: (0, 0),
            handled_messages: 0,
            handled_bytes: 0,
            inbound: 0,
            last_update: now,
            cause: Cause::Waiting,
            parts: MemberParts::default(),
            finish_time: None,
            sampling,
            delay: Span::ZERO,
            reading: Cursor::default(),
            writing: Cursor::default(),
            reads,
            writes,
        };
        if overlap.sampling.next == 0 {
            overlap.sampling.reach(0, 0, member.state(overlap.parts));
        }
        overlap.cause = overlap.current_cause();
        Ok(overlap)
    }

    /// Returns the time of the node's next event.
    pub fn next_event(&self, member: &Member) -> Option<Time> {
        let store = member.store.as_ref().and_then(super::store::Store::next_event);
        let software = self.software.front().map(|(at, _)| *at);
        let port = (!self.outbox.is_empty() || self.port_free > self.last_update).then_some(self.port_free);
        let task = self.task.map(|(_, until)| until);
        [store, software, port, task].into_iter().flatten().min()
    }

    /// Notes that a packet to this node is sent at `now`. The transfer ends the time in which an idle node waits.
    pub fn expect_packet(&mut self, now: Time) {
        self.inbound += 1;
        if self.inbound == 1 {
            self.charge_time(now);
            self.cause = self.current_cause();
        }
    }

    /// Handles the arrival of a packet.
    pub fn receive(&mut self, packet: &Packet) {
        self.inbound -= 1;
        self.arrived.0 += packet.tag;
        self.arrived.1 += packet.bytes;
    }

    /// Charges the time since the last call to its component.
    fn charge_time(&mut self, now: Time) {
        let span = now.since(self.last_update);
        *match self.cause {
            Cause::Compute => &mut self.parts.compute,
            Cause::Network => &mut self.parts.network,
            Cause::Store => &mut self.parts.store,
            Cause::Waiting => &mut self.parts.waiting,
        } += span;
        self.last_update = now;
    }

    /// Ends the phase at `now`.
    pub fn end(&mut self, now: Time) {
        self.charge_time(now);
    }

    /// Handles all events due at `now`; adds the ports to which packets were sent to `destinations`.
    ///
    /// # Errors
    /// An error of a scheduler or power policy.
    pub fn advance(
        &mut self,
        mut now: Time,
        member: &mut Member,
        packet_bytes: u64,
        mut network: Option<&mut dyn Network>,
        destinations: &mut Vec<Port>,
    ) -> Result<()> {
        self.charge_time(now);
        loop {
            self.complete(now, member);
            let mut has_progressed = self.end_task(now, member)?;
            now += std::mem::take(&mut self.delay);
            has_progressed |= self.begin_task(now, member);
            has_progressed |= self.issue_requests(now, member)?;
            if let Some(network) = network.as_deref_mut() {
                has_progressed |= self.send(now, packet_bytes, member, network, destinations);
            }
            if !has_progressed {
                break;
            }
        }
        self.cause = self.current_cause();
        if self.is_done(now) && self.finish_time.is_none() {
            self.finish_time = Some(now);
            member.note_sampling(&self.sampling);
        }
        Ok(())
    }

    fn current_cause(&self) -> Cause {
        let has_missing_pages = self.reads_issued < self.reads.len() || self.reads_in_flight + self.ready > 0;
        let has_pending_writes = self.writes_in_flight > 0 || self.writes_issued < self.due;
        let is_sending = !self.outbox.is_empty() || self.port_free > self.last_update;
        match self.task {
            Some((Task::Unit { .. }, _)) => Cause::Compute,
            Some(_) => Cause::Network,
            None if has_missing_pages || has_pending_writes => Cause::Store,
            None if is_sending || self.inbound > 0 => Cause::Network,
            None => Cause::Waiting,
        }
    }

    fn is_done(&self, now: Time) -> bool {
        self.done == self.units
            && self.task.is_none()
            && self.sent == self.messages.len()
            && self.outbox.is_empty()
            && self.port_free <= now
            && self.handled_messages == self.awaited_messages
            && self.handled_bytes == self.awaited_bytes
            && self.writes_in_flight == 0
            && self.writes_issued == self.due
            && self.software.is_empty()
    }

    /// Issues requests whose software is done, and handles completions of the store.
    fn complete(&mut self, now: Time, member: &mut Member) {
        let Some(store) = &mut member.store else { return };
        while let Some((_, request)) = self.software.front().copied().filter(|(at, _)| *at <= now) {
            self.software.pop_front();
            if let Some((op, lbn, blocks)) = request {
                store.arrive(now, op, lbn, blocks);
            } else {
                self.reads_in_flight -= 1;
                self.ready += 1;
            }
        }
        if store.next_event().is_some_and(|at| at <= now) {
            let (reads, writes) = store.advance(now);
            self.reads_in_flight -= reads;
            self.ready += reads;
            self.writes_in_flight -= writes;
            member.simulated_pages += reads + writes;
        }
    }

    /// Ends the processor's task if it is over, and returns whether it was.
    fn end_task(&mut self, now: Time, member: &mut Member) -> Result<bool> {
        let Some((task, _)) = self.task.take_if(|(_, until)| *until <= now) else { return Ok(false) };
        match task {
            Task::Unit { network } if network > Span::ZERO => {
                member.processor_busy += network;
                self.task = Some((Task::Packing, now + network));
            }
            Task::Unit { .. } | Task::Packing => self.end_unit(now, member)?,
            Task::Posting => self.post_message(),
            Task::Receiving { messages, bytes } => self.handle_messages(messages, bytes),
        }
        Ok(true)
    }

    /// Ends a unit of work: its messages and result pages are due.
    fn end_unit(&mut self, now: Time, member: &mut Member) -> Result<()> {
        self.done += 1;
        self.due += self.unit_writes.take_due(self.done);
        let own_bytes = self.own_bytes.take_due(self.done);
        self.add_handled_bytes(own_bytes);
        if self.done == self.sampling.next {
            self.end_group(now, member)?;
        }
        Ok(())
    }

    /// Moves the next message to the outbox.
    fn post_message(&mut self) {
        let message = self.messages[self.sent];
        self.outbox.push_back((message.to, message.bytes));
        self.sent += 1;
    }

    /// Counts `bytes` as received; result pages that depend on them are due.
    fn add_handled_bytes(&mut self, bytes: u64) {
        self.handled_bytes += bytes;
        self.due += self.byte_writes.take_due(self.handled_bytes);
    }

    fn handle_messages(&mut self, messages: u64, bytes: u64) {
        self.handled_messages += messages;
        self.add_handled_bytes(bytes);
        if self.reads.len() == 0 {
            self.ready += messages;
        }
    }

    /// Starts the next task of the processor and returns whether there was one. Messages to send come first, because
    /// other nodes may wait for them, then received messages.
    fn begin_task(&mut self, now: Time, member: &mut Member) -> bool {
        if self.task.is_some() {
            return false;
        }
        if self.begin_posting(now, member) {
            return true;
        }
        let (messages, bytes) = std::mem::take(&mut self.arrived);
        self.begin_receiving(now, member, messages, bytes) || self.begin_unit(now, member)
    }

    fn begin_receiving(&mut self, now: Time, member: &mut Member, messages: u64, bytes: u64) -> bool {
        if messages + bytes == 0 {
            return false;
        }
        let duration = Span::from_ns(member.message_ns(messages, bytes));
        if duration > Span::ZERO {
            member.processor_busy += duration;
            self.task = Some((Task::Receiving { messages, bytes }, now + duration));
            return true;
        }
        self.handle_messages(messages, bytes);
        false
    }

    /// Starts the software of the next message that is due. Messages are sent one by one, while the processor prepares
    /// the next ones.
    fn begin_posting(&mut self, now: Time, member: &mut Member) -> bool {
        while let Some(message) = self.messages.get(self.sent).filter(|message| message.unit <= self.done) {
            let duration = Span::from_ns(member.message_ns(1, message.bytes));
            if duration > Span::ZERO {
                member.processor_busy += duration;
                self.task = Some((Task::Posting, now + duration));
                return true;
            }
            self.post_message();
        }
        false
    }

    fn begin_unit(&mut self, now: Time, member: &mut Member) -> bool {
        if self.ready == 0 || self.done == self.units {
            return false;
        }
        self.ready -= 1;
        let unit = self.done + 1;
        let compute = Span::from_ns(self.compute.take_due(unit));
        let network = Span::from_ns(self.network.take_due(unit));
        member.processor_busy += compute;
        self.task = Some((Task::Unit { network }, now + compute));
        true
    }

    /// Issues read-ahead and write-behind requests to the store; returns whether it issued any.
    fn issue_requests(&mut self, now: Time, member: &mut Member) -> Result<bool> {
        let mut has_issued = false;
        while self.reads_issued < self.reads.len() && self.reads_in_flight + self.ready < self.depth {
            let Some((lbn, blocks)) = self.reading.next(&self.reads, &member.files) else { break };
            self.reads_issued += 1;
            self.reads_in_flight += 1;
            self.issue(now, member, Op::Read, lbn, blocks)?;
            has_issued = true;
        }
        while self.writes_issued < self.due && self.writes_in_flight < self.depth {
            let Some((lbn, blocks)) = self.writing.next(&self.writes, &member.files) else { break };
            self.writes_issued += 1;
            self.writes_in_flight += 1;
            self.issue(now, member, Op::Write, lbn, blocks)?;
            has_issued = true;
        }
        Ok(has_issued)
    }

    fn issue(&mut self, now: Time, member: &mut Member, op: Op, lbn: u64, blocks: u32) -> Result<()> {
        let is_cached = member.is_cached(op, lbn, blocks);
        if self.request == Span::ZERO && !is_cached {
            member.store()?.arrive(now, op, lbn, blocks);
        } else {
            self.software_free = self.software_free.max(now) + self.request;
            self.software.push_back((self.software_free, (!is_cached).then_some((op, lbn, blocks))));
        }
        Ok(())
    }

    /// Sends the next packet if the link is free, and returns whether a packet was sent. Packets of the messages in the
    /// outbox take turns.
    fn send(
        &mut self,
        now: Time,
        packet_bytes: u64,
        member: &Member,
        network: &mut dyn Network,
        destinations: &mut Vec<Port>,
    ) -> bool {
        if self.port_free > now {
            return false;
        }
        let Some((receiver, remaining_bytes)) = self.outbox.pop_front() else { return false };
        let bytes = packet_bytes.min(remaining_bytes);
        let tag = u64::from(bytes == remaining_bytes);
        if bytes < remaining_bytes {
            self.outbox.push_back((receiver, remaining_bytes - bytes));
        }
        destinations.push(receiver);
        self.port_free = network.send(now, Packet { sender: member.index as Port, receiver, bytes, tag });
        true
    }

    /// Skips passes of a nested loop when the last page of a group of passes is done: all events in flight are delayed
    /// by the time of the skipped passes.
    fn end_group(&mut self, now: Time, member: &mut Member) -> Result<()> {
        self.charge_time(now);
        let state = member.state(self.parts);
        let skip = self.sampling.reach(self.done, self.reads_issued - self.done, state);
        let mut traffic = Traffic::default();
        if skip.passes > 0 {
            self.done += skip.pages;
            self.reads_issued += skip.pages;
            let compute = Span::from_ns(self.compute.take_due(self.done));
            let network = Span::from_ns(self.network.take_due(self.done));
            let due_before = self.due;
            self.due += self.unit_writes.take_due(self.done);
            let own_bytes = self.own_bytes.take_due(self.done);
            self.add_handled_bytes(own_bytes);
            let written_pages = self.due - due_before;
            self.writes_issued += written_pages;
            let written_pages =
                (written_pages, self.writing.skip_pages(&self.writes, &member.files, written_pages));
            let blocks = self.reading.skip_passes(&self.reads, skip.passes);
            traffic = Traffic::new((skip.pages, blocks), written_pages);
            self.parts.compute += compute;
            self.parts.network += network;
            self.delay += compute + network;
            member.processor_busy += compute + network;
        }
        self.parts.store += skip.store;
        self.delay += skip.store;
        member.skip(self.delay, traffic, skip.energy)?;
        self.last_update += self.delay;
        self.software_free += self.delay;
        self.software.iter_mut().for_each(|(at, _)| *at += self.delay);
        self.port_free = self.port_free.max(self.last_update);
        Ok(())
    }
}
