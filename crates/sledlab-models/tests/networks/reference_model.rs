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
    first: u64,
    complete_at: u64,
}

impl ReferenceModel {
    fn switch(&self, port: Port) -> Option<Port> {
        (port != self.client).then(|| port / self.nodes_per_switch)
    }

    /// The link of this kind that a packet crosses, if any, and how long the packet takes there.
    fn link(&self, sort: LinkKind, packet: &Packet) -> Option<(usize, u64)> {
        let (from, to) = (self.switch(packet.sender), self.switch(packet.receiver));
        let uplink = |switch: Port| (switch as usize, packet.bytes * self.uplink_byte_ns);
        match sort {
            LinkKind::Port => Some((packet.receiver as usize, packet.bytes * self.byte_ns)),
            _ if from == to => None,
            LinkKind::Up => from.map(uplink),
            LinkKind::Down => to.map(uplink),
        }
    }

    /// The arrival of every packet, by tag. Of `carried` only the order of sending is used, where times are equal.
    fn arrivals(&self, wishes: &[PacketRequest], carried: &[DeliveredPacket]) -> Vec<u64> {
        let mut numbers = vec![0; wishes.len()];
        for one in carried {
            numbers[one.packet.tag as usize] = one.number;
        }
        let mut free = vec![0; 64];
        let mut ways = Vec::new();
        for (tag, wish) in wishes.iter().enumerate() {
            let free = &mut free[wish.packet.sender as usize];
            let start = wish.ready.as_ns().max(*free);
            *free = start + wish.packet.bytes * self.byte_ns;
            let (first, full) = (start + self.latency_ns, *free + self.latency_ns);
            let packet = Packet { tag: tag as u64, ..wish.packet };
            ways.push(PacketProgress { packet, number: numbers[tag], first, complete_at: full });
        }
        for sort in [LinkKind::Up, LinkKind::Down, LinkKind::Port] {
            self.cross(sort, &mut ways);
        }
        ways.sort_by_key(|way| way.packet.tag);
        ways.iter().map(|way| way.complete_at).collect()
    }

    fn cross(&self, sort: LinkKind, ways: &mut [PacketProgress]) {
        if sort == LinkKind::Port {
            for way in ways.iter_mut() {
                way.first = way.first.max(way.complete_at.saturating_sub(way.packet.bytes * self.byte_ns));
            }
        }
        ways.sort_by_key(|way| (way.first, way.number));
        let mut free = vec![0; 64];
        for way in ways {
            let Some((link, takes)) = self.link(sort, &way.packet) else { continue };
            let start = way.first.max(free[link]);
            free[link] = start + takes;
            let hop_ns = if sort == LinkKind::Port { 0 } else { self.hop_ns };
            way.complete_at = way.complete_at.max(free[link]) + hop_ns;
            way.first = start + hop_ns;
        }
    }
}

fn arrivals(carried: &[DeliveredPacket]) -> Vec<u64> {
    let mut sorted = carried.to_vec();
    sorted.sort_by_key(|one| one.packet.tag);
    sorted.iter().map(|one| one.arrived.as_ns()).collect()
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
    fn a_switch_serves_by_time(wishes in traffic(7), latency_us in prop_oneof![Just(0_u64), Just(50)]) {
        let simple = ReferenceModel { latency_ns: latency_us * 1_000, ..FLAT };
        let carried = deliver(&format!("switch:bandwidth_mbit_s=100:latency_us={latency_us}"), 7, &wishes);
        prop_assert_eq!(arrivals(&carried), simple.arrivals(&wishes, &carried));
    }

    #[test]
    fn every_link_of_a_tree_serves_by_time(
        wishes in traffic(8),
        latency_us in prop_oneof![Just(0_u64), Just(50)],
        hop_us in prop_oneof![Just(0_u64), Just(3)],
        (uplink_mbit_s, uplink_byte_ns) in prop_oneof![
            Just((25, 320)), Just((50, 160)), Just((100, 80)), Just((160, 50)), Just((1_000, 8)),
        ],
        nodes_per_switch in 1_u32..9,
    ) {
        let simple = ReferenceModel {
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
        let carried = deliver(&word, 8, &wishes);
        prop_assert_eq!(arrivals(&carried), simple.arrivals(&wishes, &carried));
    }

    /// Traffic without the client, and with a client where uplinks take no time.
    #[test]
    fn a_tree_of_one_switch_is_a_switch(wishes in traffic(7), ports in 7_usize..9) {
        let link = "bandwidth_mbit_s=77:latency_us=50";
        let tree = format!("tree:{link}:nodes_per_switch=64:uplink_mbit_s=1e9:hop_us=0");
        prop_assert_eq!(deliver(&tree, ports, &wishes), deliver(&format!("switch:{link}"), ports, &wishes));
    }

    /// Packets to the client cross one switch more.
    #[test]
    fn the_client_is_a_hop_away(wishes in traffic(7)) {
        let to_client = |wish: &PacketRequest| PacketRequest { packet: Packet { receiver: 7, ..wish.packet }, ..*wish };
        let wishes: Vec<PacketRequest> = wishes.iter().map(to_client).collect();
        let link = "bandwidth_mbit_s=77:latency_us=50";
        let tree = deliver(&format!("tree:{link}:nodes_per_switch=64:uplink_mbit_s=1e9:hop_us=3"), 8, &wishes);
        let flat = deliver(&format!("switch:{link}"), 8, &wishes);
        let later: Vec<u64> = arrivals(&flat).iter().map(|ns| ns + 3_000).collect();
        prop_assert_eq!(arrivals(&tree), later);
    }
}
