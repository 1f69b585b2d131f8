//! Every network.

use libtest_mimic::Trial;
use proptest::prelude::*;
use sledlab_core::params::Params;
use sledlab_core::{Span, Time};
use sledlab_models::network::{Choice, Entry, LIST, LinkParams};
use toml::Table;

use crate::packet_traffic::{PacketRequest, deliver, last_arrival, network, packet, traffic};
use crate::{NamedCheck, check_random_cases, test};

/// Settings that keep a network busy under random traffic.
const SETTINGS: [&str; 2] = ["bandwidth_mbit_s=80:latency_us=50", "bandwidth_mbit_s=333.3:latency_us=0"];

/// Further networks: slow, equal and fast uplinks.
const TREES: [&str; 3] = [
    "tree:nodes_per_switch=2:bandwidth_mbit_s=100:uplink_mbit_s=50:hop_us=3",
    "tree:nodes_per_switch=2:bandwidth_mbit_s=100:uplink_mbit_s=100:hop_us=0",
    "tree:nodes_per_switch=2:bandwidth_mbit_s=100:uplink_mbit_s=320:hop_us=7",
];

pub fn tests() -> Vec<Trial> {
    let checks: [NamedCheck<Entry>; 4] = [
        ("parameters", has_parameters_of_link),
        ("starts_empty", new_network_has_no_event),
        ("empty_packets", empty_packet_without_latency_arrives_immediately),
        ("rules", keeps_rules),
    ];
    LIST.iter()
        .flat_map(|entry| checks.map(|(check, run)| test("network", entry.name, check, move || run(entry))))
        .collect()
}

fn has_parameters_of_link(entry: &'static Entry) {
    let specs = (entry.specs)();
    for spec in LinkParams::specs() {
        let own_spec = specs.iter().find(|own_spec| own_spec.name == spec.name);
        let is_same =
            own_spec.is_some_and(|own_spec| (own_spec.unit, own_spec.range) == (spec.unit, spec.range));
        assert!(is_same, "{} differs from that of a link", spec.name);
    }
    for spec in specs {
        let is_named = spec.unit != "us" || spec.name.ends_with("_us");
        assert!(is_named && (spec.unit != "Mbit/s" || spec.name.ends_with("_mbit_s")), "{}", spec.name);
    }
}

fn new_network_has_no_event(entry: &'static Entry) {
    for ports in [1, 2, 1_025] {
        let mut network = network(entry.name, ports);
        let mut packets = Vec::new();
        network.advance(Time::from_ns(1), &mut packets);
        assert!(packets.is_empty() && network.next_event().is_none());
    }
}

fn empty_packet_without_latency_arrives_immediately(entry: &'static Entry) {
    let word = format!("{}:latency_us=0", entry.name);
    assert_eq!(last_arrival(&word, 3, &[packet(0, 1, 0), packet(1, 0, 0), packet(0, 1, 0)]), 0);
}

fn keeps_rules(entry: &'static Entry) {
    let trees = TREES.iter().filter(|tree| tree.split(':').next() == Some(entry.name));
    let words: Vec<String> = SETTINGS
        .iter()
        .map(|setting| format!("{}:{setting}", entry.name))
        .chain(trees.map(|tree| (*tree).to_owned()))
        .collect();
    check_random_cases(256, &traffic(7), |requests| words.iter().try_for_each(|word| check(word, &requests)));
}

/// Checks that every packet arrives once, not earlier than over an ideal wire, and in order from one port to another.
fn check(word: &str, requests: &[PacketRequest]) -> Result<(), TestCaseError> {
    let deliveries = deliver(word, 7, requests);
    let params = Choice::parse(word, Table::new()).unwrap().to_table();
    let number = |name: &str| params[name].as_float().unwrap();
    let byte_ns = 8_000.0 / number("bandwidth_mbit_s");
    let latency = Span::from_ns((number("latency_us") * 1e3) as u64);
    let mut latest_tags = vec![None; 49];
    for delivery in &deliveries {
        let duration = Span::from_ns((delivery.packet.bytes as f64 * byte_ns + 0.5) as u64);
        prop_assert!(delivery.free_at >= delivery.sent_at + duration, "{word}");
        prop_assert!(delivery.arrived_at >= delivery.sent_at + duration + latency, "{word}: {delivery:?}");
        let pair = (delivery.packet.sender * 7 + delivery.packet.receiver) as usize;
        let previous_tag = latest_tags[pair].replace(delivery.packet.tag);
        prop_assert!(previous_tag < Some(delivery.packet.tag), "{word}: {delivery:?} is overtaken");
    }
    prop_assert_eq!(&deliver(word, 7, requests), &deliveries, "{} is not deterministic", word);
    Ok(())
}
