//! Networks: how long bytes take from one port to another while other packets use the same links.
//!
//! A new network takes one file and one line in [`LIST`]. The command line, the Python API, the docs and the
//! conformance tests read that list. Not modeled are windows of TCP, lost packets, and switches whose memory runs
//! full.

pub mod collective;
mod hub;
mod ideal;
mod links;
pub mod preset;
mod queue;
mod switch;
#[cfg(test)]
mod tests;
mod tree;

use sledlab_core::params::Params;
use sledlab_core::registry::{self, ConfiguredModel, Registry};
use sledlab_core::{Error, Result, Time};
use toml::{Table, Value};

/// A port of the network: the number of a node, or after the nodes the client, which is the last port.
pub type Port = u32;

/// The unit that crosses the network; messages are cut into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The sender's port.
    pub sender: Port,
    /// The receiver's port.
    pub receiver: Port,
    /// Length of the packet in bytes; 0 is allowed.
    pub bytes: u64,
    /// A number by which the sender recognizes the packet.
    pub tag: u64,
}

/// Carries packets. Packets from one port to another arrive in the order in which they were sent.
///
/// Calls come in order of time, and events due before a call are handled before it: a caller that checks
/// [`next_event`](Network::next_event) before each of its own events complies. A packet without length on a network
/// without latency is due at the time at which it is sent.
pub trait Network: Send {
    /// Port `packet.sender`, which is free, puts a packet on its link at `now`. Returns when that port is free again.
    fn send(&mut self, now: Time, packet: Packet) -> Time;

    /// When the next packet has arrived completely, or reaches its next link.
    fn next_event(&self) -> Option<Time>;

    /// Handles the events due at `now`; appends the packets that have arrived completely, in order of arrival, and of
    /// sending among equals.
    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>);
}

/// A kind of network; each file of this folder implements one.
pub trait Model: Network + Sized + 'static {
    /// The parameters, declared with [`sledlab_core::params!`]: at least those of [`LinkParams`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// One-line description for help texts and docs.
    const MEANING: &'static str;

    /// Returns a network without packets in transit, with `ports` ports; the last one is the client's.
    fn new(params: &Self::Params, ports: usize) -> Self;
}

sledlab_core::params! {
    /// The link of a port, which every network has.
    pub struct LinkParams {
        /// Bandwidth of a link, in each direction of a full-duplex link.
        bandwidth_mbit_s: f64 = 100.0, "Mbit/s", 1e-3..1e9;
        /// Latency of a packet from the sender's link to the receiver's, with adapters and software.
        latency_us: f64 = 50.0, "us", 0.0..1e9;
        /// Longest packet, in 1024 bytes; longer messages are cut, so that flows interleave.
        packet_kb: u64 = 64_u64, "KB", 1..1e6;
        /// Power of a port, with its share of the switch.
        port_w: f64 = 0.0, "W", 0.0..1e4;
    }
}

/// Makes a network from a table of parameters and the number of ports.
pub type Make = fn(&Table, usize) -> Result<Box<dyn Network>>;

/// A network in the list.
pub type Entry = registry::Entry<Make>;

const fn entry<M: Model>() -> Entry {
    Entry {
        name: M::NAME,
        aliases: &[],
        meaning: registry::one_line(M::MEANING),
        facts: (),
        specs: M::Params::specs,
        resolve: registry::resolve::<M::Params>,
        make: |table, ports| Ok(Box::new(M::new(&M::Params::from_table(PATH, table)?, ports))),
    }
}

/// Every network.
pub static LIST: Registry<Make> = Registry {
    noun: "network",
    path: PATH,
    example: "switch:bandwidth_mbit_s=1000",
    extra_words: &[],
    entries: &[
        entry::<ideal::Ideal>(),
        entry::<switch::Switch>(),
        entry::<hub::Hub>(),
        entry::<tree::Tree>(),
    ],
};

