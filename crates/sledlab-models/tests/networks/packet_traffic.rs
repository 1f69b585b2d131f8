//! Carries packets over a network.

use std::collections::VecDeque;

use proptest::prelude::*;
use sledlab_core::Time;
use sledlab_models::network::{Choice, Network, Packet, Port};
use toml::Table;

/// A packet to send as soon as its port is free, from `ready` on.
#[derive(Clone, Copy, Debug)]
pub struct PacketRequest {
    pub ready: Time,
    pub packet: Packet,
}

/// A packet that has been carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveredPacket {
    /// Number of the packet in order of sending.
    pub number: usize,
    pub sent: Time,
    pub free: Time,
    pub arrived: Time,
    pub packet: Packet,
}

pub fn network(word: &str, ports: usize) -> Box<dyn Network> {
    Choice::parse(word, Table::new()).unwrap().make(ports).unwrap()
}

/// Carries all packets of `wishes`, those of each port in order; the tag of a packet is the index of its wish. Returns
/// the carried packets in order of arrival, and checks that no packet is lost and that time never decreases.
pub fn deliver(word: &str, ports: usize, wishes: &[PacketRequest]) -> Vec<DeliveredPacket> {
    let mut network = network(word, ports);
    let mut queues = vec![VecDeque::new(); ports];
    for (tag, wish) in wishes.iter().enumerate() {
        let packet = Packet { tag: tag as u64, ..wish.packet };
        queues[packet.sender as usize].push_back(PacketRequest { packet, ..*wish });
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
            let known: &mut Option<DeliveredPacket> = &mut sent[packet.tag as usize];
            let one = known.take().expect("arrives once, after it was sent");
            assert_eq!(one.packet, packet);
            carried.push(DeliveredPacket { arrived: now, ..one });
        }
        for port in 0..ports {
            if free[port] <= now && queues[port].front().is_some_and(|wish| wish.ready <= now) {
                let packet = queues[port].pop_front().unwrap().packet;
                free[port] = network.send(now, packet);
                assert!(free[port] >= now);
                number += 1;
                let free = free[port];
                sent[packet.tag as usize] =
                    Some(DeliveredPacket { number, sent: now, free, arrived: now, packet });
            }
        }
    }
    assert_eq!(carried.len(), wishes.len());
    carried
}

pub fn packet(from: Port, to: Port, bytes: u64) -> PacketRequest {
    PacketRequest { ready: Time::ZERO, packet: Packet { sender: from, receiver: to, bytes, tag: 0 } }
}

/// Time at which the last packet has arrived, in nanoseconds.
pub fn last_arrival(word: &str, ports: usize, wishes: &[PacketRequest]) -> u64 {
    deliver(word, ports, wishes).last().map_or(0, |carried| carried.arrived.as_ns())
}

/// Random traffic among `ports`: bursts, pauses, packets without length, and many senders to one receiver.
pub fn traffic(ports: Port) -> impl Strategy<Value = Vec<PacketRequest>> {
    let port = prop_oneof![3 => 0..ports, 1 => Just(0)];
    let bytes = prop_oneof![1 => Just(0), 2 => 1_u64..100, 3 => 0_u64..20_000, 2 => Just(4_096)];
    let pause = prop_oneof![3 => Just(0), 1 => 0_u64..2_000_000];
    prop::collection::vec((port, 1..ports, bytes, pause), 0..120).prop_map(move |drawn| {
        let mut ready = vec![0; ports as usize];
        let mut wish = |(from, off, bytes, pause): (Port, Port, u64, u64)| {
            ready[from as usize] += pause;
            let packet = Packet { sender: from, receiver: (from + off) % ports, bytes, tag: 0 };
            PacketRequest { ready: Time::from_ns(ready[from as usize]), packet }
        };
        drawn.into_iter().map(&mut wish).collect()
    })
}
