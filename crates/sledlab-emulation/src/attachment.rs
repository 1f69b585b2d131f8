//! Attaches the export of a server as a file, a block device or a file system before the clock starts.
//!
//! Until the clock starts, the server replies to every request at once and records nothing: the reads with which the
//! kernel probes a device, and the requests that create and mount a file system, are not requests of applications. The
//! round-trip time to the client is measured through the attached file or device, so that it includes every layer.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use sledlab_core::{Error, Result, Span};

use crate::clock::Scale;
use crate::model::ConstantModel;
use crate::probe;
use crate::report::HostPathCost;
use crate::server_loop::{Clients, ProbeTiming, ServerOrder, ServerParts, ServerState, SharedState};

/// How the server answers requests from now on.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Every request is answered at once.
    Untimed,
    /// Every request takes this long.
    Probing(Span),
    /// The clock starts, and replies leave earlier by what the way to the host takes.
    Timed(HostPathCost),
}

/// The next stage, and the sender for what requests have cost the server in the stage before.
type StageRequest = (Stage, Sender<Vec<ProbeTiming>>);

/// The side of a caller that attaches something to a server.
#[derive(Debug)]
pub(crate) struct AttachmentHandle {
    stage_requests: Sender<StageRequest>,
    host: HostPathCost,
    probe_duration: Span,
}

/// The server's side of attaching.
#[derive(Debug)]
pub(crate) struct Attachment(Receiver<StageRequest>);

/// Both sides, for a way to the host that is known.
pub(crate) fn attachment_channel(host: HostPathCost, scale: Scale) -> (AttachmentHandle, Attachment) {
    let (stage_requests, attached) = channel();
    (
        AttachmentHandle { stage_requests, host, probe_duration: probe::model_duration(scale) },
        Attachment(attached),
    )
}

impl AttachmentHandle {
    /// Measures the way to the host through a file or a device, and leaves its data unchanged.
    pub fn measure(&mut self, path: &Path, shared: &SharedState) -> Result<()> {
        self.change_stage(Stage::Probing(self.probe_duration), shared)?;
        let outside = probe::measure_path(path);
        let inside = self.change_stage(Stage::Untimed, shared)?;
        let failed = |what: &dyn std::fmt::Display| {
            Error::user(format!("the way to {} cannot be measured: {what}", path.display()))
                .with_remedy("--host-us 0 goes without, and --host-us N says what it takes")
        };
        let outside = outside.map_err(|error| failed(&error))?;
        self.host = probe::fit_last(&outside, &inside)
            .ok_or_else(|| failed(&"what is read and written does not reach the server as it is"))?;
        Ok(())
    }

    /// Starts the clock.
    pub fn begin(self, shared: &SharedState) -> Result<()> {
        self.change_stage(Stage::Timed(self.host), shared).map(drop)
    }

    fn change_stage(&self, stage: Stage, shared: &SharedState) -> Result<Vec<ProbeTiming>> {
        let ended = || Error::internal("the server has ended while something was attached to it");
        let (sender, receiver) = channel();
        self.stage_requests.send((stage, sender)).map_err(|_| ended())?;
        shared.order(ServerOrder::ChangeStage);
        receiver.recv().map_err(|_| ended())
    }
}

impl Attachment {
    /// Serves until the clock is to start or the server is to end; returns the server's parts and clients to go on
    /// with.
    pub fn run(self, mut parts: ServerParts) -> Result<(ServerParts, Clients)> {
        let Attachment(stage_requests) = self;
        let (scale, model, recording) = (parts.scale, parts.model.take(), parts.recording.take());
        let power = parts.power.take();
        let mut clients = Clients::default();
        loop {
            let mut state = ServerState::new(parts).with_clients(clients);
            state.probe_timings = Some(Vec::new());
            let probed;
            (parts, clients, probed) = state.serve_stage()?;
            (parts.scale, parts.model) = (Scale::default(), None);
            if parts.shared.take_stage_change()
                && let Ok((stage, sender)) = stage_requests.recv()
            {
                match stage {
                    Stage::Untimed => {}
                    Stage::Probing(duration) => parts.model = Some(Box::new(ConstantModel::new(duration))),
                    Stage::Timed(host) => parts.host = host,
                }
                // A receiver that is gone has given up attaching, and ends the server.
                let _ = sender.send(probed);
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
