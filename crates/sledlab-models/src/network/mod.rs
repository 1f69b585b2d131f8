//! Networks: how long it takes bytes to get from one port to another, and what else is under way there.
//!
//! Adding a network is one file and one line in [`LIST`], which feeds the command line, the Python API, the docs and
//! the conformance tests. What is left out: windows of TCP, loss, and memory of switches that runs full.

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
use sledlab_core::registry::{self, Chosen, Registry};
use sledlab_core::{Error, Result, Time};
use toml::{Table, Value};

/// A place on the network: a node by its number, and after the nodes the client, which is the last port.
pub type Port = u32;

/// What crosses the network at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Who sends it.
    pub from: Port,
    /// Who receives it.
    pub to: Port,
    /// Its length; a packet of no bytes is one nevertheless.
    pub bytes: u64,
    /// What the sender wants to know it by.
    pub tag: u64,
}

/// Carries packets. Packets from one port to another arrive in the order in which they were sent.
///
/// Calls come in order of time, and what is due before a call is done before it: a caller that looks at
/// [`next_event`](Network::next_event) before each of its own events keeps to that. A packet without length on a
/// network without latency is due in the moment in which it is sent.
pub trait Network: Send {
    /// Port `packet.from`, which is free, puts a packet on its link at `now`. Returns when that port is free again.
    fn send(&mut self, now: Time, packet: Packet) -> Time;

    /// When a packet next arrives wholly, or moves on inside.
    fn next_event(&self) -> Option<Time>;

    /// Does what is due at `now`; appends the packets that have wholly arrived, in order, and of those that arrive at
    /// once, what was sent first.
    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>);
}

/// What a network is: one implementation for each file of this folder.
pub trait Model: Network + Sized + 'static {
    /// The parameters, declared with [`sledlab_core::params!`]: at least those of [`LinkParams`].
    type Params: Params;
    /// Name in configurations.
    const NAME: &'static str;
    /// One line for people.
    const MEANING: &'static str;

    /// A network on which nothing is under way, with so many ports; the last is the client's.
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

/// Makes a network of a table of parameters, with so many ports.
pub type Make = fn(&Table, usize) -> Result<Box<dyn Network>>;

/// A network in the list.
pub type Entry = registry::Entry<Make>;

const fn of<M: Model>() -> Entry {
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
    also: &[],
    entries: &[of::<ideal::Ideal>(), of::<switch::Switch>(), of::<hub::Hub>(), of::<tree::Tree>()],
};

/// The name of the configuration table, for messages.
const PATH: &str = "network";

/// Bytes of a kilobyte.
const KB: u64 = 1024;

/// A network with all its parameters.
#[derive(Clone, Debug)]
pub struct Choice {
    chosen: Chosen<Make>,
    link: LinkParams,
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.to_table() == other.to_table()
    }
}

impl Choice {
    /// The network called `name`, with `params` over its defaults.
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
        let (name, mut said) = LIST.parse(word)?;
        said.extend(params);
        Choice::new(&name, &said)
    }

    /// Which network it is.
    pub fn entry(&self) -> &'static Entry {
        self.chosen.entry
    }

    /// A network on which nothing is under way, with so many ports: the nodes and, last, the client.
    ///
    /// # Errors
    /// No ports, or more than can be counted.
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

    /// Power of a port, in W.
    pub fn port_w(&self) -> f64 {
        self.link.port_w
    }

    /// The same with all bandwidths doubled and all latencies halved: what a faster network would be worth.
    ///
    /// # Errors
    /// A bandwidth that is out of range then.
    pub fn twice_as_fast(&self) -> Result<Self> {
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

    /// The configuration table that says all of it.
    pub fn to_table(&self) -> Table {
        self.chosen.to_table()
    }
}

/// The packets of a message of so many bytes, each of `most` bytes and the last of what is left. A message of no bytes
/// is a packet as well.
pub fn cut(bytes: u64, most: u64) -> impl Iterator<Item = u64> {
    let most = most.max(1);
    let full = bytes.saturating_sub(1) / most;
    (0..=full).map(move |number| if number == full { bytes - full * most } else { most })
}
