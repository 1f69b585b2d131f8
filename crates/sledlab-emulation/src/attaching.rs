//! What a server does while a file, a device or a file system is made of it: the clock has not started yet.
//!
//! Until the clock starts, everything is answered at once, and nothing is recorded: what the kernel reads to get to
//! know a device, and what making and mounting a file system takes, is not what applications ask. In between, the way
//! to where the application will sit is measured as the way to the socket is otherwise, through all that is in between.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use sledlab_core::{Error, Result, Span};

use crate::clock::Scale;
use crate::model::Constant;
use crate::probe::{self, Probed};
use crate::report::HostWay;
use crate::serving::{Clients, ServerOrder, ServerParts, Serving, Shared};

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Everything is answered at once.
    Untimed,
    /// Everything takes equally long.
    Probing(Span),
    /// The clock starts.
    Timed(HostWay),
}

/// What comes next, and who waits until it does for what requests have cost the server before.
type Turn = (Stage, Sender<Vec<Probed>>);

/// Whoever attaches something to a server.
#[derive(Debug)]
pub(crate) struct Attaching {
    turns: Sender<Turn>,
    host: HostWay,
    takes: Span,
}

/// The server's side of it.
#[derive(Debug)]
pub(crate) struct Attached(Receiver<Turn>);

/// Both sides, for a way to the host that is known.
pub(crate) fn attaching(host: HostWay, scale: Scale) -> (Attaching, Attached) {
    let (turns, attached) = channel();
    (Attaching { turns, host, takes: probe::takes(scale) }, Attached(attached))
}

impl Attaching {
    /// Measures the way to a file or a device, and leaves its data as it is.
    pub fn measure(&mut self, path: &Path, shared: &Shared) -> Result<()> {
        self.turn(Stage::Probing(self.takes), shared)?;
        let outside = probe::through(path);
        let inside = self.turn(Stage::Untimed, shared)?;
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
    pub fn begin(self, shared: &Shared) -> Result<()> {
        self.turn(Stage::Timed(self.host), shared).map(drop)
    }

    fn turn(&self, stage: Stage, shared: &Shared) -> Result<Vec<Probed>> {
        let ended = || Error::internal("the server has ended while something was attached to it");
        let (tell, told) = channel();
        self.turns.send((stage, tell)).map_err(|_| ended())?;
        shared.order(ServerOrder::Turn);
        told.recv().map_err(|_| ended())
    }
}

impl Attached {
    /// Serves until the clock is to start, or all is to end; tells what is left to go on with.
    pub fn run(self, mut parts: ServerParts) -> Result<(ServerParts, Clients)> {
        let Attached(turns) = self;
        let (scale, model, recording) = (parts.scale, parts.model.take(), parts.recording.take());
        let power = parts.power.take();
        let mut clients = Clients::default();
        loop {
            let mut serving = Serving::new(parts).with(clients);
            serving.probed = Some(Vec::new());
            let probed;
            (parts, clients, probed) = serving.serve_for_now()?;
            (parts.scale, parts.model) = (Scale::default(), None);
            if parts.shared.turns()
                && let Ok((stage, tell)) = turns.recv()
            {
                match stage {
                    Stage::Untimed => {}
                    Stage::Probing(takes) => parts.model = Some(Box::new(Constant::new(takes))),
                    Stage::Timed(host) => parts.host = host,
                }
                // Whoever does not wait for it any more has given up attaching, and ends the server.
                let _ = tell.send(probed);
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
