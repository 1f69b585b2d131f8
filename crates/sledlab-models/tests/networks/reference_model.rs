//! Networks compared with simple models: all packets are known beforehand, and each kind of link in turn sorts its
//! packets by time.

use proptest::prelude::*;
use sledlab_models::network::{Packet, Port};

use super::packet_traffic::{DeliveredPacket, PacketRequest, deliver, traffic};

/// The kinds of links, in the order in which packets cross them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkKind {
    Up,
    Down,
    Port,
}

/// A simple model of the links between the senders and the receivers.
struct ReferenceModel {
    byte_ns: u64,
    latency_ns: u64,
    hop_ns: u64,
    uplink_byte_ns: u64,
    nodes_per_switch: u32,
    client: Port,
}

/// A packet in transit, and when its first and its last byte reach the next link.
struct PacketProgress {
    packet: Packet,
    number: usize,
    first_at: u64,
    complete_at: u64,
}

impl ReferenceModel {
    fn switch(&self, port: Port) -> Option<Port> {
        (port != self.client).then(|| port / self.nodes_per_switch)
    }

    /// The link of this kind that a packet crosses, if any, and how long the packet takes there.
    fn link(&self, link_kind: LinkKind, packet: &Packet) -> Option<(usize, u64)> {
        let (from, to) = (self.switch(packet.sender), self.switch(packet.receiver));
        let uplink = |switch: Port| (switch as usize, packet.bytes * self.uplink_byte_ns);
        match link_kind {
            LinkKind::Port => Some((packet.receiver as usize, packet.bytes * self.byte_ns)),
            _ if from == to => None,
            LinkKind::Up => from.map(uplink),
            LinkKind::Down => to.map(uplink),
        }
    }

    /// The arrival of every packet, by tag. Of `delivered` only the order of sending is used, where times are equal.
    fn arrivals(&self, requests: &[PacketRequest], delivered: &[DeliveredPacket]) -> Vec<u64> {
        let mut numbers = vec![0; requests.len()];
        for delivery in delivered {
            numbers[delivery.packet.tag as usize] = delivery.number;
        }
        let mut free_at = vec![0; 64];
        let mut progresses = Vec::new();
        for (tag, request) in requests.iter().enumerate() {
            let free_at = &mut free_at[request.packet.sender as usize];
            let start = request.ready.as_ns().max(*free_at);
            *free_at = start + request.packet.bytes * self.byte_ns;
            let (first_at, complete_at) = (start + self.latency_ns, *free_at + self.latency_ns);
            let packet = Packet { tag: tag as u64, ..request.packet };
            progresses.push(PacketProgress { packet, number: numbers[tag], first_at, complete_at });
        }
        for link_kind in [LinkKind::Up, LinkKind::Down, LinkKind::Port] {
            self.cross(link_kind, &mut progresses);
        }
        progresses.sort_by_key(|progress| progress.packet.tag);
        progresses.iter().map(|progress| progress.complete_at).collect()
    }

    fn cross(&self, link_kind: LinkKind, progresses: &mut [PacketProgress]) {
        if link_kind == LinkKind::Port {
            for progress in progresses.iter_mut() {
                progress.first_at = progress
                    .first_at
                    .max(progress.complete_at.saturating_sub(progress.packet.bytes * self.byte_ns));
            }
        }
        progresses.sort_by_key(|progress| (progress.first_at, progress.number));
        let mut free_at = vec![0; 64];
        for progress in progresses {
            let Some((link, duration)) = self.link(link_kind, &progress.packet) else { continue };
            let start = progress.first_at.max(free_at[link]);
            free_at[link] = start + duration;
            let hop_ns = if link_kind == LinkKind::Port { 0 } else { self.hop_ns };
            progress.complete_at = progress.complete_at.max(free_at[link]) + hop_ns;
            progress.first_at = start + hop_ns;
        }
    }
}

fn arrivals(delivered: &[DeliveredPacket]) -> Vec<u64> {
    let mut by_tag = delivered.to_vec();
    by_tag.sort_by_key(|delivery| delivery.packet.tag);
    by_tag.iter().map(|delivery| delivery.arrived_at.as_ns()).collect()
}

/// A simple model with all ports on one switch, from which the other models are derived.
const FLAT: ReferenceModel = ReferenceModel {
    byte_ns: 80,
    latency_ns: 50_000,
    hop_ns: 0,
    uplink_byte_ns: 0,
    nodes_per_switch: 64,
    client: Port::MAX,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_switch_serves_by_time(requests in traffic(7), latency_us in prop_oneof![Just(0_u64), Just(50)]) {
        let model = ReferenceModel { latency_ns: latency_us * 1_000, ..FLAT };
        let delivered = deliver(&format!("switch:bandwidth_mbit_s=100:latency_us={latency_us}"), 7, &requests);
        prop_assert_eq!(arrivals(&delivered), model.arrivals(&requests, &delivered));
    }

    #[test]
    fn every_link_of_a_tree_serves_by_time(
        requests in traffic(8),
        latency_us in prop_oneof![Just(0_u64), Just(50)],
        hop_us in prop_oneof![Just(0_u64), Just(3)],
        (uplink_mbit_s, uplink_byte_ns) in prop_oneof![
            Just((25, 320)), Just((50, 160)), Just((100, 80)), Just((160, 50)), Just((1_000, 8)),
        ],
        nodes_per_switch in 1_u32..9,
    ) {
        let model = ReferenceModel {
            latency_ns: latency_us * 1_000,
            hop_ns: hop_us * 1_000,
            uplink_byte_ns,
            nodes_per_switch,
            client: 7,
            ..FLAT
        };
        let word = format!(
            "tree:bandwidth_mbit_s=100:latency_us={latency_us}:hop_us={hop_us}:uplink_mbit_s={uplink_mbit_s}:\
             nodes_per_switch={nodes_per_switch}"
        );
        let delivered = deliver(&word, 8, &requests);
        prop_assert_eq!(arrivals(&delivered), model.arrivals(&requests, &delivered));
    }

    /// Traffic without the client, and with a client where uplinks take no time.
    #[test]
    fn a_tree_of_one_switch_is_a_switch(requests in traffic(7), ports in 7_usize..9) {
        let link = "bandwidth_mbit_s=77:latency_us=50";
        let tree = format!("tree:{link}:nodes_per_switch=64:uplink_mbit_s=1e9:hop_us=0");
        prop_assert_eq!(deliver(&tree, ports, &requests), deliver(&format!("switch:{link}"), ports, &requests));
    }

    /// Packets to the client cross one switch more.
    #[test]
    fn the_client_is_a_hop_away(requests in traffic(7)) {
        let to_client = |request: &PacketRequest| {
            let packet = Packet { receiver: 7, ..request.packet };
            PacketRequest { packet, ..*request }
        };
        let requests: Vec<PacketRequest> = requests.iter().map(to_client).collect();
        let link = "bandwidth_mbit_s=77:latency_us=50";
        let tree = deliver(&format!("tree:{link}:nodes_per_switch=64:uplink_mbit_s=1e9:hop_us=3"), 8, &requests);
        let flat = deliver(&format!("switch:{link}"), 8, &requests);
        let expected: Vec<u64> = arrivals(&flat).iter().map(|ns| ns + 3_000).collect();
        prop_assert_eq!(arrivals(&tree), expected);
    }
}
