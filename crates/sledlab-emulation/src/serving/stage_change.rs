//! Changes from one stage of an attachment to the next: clients stay connected, all other state is reset.

use sledlab_core::Result;

use super::{ProbeTiming, ServerParts, ServerState};
use crate::connections::Connections;

/// Clients that stay connected when a server starts the next stage.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    connections: Connections,
    /// Number of clients that have connected so far.
    met: u64,
}

impl ServerState {
    /// Serves until it is ordered to end, or to go on to the next stage. Returns the server's parts and its clients,
    /// with which the next stage begins, and what requests have cost in this one.
    pub fn serve_stage(mut self) -> Result<(ServerParts, Clients, Vec<ProbeTiming>)> {
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

    /// Takes over the clients of the stage before.
    pub fn with(mut self, clients: Clients) -> Self {
        self.connections = clients.connections;
        self.counts.connections = clients.met;
        self
    }
}
