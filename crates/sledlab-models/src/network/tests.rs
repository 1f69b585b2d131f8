//! The rules for every network, and the times of each network where a one-line formula exists.

mod against;
mod closed;

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

/// A packet to send as soon as its port is free, from `ready` on.
#[derive(Clone, Copy, Debug)]
struct Wish {
    ready: Time,
    packet: Packet,
}

/// A packet that has been carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Carried {
    /// Number of the packet in order of sending.
    number: usize,
    sent: Time,
    free: Time,
    arrived: Time,
    packet: Packet,
}

fn network(word: &str, ports: usize) -> Box<dyn Network> {
    Choice::parse(word, Table::new()).unwrap().make(ports).unwrap()
}

/// Carries all packets of `wishes`, those of each port in order; the tag of a packet is the index of its wish. Returns
/// the carried packets in order of arrival, and checks that no packet is lost and that time does not go back.
fn carry(word: &str, ports: usize, wishes: &[Wish]) -> Vec<Carried> {
    let mut network = network(word, ports);
    let mut queues = vec![VecDeque::new(); ports];
    for (tag, wish) in wishes.iter().enumerate() {
        let packet = Packet { tag: tag as u64, ..wish.packet };
        queues[packet.from as usize].push_back(Wish { packet, ..*wish });
    }
    let mut free = vec![Time::ZERO; ports];
    let mut sent = vec![None; wishes.len()];
    let mut number = 0;
    let (mut carried, mut arrived, mut now) = (Vec::new(), Vec::new(), Time::ZERO);
    loop {
        let starts =
            queues.iter().zip(&free).filter_map(|(queue, free)| Some(queue.front()?.ready.max(*free)));
        let Some(next) = starts.chain(network.next_event()).min() else { break };
        assert!(now <= next, "time goes back");
        now = next;
        network.advance(now, &mut arrived);
        for packet in arrived.drain(..) {
            let known: &mut Option<Carried> = &mut sent[packet.tag as usize];
            let one = known.take().expect("arrives once, after it was sent");
            assert_eq!(one.packet, packet);
            carried.push(Carried { arrived: now, ..one });
        }
        for port in 0..ports {
            if free[port] <= now && queues[port].front().is_some_and(|wish| wish.ready <= now) {
                let packet = queues[port].pop_front().unwrap().packet;
                free[port] = network.send(now, packet);
                assert!(free[port] >= now);
                number += 1;
                let free = free[port];
                sent[packet.tag as usize] = Some(Carried { number, sent: now, free, arrived: now, packet });
            }
        }
    }
    assert_eq!(carried.len(), wishes.len());
    carried
}

fn wish(from: Port, to: Port, bytes: u64) -> Wish {
    Wish { ready: Time::ZERO, packet: Packet { from, to, bytes, tag: 0 } }
}

/// Time at which the last packet has arrived, in nanoseconds.
fn last(word: &str, ports: usize, wishes: &[Wish]) -> u64 {
    carry(word, ports, wishes).last().map_or(0, |carried| carried.arrived.as_ns())
}

/// Random traffic among `ports`: bursts, pauses, packets without length, and many senders to one receiver.
fn traffic(ports: Port) -> impl Strategy<Value = Vec<Wish>> {
    let port = prop_oneof![3 => 0..ports, 1 => Just(0)];
    let bytes = prop_oneof![1 => Just(0), 2 => 1_u64..100, 3 => 0_u64..20_000, 2 => Just(4_096)];
    let pause = prop_oneof![3 => Just(0), 1 => 0_u64..2_000_000];
    prop::collection::vec((port, 1..ports, bytes, pause), 0..120).prop_map(move |drawn| {
        let mut ready = vec![0; ports as usize];
        let mut wish = |(from, off, bytes, pause): (Port, Port, u64, u64)| {
            ready[from as usize] += pause;
            let packet = Packet { from, to: (from + off) % ports, bytes, tag: 0 };
            Wish { ready: Time::from_ns(ready[from as usize]), packet }
        };
        drawn.into_iter().map(&mut wish).collect()
    })
}

