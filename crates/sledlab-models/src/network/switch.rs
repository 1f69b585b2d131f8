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
    taken: Vec<Time>,
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
            taken: vec![Time::ZERO; ports],
            arriving: Queue::new(ports),
        }
    }
}

impl Switch {
    /// Reserves the receiver's link for a packet that reaches the link at `reached`; returns when its last byte has
    /// crossed.
    ///
    /// All packets take the same time to reach the receiver's link, so they reach it in order of sending, and one time
    /// per link describes its entire queue.
    fn reserve_link(&mut self, to: Port, reached: Time, takes: Span) -> Time {
        let taken = &mut self.taken[to as usize];
        *taken = reached.max(*taken) + takes;
        *taken
    }
}

impl Network for Switch {
    fn send(&mut self, now: Time, packet: Packet) -> Time {
        let takes = self.rate.time(packet.bytes);
        let arrives = self.reserve_link(packet.receiver, now + self.latency, takes);
        let number = self.arriving.number();
        self.arriving.push(packet.receiver as usize, arrives, number, packet);
        self.senders.occupy(packet.sender, now, now + takes)
    }

    fn next_event(&self) -> Option<Time> {
        self.arriving.next()
    }

    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>) {
        arrived.extend(std::iter::from_fn(|| self.arriving.pop(now)).map(|(_, _, packet)| packet));
    }
}
