//! One medium shared by all ports, such as a bus or an Ethernet hub: one packet at a time, in order of sending.
//! Collisions and their cost are not modeled.

use std::collections::VecDeque;

use sledlab_core::{Span, Time};

use super::links::{Rate, Senders, latency};
use super::{LinkParams, Model, Network, Packet};

/// A medium that every port shares.
#[derive(Debug)]
pub struct Hub {
    rate: Rate,
    latency: Span,
    senders: Senders,
    /// Until when the medium is busy.
    busy_until: Time,
    /// Packets in transit with their arrivals, in the order in which they cross the medium and arrive.
    arriving: VecDeque<(Time, Packet)>,
}

impl Model for Hub {
    type Params = LinkParams;
    const NAME: &'static str = "hub";
    const MEANING: &'static str = "one shared medium, one packet at a time";

    fn new(params: &LinkParams, ports: usize) -> Self {
        Hub {
            rate: Rate::mbit_s(params.bandwidth_mbit_s),
            latency: latency(params.latency_us),
            senders: Senders::new(ports),
            busy_until: Time::ZERO,
            arriving: VecDeque::new(),
        }
    }
}

impl Network for Hub {
    fn send(&mut self, now: Time, packet: Packet) -> Time {
        self.busy_until = now.max(self.busy_until) + self.rate.time(packet.bytes);
        self.arriving.push_back((self.busy_until + self.latency, packet));
        self.senders.occupy(packet.sender, now, self.busy_until)
    }

    fn next_event(&self) -> Option<Time> {
        self.arriving.front().map(|(arrival, _)| *arrival)
    }

    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>) {
        while let Some((_, packet)) = self.arriving.front().filter(|(arrival, _)| *arrival <= now) {
            arrived.push(*packet);
            self.arriving.pop_front();
        }
    }
}
