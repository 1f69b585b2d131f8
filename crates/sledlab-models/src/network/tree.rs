//! Switches of nodes under one switch: what leaves a switch shares its uplink, what comes from elsewhere its downlink.
//!
//! A packet crosses, in this order, its sender's port, the uplink of the sender's switch, the downlink of the receiver's
//! and the receiver's port; inside one switch only the ports. Every link is full duplex and serves packets in the order
//! in which they reach it. The client hangs on the switch at the top, where it would be in a machine room: nodes reach
//! it over their uplink, and it has a port of its own, as fast as theirs.
//!
//! Switches cut through: a packet goes on as soon as its first byte is there. An uplink faster than the ports carries
//! several packets between one another, frame by frame: each takes as much of it as its bytes need, and its last byte
//! comes when the slowest link before has let it go.

use sledlab_core::{Span, Time};

use super::links::{Rate, Senders, latency};
use super::queue::Queue;
use super::{Model, Network, Packet, Port};

sledlab_core::params! {
    /// Links and switches of a tree.
    pub struct TreeParams {
        /// Bandwidth of a port, in each direction.
        bandwidth_mbit_s: f64 = 25_000.0, "Mbit/s", 1e-3..1e9;
        /// Latency of a packet from link to link through one switch, with adapters and software.
        latency_us: f64 = 10.0, "us", 0.0..1e9;
        /// Longest packet, in 1024 bytes; longer messages are cut, so that flows interleave.
        packet_kb: u64 = 64_u64, "KB", 1..1e6;
        /// Power of a port, with its share of the switches.
        port_w: f64 = 0.0, "W", 0.0..1e4;
        /// Nodes on a switch.
        nodes_per_switch: u64 = 16_u64, "", 1..1e6;
        /// Bandwidth between a switch and the one at the top, in each direction.
        uplink_mbit_s: f64 = 100_000.0, "Mbit/s", 1e-3..1e9;
        /// Latency of every switch after the first.
        hop_us: f64 = 1.0, "us", 0.0..1e9;
    }
}

/// Two levels of switches.
#[derive(Debug)]
pub struct Tree {
    port_rate: Rate,
    uplink_rate: Rate,
    latency: Span,
    hop: Span,
    nodes_per_switch: u32,
    switches: usize,
    client: Port,
    senders: Senders,
    /// Until when a link is taken: from each switch to the top, from the top to each switch, to each port.
    taken: Vec<Time>,
    /// A lane for what comes over each of these links, and one for what comes from the senders.
    moving: Queue<Moving>,
}

/// A packet whose first byte has reached a place.
#[derive(Clone, Copy, Debug)]
struct Moving {
    place: Place,
    /// When its last byte can be there.
    whole: Time,
    packet: Packet,
}

/// What a packet has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The uplink of the sender's switch.
    Up,
    /// The downlink of the receiver's switch.
    Down,
    /// The link to the receiver.
    Port,
    /// The receiver, wholly.
    There,
}

impl Model for Tree {
    type Params = TreeParams;
    const NAME: &'static str = "tree";
    const MEANING: &'static str = "switches of nodes under uplinks that they share; the client is at the top";

    fn new(params: &TreeParams, ports: usize) -> Self {
        let nodes = ports.saturating_sub(1);
        let switches = nodes.div_ceil(params.nodes_per_switch as usize);
        let links = 2 * switches + ports;
        Tree {
            port_rate: Rate::mbit_s(params.bandwidth_mbit_s),
            uplink_rate: Rate::mbit_s(params.uplink_mbit_s),
            latency: latency(params.latency_us),
            hop: latency(params.hop_us),
            nodes_per_switch: params.nodes_per_switch as u32,
            switches,
            client: nodes as Port,
            senders: Senders::new(ports),
            taken: vec![Time::ZERO; links],
            moving: Queue::new(links + 1),
        }
    }
}

impl Tree {
    /// The switch that a port hangs on; `None` is the one at the top.
    fn switch(&self, port: Port) -> Option<usize> {
        (port != self.client).then(|| (port / self.nodes_per_switch) as usize)
    }

    /// A packet goes on, from a lane to a place where its first byte is at `first` and its last can be at `whole`.
    fn onward(&mut self, lane: usize, number: u64, first: Time, moving: Moving) {
        // The link to a receiver carries one packet at a time: one that comes from a slower uplink takes its turn as
        // late as it can without arriving any later, and keeps nobody waiting before.
        let reached = match moving.place {
            Place::Port => {
                let takes = self.port_rate.time(moving.packet.bytes);
                first.max(Time::ZERO + moving.whole.since(Time::ZERO + takes))
            }
            _ => first,
        };
        self.moving.push(lane, reached, number, moving);
    }

    /// Serves a packet that reaches a link at `now`.
    fn cross(&mut self, number: u64, now: Time, moving: Moving) {
        let Moving { place, whole, packet } = moving;
        let (link, rate, next) = match (place, self.switch(packet.from), self.switch(packet.to)) {
            (Place::Up, Some(switch), None) => (switch, self.uplink_rate, Place::Port),
            (Place::Up, Some(switch), _) => (switch, self.uplink_rate, Place::Down),
            (Place::Down, _, Some(switch)) => (self.switches + switch, self.uplink_rate, Place::Port),
            _ => (2 * self.switches + packet.to as usize, self.port_rate, Place::There),
        };
        let start = now.max(self.taken[link]);
        let through = start + rate.time(packet.bytes);
        self.taken[link] = through;
        if next == Place::There {
            self.moving.push(link, through, number, Moving { place: next, whole: through, packet });
        } else {
            let whole = whole.max(through) + self.hop;
            self.onward(link, number, start + self.hop, Moving { place: next, whole, packet });
        }
    }
}

impl Network for Tree {
    fn send(&mut self, now: Time, packet: Packet) -> Time {
        let next = match (self.switch(packet.from), self.switch(packet.to)) {
            (from, to) if from == to => Place::Port,
            (None, _) => Place::Down,
            _ => Place::Up,
        };
        let free = now + self.port_rate.time(packet.bytes);
        let number = self.moving.number();
        let moving = Moving { place: next, whole: free + self.latency, packet };
        self.onward(self.taken.len(), number, now + self.latency, moving);
        self.senders.occupy(packet.from, now, free)
    }

    fn next_event(&self) -> Option<Time> {
        self.moving.next()
    }

    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>) {
        // Whatever is sent from now on reaches no link before what is due now: each link meets its packets in order of
        // time, and those that reach it at once, in order of sending.
        while let Some((at, number, moving)) = self.moving.pop(now) {
            match moving.place {
                Place::There => arrived.push(moving.packet),
                _ => self.cross(number, at, moving),
            }
        }
    }
}
