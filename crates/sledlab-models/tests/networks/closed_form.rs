//! Times that a one-line formula gives, to the nanosecond.

use sledlab_core::Time;
use sledlab_models::network::{Port, packet_lengths};

use super::packet_traffic::{PacketRequest, deliver, last_arrival, packet};

/// A byte takes 80 ns at 100 Mbit/s, and the latency is 50 us.
const BYTE_NS: u64 = 80;
const LATENCY_NS: u64 = 50_000;
const LINK: &str = "bandwidth_mbit_s=100:latency_us=50";

fn word(name: &str) -> String {
    format!("{name}:{LINK}")
}

/// All to all: node `i` sends to the nodes `i + 1`, `i + 2` and so on.
fn exchange(nodes: Port, bytes: u64) -> Vec<PacketRequest> {
    let packet_to = |offset| move |sender| packet(sender, (sender + offset) % nodes, bytes);
    (1..nodes).flat_map(|offset| (0..nodes).map(packet_to(offset))).collect()
}

#[test]
fn single_message_takes_transfer_and_latency() {
    for name in ["ideal", "switch", "hub", "tree"] {
        for bytes in [0, 1, 1_000, 65_536] {
            let delivery = deliver(&word(name), 3, &[packet(0, 1, bytes)])[0];
            assert_eq!(delivery.free_at.as_ns(), bytes * BYTE_NS, "{name}");
            assert_eq!(delivery.arrived_at.as_ns(), bytes * BYTE_NS + LATENCY_NS, "{name}");
        }
    }
}

#[test]
fn packets_do_not_change_message_time() {
    let packets: Vec<PacketRequest> =
        packet_lengths(1_000_000, 65_536).map(|bytes| packet(0, 1, bytes)).collect();
    for name in ["ideal", "switch", "hub", "tree"] {
        assert_eq!(last_arrival(&word(name), 3, &packets), 1_000_000 * BYTE_NS + LATENCY_NS, "{name}");
    }
}

#[test]
fn two_nodes_exchange_concurrently_except_on_hub() {
    let packets = [packet(0, 1, 1_000), packet(1, 0, 1_000)];
    for name in ["ideal", "switch", "tree"] {
        assert_eq!(last_arrival(&word(name), 3, &packets), 1_000 * BYTE_NS + LATENCY_NS, "{name}");
    }
    assert_eq!(last_arrival(&word("hub"), 3, &packets), 2_000 * BYTE_NS + LATENCY_NS);
}

#[test]
fn staggered_exchange_keeps_every_port_busy() {
    for nodes in [2, 3, 8, 33] {
        let port_time = u64::from(nodes - 1) * 4_096 * BYTE_NS + LATENCY_NS;
        for name in ["ideal", "switch"] {
            assert_eq!(
                last_arrival(&word(name), nodes as usize + 1, &exchange(nodes, 4_096)),
                port_time,
                "{name}"
            );
        }
        let hub_time = u64::from(nodes * (nodes - 1)) * 4_096 * BYTE_NS;
        assert_eq!(
            last_arrival(&word("hub"), nodes as usize + 1, &exchange(nodes, 4_096)),
            hub_time + LATENCY_NS
        );
    }
}

#[test]
fn many_to_one_share_its_link() {
    let nodes = 16;
    let incast: Vec<PacketRequest> = (0..nodes).map(|from| packet(from, nodes, 10_000)).collect();
    let single_ns = 10_000 * BYTE_NS + LATENCY_NS;
    assert_eq!(last_arrival(&word("ideal"), 17, &incast), single_ns);
    for name in ["switch", "hub"] {
        assert_eq!(last_arrival(&word(name), 17, &incast), 16 * 10_000 * BYTE_NS + LATENCY_NS, "{name}");
    }
    // Full duplex: packets in the other direction do not wait.
    let answer = [incast.clone(), vec![packet(nodes, 0, 10_000)]].concat();
    let deliveries = deliver(&word("switch"), 17, &answer);
    let answer = deliveries.iter().find(|delivery| delivery.packet.sender == nodes).unwrap();
    assert_eq!(answer.arrived_at.as_ns(), single_ns);
}