/// The name of the configuration table, for messages.
const PATH: &str = "network";

/// Bytes of a kilobyte.
const KB: u64 = 1024;

/// A network with all its parameters.
#[derive(Clone, Debug)]
pub struct Choice {
    chosen: ConfiguredModel<Make>,
    link: LinkParams,
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.to_table() == other.to_table()
    }
}

impl Choice {
    /// The network called `name`, with `params` in place of its defaults.
    ///
    /// # Errors
    /// Unknown names and keys, and values out of range.
    pub fn new(name: &str, params: &Table) -> Result<Self> {
        let chosen = LIST.choose(name, params)?;
        let mut link = LinkParams::default();
        for spec in LinkParams::specs() {
            if let Some(value) = chosen.params.get(spec.name) {
                link.set(PATH, spec.name, value)?;
            }
        }
        Ok(Choice { chosen, link })
    }

    /// A network from `name:key=value:key=value`, with further `params`.
    ///
    /// # Errors
    /// As of [`new`](Choice::new), and a word that is not of that form.
    pub fn parse(word: &str, params: Table) -> Result<Self> {
        let (name, mut table) = LIST.parse(word)?;
        table.extend(params);
        Choice::new(&name, &table)
    }

    /// The network's entry in [`LIST`].
    pub fn entry(&self) -> &'static Entry {
        self.chosen.entry
    }

    /// Returns a network without packets in transit, with `ports` ports: the nodes and, last, the client.
    ///
    /// # Errors
    /// No ports, or more than [`Port`] can number.
    pub fn make(&self, ports: usize) -> Result<Box<dyn Network>> {
        if ports == 0 {
            return Err(Error::user("a network has no ports").with_remedy("give it nodes, or a client"));
        }
        if Port::try_from(ports).is_err() {
            return Err(Error::user(format!("a network has at most {} ports, not {ports}", Port::MAX)));
        }
        (self.chosen.entry.make)(&self.chosen.params, ports)
    }

    /// The longest packet, in bytes.
    pub fn packet_bytes(&self) -> u64 {
        self.link.packet_kb * KB
    }

    /// The lowest bandwidth of any link, in Mbit/s.
    pub fn slowest_mbit_s(&self) -> f64 {
        let bandwidths = self.chosen.params.iter().filter(|(key, _)| key.ends_with("_mbit_s"));
        let links = bandwidths.filter_map(|(_, value)| value.as_float());
        links.fold(self.link.bandwidth_mbit_s, f64::min)
    }

    /// Power of a port, in W.
    pub fn port_w(&self) -> f64 {
        self.link.port_w
    }

    /// Returns the network with all bandwidths doubled and all latencies halved, to estimate the benefit of a faster
    /// network.
    ///
    /// # Errors
    /// A bandwidth that is out of range then.
    pub fn double_speed(&self) -> Result<Self> {
        let faster = |(key, value): (&String, &Value)| {
            let factor = match key {
                key if key.ends_with("_mbit_s") => 2.0,
                key if key.ends_with("_us") => 0.5,
                _ => return (key.clone(), value.clone()),
            };
            (key.clone(), value.as_float().map_or_else(|| value.clone(), |number| (number * factor).into()))
        };
        let params = self.chosen.params.iter().map(faster).collect();
        Choice::new(self.chosen.entry.name, &params)
    }

    /// The configuration table with all parameters.
    pub fn to_table(&self) -> Table {
        self.chosen.to_table()
    }
}

/// Returns the lengths of the packets of a message of `bytes` bytes: `max_bytes` each, and the remaining bytes in the
/// last packet. A message of no bytes is one packet.
pub fn packet_lengths(bytes: u64, max_bytes: u64) -> impl Iterator<Item = u64> {
    let max_bytes = max_bytes.max(1);
    let full = bytes.saturating_sub(1) / max_bytes;
    (0..=full).map(move |number| if number == full { bytes - full * max_bytes } else { max_bytes })
}
