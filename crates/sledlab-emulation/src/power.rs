//! Power failures of the emulated device: what they need while it serves, and what one has done.

use std::sync::mpsc::Sender;

use rand::RngExt;
use serde::Serialize;
use sledlab_core::{Result, Time, seed};
use sledlab_models::system::Contents;

use crate::Versions;
use crate::model::Model;

/// Of the blocks under way, so many get to their medium.
const SURVIVING: f64 = 0.5;

/// Switches the device on anew, as it was in the beginning.
pub(crate) type Restart = Box<dyn FnMut() -> Result<Box<dyn Model>> + Send>;

/// What a power failure has done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PowerFailure {
    /// When, in seconds of the model since the device was switched on.
    pub model_s: f64,
    /// When, in seconds of real time since the server began.
    pub real_s: f64,
    /// When the device was on again, in the same seconds.
    pub on_s: f64,
    /// Root of the random numbers that have said which blocks got to their medium.
    pub seed: u64,
    /// Requests that were never answered.
    pub under_way: u64,
    /// Blocks whose last write was not durable, and which hold it all the same.
    pub newest: u64,
    /// Blocks whose last write was not durable, and which hold something older.
    pub older: u64,
    /// How many of these had later been written by a write that was answered: what a volatile cache has lost.
    pub lost: u64,
    /// Rows of the per-request table up to then, and the number that stands for them; see
    /// [`RowsDigest`](crate::RowsDigest).
    pub rows: u64,
    /// The number.
    pub digest_of_rows: u64,
}

/// Somebody wants the power to fail.
#[derive(Debug)]
pub(crate) struct Cut {
    /// Root of the random numbers; the experiment's where it is not said.
    pub seed: Option<u64>,
    pub tell: Sender<(PowerFailure, Contents)>,
}

/// What a server keeps so that the power of its device can fail.
pub(crate) struct Power {
    is_volatile: bool,
    seed: u64,
    restart: Restart,
    pub versions: Versions,
    /// The power fails later than this, the last moment of the model that a client has seen something of.
    pub latest: Time,
    pub failures: Vec<PowerFailure>,
}

impl Power {
    /// Of a device that is on. `is_volatile` says whether it answers writes before they are durable, `seed` which blocks
    /// survive unless a failure has a seed of its own.
    pub fn new(is_volatile: bool, seed: u64, restart: Restart) -> Self {
        let (versions, latest) = (Versions::new(is_volatile), Time::ZERO);
        Power { is_volatile, seed, restart, versions, latest, failures: Vec::new() }
    }

    /// The seed of the next failure, and what says of each block under way whether it gets to its medium.
    pub fn chance(&self, said: Option<u64>) -> (u64, impl FnMut() -> bool + use<>) {
        let root = said.unwrap_or(self.seed);
        let mut stream = seed::stream(root, &format!("power failure {}", self.failures.len()));
        (root, move || stream.random_bool(SURVIVING))
    }

    /// The versions of all that was written since the device was switched on; those from now on are others.
    pub fn take_versions(&mut self) -> Versions {
        self.latest = Time::ZERO;
        std::mem::replace(&mut self.versions, Versions::new(self.is_volatile))
    }

    /// The device, switched on anew.
    ///
    /// # Errors
    /// Those of its making, which went well before.
    pub fn restart(&mut self) -> Result<Box<dyn Model>> {
        (self.restart)()
    }
}
