//! From what a server does to what it does next: clients stay, and all else begins anew.

use sledlab_core::Result;

use super::{ServerParts, Serving};
use crate::connections::Connections;
use crate::probe::Probed;

/// Clients that stay when a server goes on to what is done next.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    connections: Connections,
    /// How many have come so far.
    met: u64,
}

impl Serving {
    /// Serves until it is ordered to end, or to go on to what is done next: that begins with what this leaves, with
    /// its clients, and with what requests have cost here.
    pub fn serve_for_now(mut self) -> Result<(ServerParts, Clients, Vec<Probed>)> {
        self.turns()?;
        self.connections.keep_idle();
        let parts = ServerParts {
            clock: self.clock,
            scale: self.time.scale(),
            model: self.model,
            rows: self.rows,
            power: self.power,
            store: self.store,
            export: self.export,
            listener: self.listener,
            recording: self.recording,
            shared: self.shared,
            host: self.host,
            realtime: self.budget.is_limited(),
            pacer: self.pacer.afresh(),
            awake: self.awake,
        };
        let clients = Clients { connections: self.connections, met: self.counts.connections };
        Ok((parts, clients, self.probed.unwrap_or_default()))
    }

    /// Goes on with clients of before.
    pub fn with(mut self, clients: Clients) -> Self {
        self.connections = clients.connections;
        self.counts.connections = clients.met;
        self
    }
}
