//! Attaches the export of a server as a file, a block device or a file system before the clock starts.
//!
//! Until the clock starts, the server replies to every request at once and records nothing: the reads with which the
//! kernel probes a device, and the requests that create and mount a file system, are not requests of applications. The
//! round-trip time to the client is measured through the attached file or device, so that it includes every layer.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use sledlab_core::{Error, Result, Span};

use crate::model::ConstantModel;
use crate::probe;
use crate::report::HostPathCost;
use crate::server_loop::{Clients, ProbeTiming, ServerOrder, ServerParts, ServerState, SharedState};
use crate::timing::clock::Scale;

/// How the server answers requests from now on.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Every request is answered at once.
    Untimed,
    /// Every request takes this long.
    Probing(Span),
    /// The clock starts, and replies are sent earlier by the cost of the host path.
    Timed(HostPathCost),
}

/// The next stage, and the sender for the request times that the server measured in the previous stage.
type StageRequest = (Stage, Sender<Vec<ProbeTiming>>);

/// The caller's side of attaching.
#[derive(Debug)]
pub(crate) struct AttachmentHandle {
    stage_requests: Sender<StageRequest>,
    host: HostPathCost,
    probe_duration: Span,
}

/// The server's side of attaching.
#[derive(Debug)]
pub(crate) struct Attachment(Receiver<StageRequest>);

/// Returns both sides, for a known cost of the host path.
pub(crate) fn attachment_channel(host: HostPathCost, scale: Scale) -> (AttachmentHandle, Attachment) {
    let (stage_requests, stage_receiver) = channel();
    (
        AttachmentHandle { stage_requests, host, probe_duration: probe::model_duration(scale) },
        Attachment(stage_receiver),
    )
}

impl AttachmentHandle {
    /// Measures the host path through a file or a device, and leaves its data unchanged.
    pub fn measure(&mut self, path: &Path, shared: &SharedState) -> Result<()> {
        self.change_stage(Stage::Probing(self.probe_duration), shared)?;
        let client_timings = probe::measure_path(path);
        let server_timings = self.change_stage(Stage::Untimed, shared)?;
        let measure_error = |what: &dyn std::fmt::Display| {
            Error::user(format!("cannot measure the host path to {}: {what}", path.display()))
                .with_remedy("set the cost of the host path with --host-us N, or --host-us 0 for none")
        };
        let client_timings = client_timings.map_err(|error| measure_error(&error))?;
        self.host = probe::fit_last(&client_timings, &server_timings)
            .ok_or_else(|| measure_error(&"reads and writes do not reach the server unchanged"))?;
        Ok(())
    }

    /// Starts the clock.
    pub fn begin(self, shared: &SharedState) -> Result<()> {
        self.change_stage(Stage::Timed(self.host), shared).map(drop)
    }

    fn change_stage(&self, stage: Stage, shared: &SharedState) -> Result<Vec<ProbeTiming>> {
        let server_ended_error =
            || Error::internal("the server ended while a file or device was being attached");
        let (sender, receiver) = channel();
        self.stage_requests.send((stage, sender)).map_err(|_| server_ended_error())?;
        shared.order(ServerOrder::ChangeStage);
        receiver.recv().map_err(|_| server_ended_error())
    }
}

impl Attachment {
    /// Serves until the clock starts or the server ends; returns the server's parts and clients, with which the next
    /// stage continues.
    pub fn run(self, mut parts: ServerParts) -> Result<(ServerParts, Clients)> {
        let Attachment(stage_requests) = self;
        let (scale, model, recording) = (parts.scale, parts.model.take(), parts.recording.take());
        let power = parts.power.take();
        let mut clients = Clients::default();
        loop {
            let mut state = ServerState::new(parts).with_clients(clients);
            state.probe_timings = Some(Vec::new());
            let probe_timings;
            (parts, clients, probe_timings) = state.serve_stage()?;
            (parts.scale, parts.model) = (Scale::default(), None);
            if parts.shared.take_stage_change()
                && let Ok((stage, sender)) = stage_requests.recv()
            {
                match stage {
                    Stage::Untimed => {}
                    Stage::Probing(duration) => parts.model = Some(Box::new(ConstantModel::new(duration))),
                    Stage::Timed(host) => parts.host = host,
                }
                // Without a receiver, the caller no longer attaches and ends the server.
                let _ = sender.send(probe_timings);
                if !matches!(stage, Stage::Timed(_)) {
                    continue;
                }
            }
            (parts.scale, parts.model, parts.recording) = (scale, model, recording);
            parts.power = power;
            return Ok((parts, clients));
        }
    }
}
