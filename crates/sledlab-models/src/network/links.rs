//! Parts that the networks share: the time that bytes take on a link, and the ports that send.

use sledlab_core::{Span, Time};

/// Nanoseconds that a byte takes at 1 Mbit/s.
const NS_A_BYTE_AT_1_MBIT_S: f64 = 8_000.0;

/// The speed of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    ns_per_byte: f64,
}

impl Rate {
    pub(super) fn mbit_s(bandwidth_mbit_s: f64) -> Self {
        Rate { ns_per_byte: NS_A_BYTE_AT_1_MBIT_S / bandwidth_mbit_s }
    }

    /// How long a link is busy with `bytes`. Each packet is rounded to the nearest nanosecond, so the error of a series
    /// is at most half a nanosecond per packet.
    #[inline]
    pub(super) fn time(self, bytes: u64) -> Span {
        Span::from_ns((bytes as f64 * self.ns_per_byte + 0.5) as u64)
    }
}

/// A latency as a span.
pub(super) fn latency(us: f64) -> Span {
    Span::from_seconds(us * 1e-6)
}

/// The sending ports, and until when each is busy. Debug builds check that the caller keeps to the rules of
/// [`send`](super::Network::send): a port that sent two packets at once would exceed its bandwidth.
#[derive(Debug)]
pub(super) struct Senders {
    busy_until: Vec<Time>,
    last: Time,
}

impl Senders {
    pub(super) fn new(ports: usize) -> Self {
        Senders { busy_until: vec![Time::ZERO; ports], last: Time::ZERO }
    }

    /// Marks `port` as sending from `now` until `free_at`; returns `free_at`.
    #[inline]
    pub(super) fn occupy(&mut self, port: super::Port, now: Time, free_at: Time) -> Time {
        let busy_until = &mut self.busy_until[port as usize];
        debug_assert!(*busy_until <= now, "port {port} sends at {now} but is busy until {busy_until}");
        debug_assert!(self.last <= now, "port {port} sends at {now}, after one at {}", self.last);
        self.last = now;
        *busy_until = free_at;
        free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_error_is_below_half_a_nanosecond_per_packet() {
        for mbit_s in [0.3, 7.0, 100.0, 2_000.0, 25_781.25, 400_000.0] {
            let rate = Rate::mbit_s(mbit_s);
            for bytes in [1, 64, 1_500, 65_536] {
                let (packets, ns) = (1_000_000_u64, rate.time(bytes).as_ns());
                let exact = packets as f64 * bytes as f64 * 8_000.0 / mbit_s;
                assert!(((packets * ns) as f64 - exact).abs() <= 0.501 * packets as f64, "{mbit_s} {bytes}");
            }
        }
        assert_eq!(Rate::mbit_s(100.0).time(65_536).as_ns(), 5_242_880);
        assert_eq!(Rate::mbit_s(100.0).time(0), Span::ZERO);
    }
}
