//! Errors for invalid input, and the packets of messages.

use proptest::prelude::*;

use super::*;

#[test]
fn invalid_networks_are_errors() {
    let message = |word| Choice::parse(word, Table::new()).unwrap_err().to_string();
    assert!(message("swatch").contains("did you mean `switch`?"));
    assert!(message("switch:latency=1").contains("unknown key `network.latency`"));
    assert!(message("hub:bandwidth_mbit_s=0").contains("out of range"));
    let choice = Choice::new("switch", &Table::new()).unwrap();
    assert_eq!((choice.entry().name, choice.packet_bytes()), ("switch", 65_536));
    assert!(choice.make(0).err().unwrap().to_string().contains("no ports"));
    assert!(choice.make(1 << 33).err().unwrap().to_string().contains("at most"));
}

proptest! {
    #[test]
    fn messages_are_cut_into_packets(bytes in 0_u64..100_000, maximum in 1_u64..10_000) {
        let packets: Vec<u64> = packet_lengths(bytes, maximum).collect();
        prop_assert_eq!(packets.iter().sum::<u64>(), bytes);
        prop_assert_eq!(packets.len() as u64, bytes.div_ceil(maximum).max(1));
        prop_assert!(packets.iter().rev().skip(1).all(|packet| *packet == maximum));
        prop_assert!(packets.iter().all(|packet| *packet > 0 || bytes == 0));
    }
}