#[test]
fn packets_are_served_in_arrival_order() {
    // A packet sent a nanosecond after a long one waits for all of the long one, however short it is itself.
    let request_at = |ns, request: PacketRequest| PacketRequest { ready: Time::from_ns(ns), ..request };
    let deliveries = deliver(
        &word("switch"),
        4,
        &[packet(0, 2, 100), request_at(1, packet(1, 2, 10_000)), request_at(2, packet(3, 2, 10))],
    );
    let order: Vec<Port> = deliveries.iter().map(|delivery| delivery.packet.sender).collect();
    assert_eq!(order, [0, 1, 3]);
    let arrival_ns: Vec<u64> =
        deliveries.iter().map(|delivery| delivery.arrived_at.as_ns() - LATENCY_NS).collect();
    assert_eq!(arrival_ns, [8_000, 808_000, 808_800]);
}

/// Two switches of four nodes; a byte takes 80 ns on a port.
fn tree(uplink_mbit_s: u64) -> String {
    format!("tree:{LINK}:nodes_per_switch=4:uplink_mbit_s={uplink_mbit_s}:hop_us=2")
}

/// Every node of the first switch sends `packets` to its counterpart on the second.
fn cross_switch_packets(packets: usize) -> Vec<PacketRequest> {
    (0..packets).flat_map(|_| (0..4).map(|from| packet(from, from + 4, 1_000))).collect()
}

#[test]
fn single_message_crosses_tree_links() {
    let message_ns =
        |uplink_mbit_s, from, to| last_arrival(&tree(uplink_mbit_s), 9, &[packet(from, to, 1_000)]);
    for (uplink_mbit_s, slowest_ns) in [(50, 160_000), (100, 80_000), (400, 80_000)] {
        assert_eq!(message_ns(uplink_mbit_s, 0, 3), 80_000 + LATENCY_NS, "inside a switch");
        assert_eq!(
            message_ns(uplink_mbit_s, 0, 4),
            slowest_ns + LATENCY_NS + 4_000,
            "through three switches"
        );
        assert_eq!(message_ns(uplink_mbit_s, 0, 8), slowest_ns + LATENCY_NS + 2_000, "to the client");
        assert_eq!(message_ns(uplink_mbit_s, 8, 0), slowest_ns + LATENCY_NS + 2_000, "from the client");
    }
}

#[test]
fn an_uplink_is_the_bottleneck_of_a_tree() {
    // The uplink is as fast as all ports together: no packet waits for longer than the packets of its neighbors take
    // to enter the uplink.
    assert_eq!(
        last_arrival(&tree(400), 9, &cross_switch_packets(50)),
        50 * 80_000 + 3 * 20_000 + LATENCY_NS + 4_000
    );
    // Half as fast: all bytes cross the uplink one after another, then the last packet crosses its port.
    assert_eq!(
        last_arrival(&tree(200), 9, &cross_switch_packets(50)),
        (4 * 50 - 1) * 40_000 + 80_000 + LATENCY_NS + 4_000
    );
    assert_eq!(last_arrival(&tree(50), 9, &cross_switch_packets(50)), 4 * 50 * 160_000 + LATENCY_NS + 4_000);
    // The other direction is free, and so are the ports inside a switch.
    let packets: Vec<PacketRequest> = cross_switch_packets(50)
        .into_iter()
        .chain((0..4).map(|from| packet(from + 4, from, 1_000)))
        .collect();
    assert_eq!(last_arrival(&tree(50), 9, &packets), last_arrival(&tree(50), 9, &cross_switch_packets(50)));
    let deliveries = deliver(
        &tree(50),
        9,
        &cross_switch_packets(50).into_iter().chain([packet(5, 6, 1_000)]).collect::<Vec<_>>(),
    );
    let local_delivery = deliveries.iter().find(|delivery| delivery.packet.sender == 5).unwrap();
    assert_eq!(local_delivery.arrived_at.as_ns(), 80_000 + LATENCY_NS);
}
