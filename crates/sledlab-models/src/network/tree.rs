//! Switches of nodes under a top switch: packets that leave a switch share its uplink, packets from other switches
//! share its downlink.
//!
//! A packet crosses, in this order, its sender's port, the uplink of the sender's switch, the downlink of the
//! receiver's switch and the receiver's port; inside one switch it crosses only the ports. Every link is full duplex
//! and serves packets in the order in which they reach it. The client is connected to the top switch, as in a machine
//! room: nodes reach the client over their uplinks, and its port is as fast as theirs.
//!
//! Switches cut through: they forward a packet as soon as its first byte has arrived. An uplink faster than the ports
//! interleaves several packets, frame by frame: each packet occupies the uplink for as long as its bytes need there,
//! and its last byte arrives when the slowest link before has forwarded it.

use sledlab_core::{Span, Time};

use super::links::{Rate, Senders, latency};
use super::queue::Queue;
use super::{Model, Network, Packet, Port};

sledlab_core::params! {
    /// Parameters of the links and switches of a tree.
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
    /// Until when each link is busy: the uplinks of all switches, then their downlinks, then the links to all ports.
    busy_until: Vec<Time>,
    /// A lane for the packets from each of these links, and one for the packets from the senders.
    moving: Queue<PacketInTransit>,
}

/// A packet in transit, and the next place of its first byte.
#[derive(Clone, Copy, Debug)]
struct PacketInTransit {
    place: Place,
    /// The earliest time at which the packet's last byte reaches the place.
    complete_at: Time,
    packet: Packet,
}

/// The place that a packet reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The uplink of the sender's switch.
    Up,
    /// The downlink of the receiver's switch.
    Down,
    /// The link to the receiver.
    Port,
    /// The receiver, which has the entire packet.
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
            busy_until: vec![Time::ZERO; links],
            moving: Queue::new(links + 1),
        }
    }
}

impl Tree {
    /// The switch that a port is connected to; `None` is the top switch.
    fn switch(&self, port: Port) -> Option<usize> {
        (port != self.client).then(|| (port / self.nodes_per_switch) as usize)
    }

    /// Moves a packet on from the link of `lane` to a place, which its first byte reaches at `first` and its last byte
    /// at `complete_at` at the earliest.
    fn move_packet(&mut self, lane: usize, number: u64, first: Time, transit: PacketInTransit) {
        // The link to a receiver carries one packet at a time. A packet from a slower uplink occupies the link as late
        // as possible without arriving later, so it does not delay others before that.
        let reached_at = match transit.place {
            Place::Port => {
                let duration = self.port_rate.time(transit.packet.bytes);
                first.max(Time::ZERO + transit.complete_at.since(Time::ZERO + duration))
            }
            _ => first,
        };
        self.moving.push(lane, reached_at, number, transit);
    }

    /// Serves a packet that reaches a link at `now`.
    fn serve_link(&mut self, number: u64, now: Time, transit: PacketInTransit) {
        let PacketInTransit { place, complete_at, packet } = transit;
        let (link, rate, next) = match (place, self.switch(packet.sender), self.switch(packet.receiver)) {
            (Place::Up, Some(switch), None) => (switch, self.uplink_rate, Place::Port),
            (Place::Up, Some(switch), _) => (switch, self.uplink_rate, Place::Down),
            (Place::Down, _, Some(switch)) => (self.switches + switch, self.uplink_rate, Place::Port),
            _ => (2 * self.switches + packet.receiver as usize, self.port_rate, Place::There),
        };
        let start = now.max(self.busy_until[link]);
        let link_end = start + rate.time(packet.bytes);
        self.busy_until[link] = link_end;
        if next == Place::There {
            self.moving.push(
                link,
                link_end,
                number,
                PacketInTransit { place: next, complete_at: link_end, packet },
            );
        } else {
            let complete_at = complete_at.max(link_end) + self.hop;
            self.move_packet(
                link,
                number,
                start + self.hop,
                PacketInTransit { place: next, complete_at, packet },
            );
        }
    }
}

impl Network for Tree {
    fn send(&mut self, now: Time, packet: Packet) -> Time {
        let next = match (self.switch(packet.sender), self.switch(packet.receiver)) {
            (from, to) if from == to => Place::Port,
            (None, _) => Place::Down,
            _ => Place::Up,
        };
        let port_free = now + self.port_rate.time(packet.bytes);
        let number = self.moving.number();
        let transit = PacketInTransit { place: next, complete_at: port_free + self.latency, packet };
        self.move_packet(self.busy_until.len(), number, now + self.latency, transit);
        self.senders.occupy(packet.sender, now, port_free)
    }

    fn next_event(&self) -> Option<Time> {
        self.moving.next()
    }

    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>) {
        // Packets sent from now on reach no link before those due now. So each link gets its packets in order of time,
        // and in order of sending where several reach it at once.
        while let Some((arrival, number, transit)) = self.moving.pop(now) {
            match transit.place {
                Place::There => arrived.push(transit.packet),
                _ => self.serve_link(number, arrival, transit),
            }
        }
    }
}
