//! One switch: full-duplex ports, first come first served at both ends, cut-through, unlimited memory.

use sledlab_core::{Span, Time};

use super::links::{Rate, Senders, latency};
use super::queue::Queue;
use super::{LinkParams, Model, Network, Packet, Port};

/// A switch to which every port is connected.
#[derive(Debug)]
pub struct Switch {
    rate: Rate,
    latency: Span,
    senders: Senders,
    /// For each port, until when the link from the switch to the port is busy.
    busy_until: Vec<Time>,
    /// A lane for each receiver.
    arriving: Queue<Packet>,
}

impl Model for Switch {
    type Params = LinkParams;
    const NAME: &'static str = "switch";
    const MEANING: &'static str = "full duplex ports on one switch, first come first served, cut-through";

    fn new(params: &LinkParams, ports: usize) -> Self {
        Switch {
            rate: Rate::mbit_s(params.bandwidth_mbit_s),
            latency: latency(params.latency_us),
            senders: Senders::new(ports),
            busy_until: vec![Time::ZERO; ports],
            arriving: Queue::new(ports),
        }
    }
}

impl Switch {
    /// Reserves the receiver's link for a packet that reaches the link at `reached_at`; returns when its last byte has
    /// crossed.
    ///
    /// All packets take the same time to reach the receiver's link, so they reach it in order of sending, and one time
    /// per link describes its entire queue.
    fn reserve_link(&mut self, receiver: Port, reached_at: Time, duration: Span) -> Time {
        let busy_until = &mut self.busy_until[receiver as usize];
        *busy_until = reached_at.max(*busy_until) + duration;
        *busy_until
    }
}

impl Network for Switch {
    fn send(&mut self, now: Time, packet: Packet) -> Time {
        let duration = self.rate.time(packet.bytes);
        let arrival = self.reserve_link(packet.receiver, now + self.latency, duration);
        let number = self.arriving.number();
        self.arriving.push(packet.receiver as usize, arrival, number, packet);
        self.senders.occupy(packet.sender, now, now + duration)
    }

    fn next_event(&self) -> Option<Time> {
        self.arriving.next()
    }

    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>) {
        arrived.extend(std::iter::from_fn(|| self.arriving.pop(now)).map(|(_, _, packet)| packet));
    }
}
