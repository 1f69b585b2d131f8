//! Wires of `LogGP`: latency plus bytes over bandwidth, without contention at the receiver. The distance to other
//! networks shows what contention costs.

use sledlab_core::{Span, Time};

use super::links::{Rate, Senders, latency};
use super::queue::Queue;
use super::{LinkParams, Model, Network, Packet};

/// A wire from every port to every other port.
#[derive(Debug)]
pub struct Ideal {
    rate: Rate,
    latency: Span,
    senders: Senders,
    /// A lane for each sender.
    arriving: Queue<Packet>,
}

impl Model for Ideal {
    type Params = LinkParams;
    const NAME: &'static str = "ideal";
    const MEANING: &'static str =
        "latency and bytes over bandwidth (LogGP); receivers accept any number at once";

    fn new(params: &LinkParams, ports: usize) -> Self {
        Ideal {
            rate: Rate::mbit_s(params.bandwidth_mbit_s),
            latency: latency(params.latency_us),
            senders: Senders::new(ports),
            arriving: Queue::new(ports),
        }
    }
}

impl Network for Ideal {
    fn send(&mut self, now: Time, packet: Packet) -> Time {
        let port_free = now + self.rate.time(packet.bytes);
        let number = self.arriving.number();
        self.arriving.push(packet.sender as usize, port_free + self.latency, number, packet);
        self.senders.occupy(packet.sender, now, port_free)
    }

    fn next_event(&self) -> Option<Time> {
        self.arriving.next()
    }

    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>) {
        arrived.extend(std::iter::from_fn(|| self.arriving.pop(now)).map(|(_, _, packet)| packet));
    }
}
