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
    pub sent_at: Time,
    pub free_at: Time,
    pub arrived_at: Time,
    pub packet: Packet,
}

pub fn network(word: &str, ports: usize) -> Box<dyn Network> {
    Choice::parse(word, Table::new()).unwrap().make(ports).unwrap()
}

/// Carries all packets of `requests`, those of each port in order; the tag of a packet is the index of its request.
/// Returns the carried packets in order of arrival, and checks that no packet is lost and that time never decreases.
pub fn deliver(word: &str, ports: usize, requests: &[PacketRequest]) -> Vec<DeliveredPacket> {
    let mut network = network(word, ports);
    let mut queues = vec![VecDeque::new(); ports];
    for (tag, request) in requests.iter().enumerate() {
        let packet = Packet { tag: tag as u64, ..request.packet };
        queues[packet.sender as usize].push_back(PacketRequest { packet, ..*request });
    }
    let mut free_at = vec![Time::ZERO; ports];
    let mut deliveries = vec![None; requests.len()];
    let mut number = 0;
    let (mut delivered, mut arrivals, mut now) = (Vec::new(), Vec::new(), Time::ZERO);
    loop {
        let start_times = queues
            .iter()
            .zip(&free_at)
            .filter_map(|(queue, free_at)| Some(queue.front()?.ready.max(*free_at)));
        let Some(next) = start_times.chain(network.next_event()).min() else { break };
        assert!(now <= next, "time goes back");
        now = next;
        network.advance(now, &mut arrivals);
        for packet in arrivals.drain(..) {
            let delivery: &mut Option<DeliveredPacket> = &mut deliveries[packet.tag as usize];
            let delivery = delivery.take().expect("arrives once, after it was sent");
            assert_eq!(delivery.packet, packet);
            delivered.push(DeliveredPacket { arrived_at: now, ..delivery });
        }
        for port in 0..ports {
            if free_at[port] <= now && queues[port].front().is_some_and(|request| request.ready <= now) {
                let packet = queues[port].pop_front().unwrap().packet;
                free_at[port] = network.send(now, packet);
                assert!(free_at[port] >= now);
                number += 1;
                let free_at = free_at[port];
                deliveries[packet.tag as usize] =
                    Some(DeliveredPacket { number, sent_at: now, free_at, arrived_at: now, packet });
            }
        }
    }
    assert_eq!(delivered.len(), requests.len());
    delivered
}

pub fn packet(sender: Port, receiver: Port, bytes: u64) -> PacketRequest {
    PacketRequest { ready: Time::ZERO, packet: Packet { sender, receiver, bytes, tag: 0 } }
}

/// Time at which the last packet has arrived, in nanoseconds.
pub fn last_arrival(word: &str, ports: usize, requests: &[PacketRequest]) -> u64 {
    deliver(word, ports, requests).last().map_or(0, |delivered| delivered.arrived_at.as_ns())
}

/// Random traffic among `ports`: bursts, pauses, packets without length, and many senders to one receiver.
pub fn traffic(ports: Port) -> impl Strategy<Value = Vec<PacketRequest>> {
    let port = prop_oneof![3 => 0..ports, 1 => Just(0)];
    let bytes = prop_oneof![1 => Just(0), 2 => 1_u64..100, 3 => 0_u64..20_000, 2 => Just(4_096)];
    let pause = prop_oneof![3 => Just(0), 1 => 0_u64..2_000_000];
    prop::collection::vec((port, 1..ports, bytes, pause), 0..120).prop_map(move |drawn| {
        let mut ready = vec![0; ports as usize];
        let mut request = |(sender, offset, bytes, pause): (Port, Port, u64, u64)| {
            ready[sender as usize] += pause;
            let packet = Packet { sender, receiver: (sender + offset) % ports, bytes, tag: 0 };
            PacketRequest { ready: Time::from_ns(ready[sender as usize]), packet }
        };
        drawn.into_iter().map(&mut request).collect()
    })
}
