//! Changes from one stage of an attachment to the next: clients stay connected, all other state is reset.

use sledlab_core::Result;

use super::{ProbeTiming, ServerParts, ServerState};
use crate::sockets::connections::Connections;

/// Clients that stay connected when a server starts the next stage.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    connections: Connections,
    /// Number of clients that have connected so far.
    connected_clients: u64,
}

impl ServerState {
    /// Serves until it is ordered to end, or to start the next stage. Returns the server's parts and clients, with
    /// which the next stage starts, and the times of requests in this stage.
    pub fn serve_stage(mut self) -> Result<(ServerParts, Clients, Vec<ProbeTiming>)> {
        self.run_loop()?;
        self.connections.retain_idle();
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
            pacer: self.pacer.with_empty_queue(),
            cpu_idle: self.cpu_idle,
        };
        let clients = Clients { connections: self.connections, connected_clients: self.counts.connections };
        Ok((parts, clients, self.probe_timings.unwrap_or_default()))
    }

    /// Takes over the clients of the previous stage.
    pub fn with_clients(mut self, clients: Clients) -> Self {
        self.connections = clients.connections;
        self.counts.connections = clients.connected_clients;
        self
    }
}
