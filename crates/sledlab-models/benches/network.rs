//! Packets a second through each network: 64 nodes that all send at once, to each other in turn or at random.
//!
//! Every sample carries 65,536 packets, which the throughput column counts.

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;
use sledlab_core::{Time, seed};
use sledlab_models::network::{Choice, LIST, Network, Packet, Port};
use toml::Table;

const NODES: Port = 64;
const SENDS: Port = 1024;
/// A packet of 64 KB on a link of 25 Gbit/s takes 20,972 ns.
const BYTES: u64 = 65_536;

fn main() {
    divan::main();
}

fn names() -> impl Iterator<Item = &'static str> {
    LIST.iter().map(|entry| entry.name)
}

/// Carries packets in rounds: in each round every node sends one packet, to the node `distance` places further. A round
/// lasts until all senders are free, on a hub as long as all its packets together. Returns the number of packets that
/// have arrived.
fn deliver(network: &mut dyn Network, distances: &[Port]) -> usize {
    let (mut now, mut count, mut arrivals) = (Time::ZERO, 0, Vec::new());
    for round in distances.chunks(NODES as usize) {
        let mut round_end = now;
        for (from, distance) in (0..NODES).zip(round) {
            let packet = Packet {
                sender: from,
                receiver: (from + distance) % NODES,
                bytes: BYTES,
                tag: u64::from(from),
            };
            round_end = round_end.max(network.send(now, packet));
        }
        now = round_end;
        while network.next_event().is_some_and(|event| event <= now) {
            network.advance(now, &mut arrivals);
        }
        count += arrivals.len();
        arrivals.clear();
    }
    network.advance(Time::MAX, &mut arrivals);
    count + arrivals.len()
}

fn bench(bencher: Bencher, name: &str, distances: &[Port]) {
    let table: Table = [("bandwidth_mbit_s", 25_000.0), ("latency_us", 10.0)]
        .map(|(key, value)| (key.to_owned(), value.into()))
        .into_iter()
        .collect();
    let choice = Choice::new(name, &table).expect("a name of the list");
    bencher.counter(ItemsCount::new(NODES * SENDS)).bench_local(|| {
        let mut network = choice.make(NODES as usize + 1).expect("ports");
        deliver(network.as_mut(), distances)
    });
}

#[divan::bench(args = names())]
fn sequential_packets(bencher: Bencher, name: &str) {
    let distances: Vec<Port> = (0..NODES * SENDS).map(|send| 1 + send / NODES % (NODES - 1)).collect();
    bench(bencher, name, &distances);
}

/// Some packets of a round meet at one receiver, and wait.
#[divan::bench(args = names())]
fn random_packets(bencher: Bencher, name: &str) {
    let mut rng = seed::stream(1, "offs");
    let distances: Vec<Port> = (0..NODES * SENDS).map(|_| rng.random_range(1..NODES)).collect();
    bench(bencher, name, &distances);
}