/// The networks of the list with parameters that random traffic keeps busy.
fn words() -> impl Iterator<Item = String> {
    let settings = ["bandwidth_mbit_s=80:latency_us=50", "bandwidth_mbit_s=333.3:latency_us=0"];
    let word = |name, setting| format!("{name}:{setting}");
    let listed = LIST.iter().flat_map(move |entry| settings.map(|setting| word(entry.name, setting)));
    let trees = ["uplink_mbit_s=50:hop_us=3", "uplink_mbit_s=100:hop_us=0", "uplink_mbit_s=320:hop_us=7"];
    listed.chain(trees.map(|tree| format!("tree:nodes_per_switch=2:bandwidth_mbit_s=100:{tree}")))
}

proptest! {
    /// Every packet arrives once, not earlier than over an ideal wire, and in order from one port to another.
    #[test]
    fn holds_for_every_network(wishes in traffic(7)) {
        for word in words() {
            let carried = carry(&word, 7, &wishes);
            let link = &Choice::parse(&word, Table::new()).unwrap().link;
            let (rate, latency) = (links::Rate::mbit_s(link.bandwidth_mbit_s), links::latency(link.latency_us));
            let mut latest = vec![None; 49];
            for one in &carried {
                let takes = rate.time(one.packet.bytes);
                prop_assert!(one.free >= one.sent + takes, "{word}");
                prop_assert!(one.arrived >= one.sent + takes + latency, "{word}: {one:?}");
                let pair = (one.packet.from * 7 + one.packet.to) as usize;
                let before = latest[pair].replace(one.packet.tag);
                prop_assert!(before < Some(one.packet.tag), "{word}: {one:?} is overtaken");
            }
            prop_assert_eq!(&carry(&word, 7, &wishes), &carried, "{} is not deterministic", word);
        }
    }
}

#[test]
fn every_network_has_what_a_link_has() {
    let of_links = LinkParams::specs();
    for entry in LIST.iter() {
        let specs = (entry.specs)();
        for spec in &of_links {
            let found = specs.iter().find(|found| found.name == spec.name);
            let same = found.is_some_and(|found| (found.unit, found.range) == (spec.unit, spec.range));
            assert!(same, "{} needs {} as others have it", entry.name, spec.name);
        }
        for spec in specs {
            let known = spec.unit != "us" || spec.name.ends_with("_us");
            assert!(known && (spec.unit != "Mbit/s" || spec.name.ends_with("_mbit_s")), "{}", spec.name);
        }
    }
}

#[test]
fn nothing_is_due_on_a_new_network() {
    for entry in LIST.iter() {
        for ports in [1, 2, 1_025] {
            let mut network = network(entry.name, ports);
            let mut arrived = Vec::new();
            network.advance(Time::from_ns(1), &mut arrived);
            assert!(arrived.is_empty() && network.next_event().is_none(), "{}", entry.name);
        }
    }
}

#[test]
fn says_what_is_wrong() {
    let refused = |word| Choice::parse(word, Table::new()).unwrap_err().to_string();
    assert!(refused("swatch").contains("did you mean `switch`?"));
    assert!(refused("switch:latency=1").contains("unknown key `network.latency`"));
    assert!(refused("hub:bandwidth_mbit_s=0").contains("out of range"));
    let choice = Choice::new("switch", &Table::new()).unwrap();
    assert_eq!((choice.entry().name, choice.packet_bytes()), ("switch", 65_536));
    assert!(choice.make(0).err().unwrap().to_string().contains("no ports"));
    assert!(choice.make(1 << 33).err().unwrap().to_string().contains("at most"));
}

proptest! {
    #[test]
    fn messages_are_cut_into_packets(bytes in 0_u64..100_000, most in 1_u64..10_000) {
        let packets: Vec<u64> = cut(bytes, most).collect();
        prop_assert_eq!(packets.iter().sum::<u64>(), bytes);
        prop_assert_eq!(packets.len() as u64, bytes.div_ceil(most).max(1));
        prop_assert!(packets.iter().rev().skip(1).all(|packet| *packet == most));
        prop_assert!(packets.iter().all(|packet| *packet > 0 || bytes == 0));
    }
}
