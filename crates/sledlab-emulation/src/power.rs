//! Power failures of the emulated device: the state that a server keeps for them, and their outcome.

use std::sync::mpsc::Sender;

use rand::RngExt;
use serde::Serialize;
use sledlab_core::{Result, Time, seed};
use sledlab_models::system::Contents;

use crate::Versions;
use crate::model::Model;

/// Probability that a block being written reaches its medium when the power fails.
const SURVIVAL_PROBABILITY: f64 = 0.5;

/// Switches the device on anew, in the state in which the server began.
pub(crate) type Restart = Box<dyn FnMut() -> Result<Box<dyn Model>> + Send>;

/// The outcome of a power failure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PowerFailure {
    /// When the power failed, in seconds of simulated time since the device was switched on.
    pub model_s: f64,
    /// When the power failed, in seconds of wall-clock time since the server started.
    pub real_s: f64,
    /// When the device was on again, in seconds of wall-clock time since the server started.
    pub on_s: f64,
    /// Root of the random numbers that decided which blocks being written reached their medium.
    pub seed: u64,
    /// Requests in flight, which were never answered.
    pub in_flight: u64,
    /// Blocks whose last write was not durable (with a volatile cache: not flushed), but which contain its data.
    pub newest: u64,
    /// Blocks whose last write was not durable, and which contain older data.
    pub older: u64,
    /// Number of blocks with older data that lost an acknowledged write, because a volatile cache or the buffer of a
    /// disk was not flushed.
    pub lost: u64,
    /// Rows of the per-request table up to the failure, since the device was switched on before; see `digest_of_rows`.
    pub rows: u64,
    /// The digest of those rows; see [`RowsDigest`](crate::RowsDigest).
    pub digest_of_rows: u64,
}

/// An order to fail the power.
#[derive(Debug)]
pub(crate) struct PowerCut {
    /// Root of the random numbers; the experiment's seed where none is given.
    pub seed: Option<u64>,
    pub sender: Sender<(PowerFailure, Contents)>,
}

/// State that a server keeps for power failures of its device.
pub(crate) struct Power {
    is_volatile: bool,
    seed: u64,
    restart: Restart,
    pub versions: Versions,
    /// The latest simulated time of a reply that a client has received: the power fails later.
    pub latest: Time,
    pub failures: Vec<PowerFailure>,
}

impl Power {
    /// Returns the state for a device that is on. `is_volatile` is whether the system acknowledges writes before they
    /// are durable; `seed` decides which blocks being written survive a failure without its own seed.
    pub fn new(is_volatile: bool, seed: u64, restart: Restart) -> Self {
        let (versions, latest) = (Versions::new(is_volatile), Time::ZERO);
        Power { is_volatile, seed, restart, versions, latest, failures: Vec::new() }
    }

    /// Returns the seed of the next failure, and a function that decides for each block being written whether it
    /// reaches its medium.
    pub fn survival_draw(&self, requested_seed: Option<u64>) -> (u64, impl FnMut() -> bool + use<>) {
        let root = requested_seed.unwrap_or(self.seed);
        let mut stream = seed::stream(root, &format!("power failure {}", self.failures.len()));
        (root, move || stream.random_bool(SURVIVAL_PROBABILITY))
    }

    /// Takes the versions written since the device was switched on; empty ones take their place.
    pub fn take_versions(&mut self) -> Versions {
        self.latest = Time::ZERO;
        std::mem::replace(&mut self.versions, Versions::new(self.is_volatile))
    }

    /// Switches the device on anew.
    ///
    /// # Errors
    /// The errors of building the model, which has succeeded before.
    pub fn restart(&mut self) -> Result<Box<dyn Model>> {
        (self.restart)()
    }
}
