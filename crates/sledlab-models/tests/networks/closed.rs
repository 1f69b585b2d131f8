//! Times that a one-line formula gives, to the nanosecond.

use sledlab_core::Time;
use sledlab_models::network::{Port, cut};

use super::carrying::{Wish, carry, last, wish};

/// A byte takes 80 ns at 100 Mbit/s, and the latency is 50 us.
const BYTE_NS: u64 = 80;
const LATENCY_NS: u64 = 50_000;
const LINK: &str = "bandwidth_mbit_s=100:latency_us=50";

fn word(name: &str) -> String {
    format!("{name}:{LINK}")
}

/// All to all: node `i` sends to the nodes `i + 1`, `i + 2` and so on.
fn exchange(nodes: Port, bytes: u64) -> Vec<Wish> {
    let to = |off| move |from| wish(from, (from + off) % nodes, bytes);
    (1..nodes).flat_map(|off| (0..nodes).map(to(off))).collect()
}

#[test]
fn one_message() {
    for name in ["ideal", "switch", "hub", "tree"] {
        for bytes in [0, 1, 1_000, 65_536] {
            let carried = carry(&word(name), 3, &[wish(0, 1, bytes)])[0];
            assert_eq!(carried.free.as_ns(), bytes * BYTE_NS, "{name}");
            assert_eq!(carried.arrived.as_ns(), bytes * BYTE_NS + LATENCY_NS, "{name}");
        }
    }
}

#[test]
fn packets_do_not_change_message_time() {
    let packets: Vec<Wish> = cut(1_000_000, 65_536).map(|bytes| wish(0, 1, bytes)).collect();
    for name in ["ideal", "switch", "hub", "tree"] {
        assert_eq!(last(&word(name), 3, &packets), 1_000_000 * BYTE_NS + LATENCY_NS, "{name}");
    }
}

#[test]
fn two_exchange_at_once_but_on_a_hub() {
    let both = [wish(0, 1, 1_000), wish(1, 0, 1_000)];
    for name in ["ideal", "switch", "tree"] {
        assert_eq!(last(&word(name), 3, &both), 1_000 * BYTE_NS + LATENCY_NS, "{name}");
    }
    assert_eq!(last(&word("hub"), 3, &both), 2_000 * BYTE_NS + LATENCY_NS);
}

#[test]
fn an_exchange_in_turn_keeps_every_port_busy() {
    for nodes in [2, 3, 8, 33] {
        let alone = u64::from(nodes - 1) * 4_096 * BYTE_NS + LATENCY_NS;
        for name in ["ideal", "switch"] {
            assert_eq!(last(&word(name), nodes as usize + 1, &exchange(nodes, 4_096)), alone, "{name}");
        }
        let total = u64::from(nodes * (nodes - 1)) * 4_096 * BYTE_NS;
        assert_eq!(last(&word("hub"), nodes as usize + 1, &exchange(nodes, 4_096)), total + LATENCY_NS);
    }
}

#[test]
fn many_to_one_share_its_link() {
    let nodes = 16;
    let incast: Vec<Wish> = (0..nodes).map(|from| wish(from, nodes, 10_000)).collect();
    let one = 10_000 * BYTE_NS + LATENCY_NS;
    assert_eq!(last(&word("ideal"), 17, &incast), one);
    for name in ["switch", "hub"] {
        assert_eq!(last(&word(name), 17, &incast), 16 * 10_000 * BYTE_NS + LATENCY_NS, "{name}");
    }
    // Full duplex: packets in the other direction do not wait.
    let answer = [incast.clone(), vec![wish(nodes, 0, 10_000)]].concat();
    let carried = carry(&word("switch"), 17, &answer);
    let answer = carried.iter().find(|carried| carried.packet.from == nodes).unwrap();
    assert_eq!(answer.arrived.as_ns(), one);
}

#[test]
fn first_come_is_first_served() {
    // A packet sent a nanosecond after a long one waits for all of the long one, however short it is itself.
    let late = |ns, wish: Wish| Wish { ready: Time::from_ns(ns), ..wish };
    let carried =
        carry(&word("switch"), 4, &[wish(0, 2, 100), late(1, wish(1, 2, 10_000)), late(2, wish(3, 2, 10))]);
    let order: Vec<Port> = carried.iter().map(|carried| carried.packet.from).collect();
    assert_eq!(order, [0, 1, 3]);
    let arrived: Vec<u64> = carried.iter().map(|carried| carried.arrived.as_ns() - LATENCY_NS).collect();
    assert_eq!(arrived, [8_000, 808_000, 808_800]);
}

/// Two switches of four nodes; a byte takes 80 ns on a port.
fn tree(uplink_mbit_s: u64) -> String {
    format!("tree:{LINK}:nodes_per_switch=4:uplink_mbit_s={uplink_mbit_s}:hop_us=2")
}

/// Every node of the first switch sends `packets` to its counterpart on the second.
fn across(packets: usize) -> Vec<Wish> {
    (0..packets).flat_map(|_| (0..4).map(|from| wish(from, from + 4, 1_000))).collect()
}

#[test]
fn one_message_through_a_tree() {
    let alone = |uplink_mbit_s, from, to| last(&tree(uplink_mbit_s), 9, &[wish(from, to, 1_000)]);
    for (uplink_mbit_s, slowest_ns) in [(50, 160_000), (100, 80_000), (400, 80_000)] {
        assert_eq!(alone(uplink_mbit_s, 0, 3), 80_000 + LATENCY_NS, "inside a switch");
        assert_eq!(alone(uplink_mbit_s, 0, 4), slowest_ns + LATENCY_NS + 4_000, "through three switches");
        assert_eq!(alone(uplink_mbit_s, 0, 8), slowest_ns + LATENCY_NS + 2_000, "to the client");
        assert_eq!(alone(uplink_mbit_s, 8, 0), slowest_ns + LATENCY_NS + 2_000, "from the client");
    }
}

#[test]
fn an_uplink_is_the_bottleneck_of_a_tree() {
    // The uplink is as fast as all ports together: no packet waits for longer than the packets of its neighbours take
    // to enter the uplink.
    assert_eq!(last(&tree(400), 9, &across(50)), 50 * 80_000 + 3 * 20_000 + LATENCY_NS + 4_000);
    // Half as fast: all bytes cross the uplink one after another, then the last packet crosses its port.
    assert_eq!(last(&tree(200), 9, &across(50)), (4 * 50 - 1) * 40_000 + 80_000 + LATENCY_NS + 4_000);
    assert_eq!(last(&tree(50), 9, &across(50)), 4 * 50 * 160_000 + LATENCY_NS + 4_000);
    // The other direction is free, and so are the ports inside a switch.
    let both: Vec<Wish> =
        across(50).into_iter().chain((0..4).map(|from| wish(from + 4, from, 1_000))).collect();
    assert_eq!(last(&tree(50), 9, &both), last(&tree(50), 9, &across(50)));
    let carried = carry(&tree(50), 9, &across(50).into_iter().chain([wish(5, 6, 1_000)]).collect::<Vec<_>>());
    let inside = carried.iter().find(|carried| carried.packet.from == 5).unwrap();
    assert_eq!(inside.arrived.as_ns(), 80_000 + LATENCY_NS);
}
