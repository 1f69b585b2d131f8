//! Parameters of a write buffer in an experiment.

use sledlab_core::{Error, Result};

use super::logs::Logs;
use crate::hybrid::{KB_BLOCKS, front_capacity};

sledlab_core::choices! {
    /// The order in which the newest versions in logs are destaged to the back device.
    pub enum DestageOrder {
        /// Ascending order of blocks on the back device, for as many of the oldest logs as the buffer holds.
        Elevator = "elevator",
        /// One log at a time, the oldest first, and its records in the order of writing.
        Fifo = "fifo",
    }
}

sledlab_core::params! {
    /// A MEMS write buffer (Wang 2005, section 4.1): writes are appended to logs on the front device. With a disk in
    /// front and `gather` it is a disk caching disk (Hu and Yang 1996).
    pub struct WriteBufferParams {
        /// Space used on the front device, headers included; 0 uses the entire device.
        front_mb: f64 = 256.0, "MiB", 0.0..1e9;
        /// Size of a log, in 1024 bytes.
        log_kb: u64 = 128_u64, "KB", 4..65536;
        /// Non-volatile buffer between the devices, in 1024 bytes; as many logs as fit are destaged together.
        buffer_kb: u64 = 2048_u64, "KB", 4..1e6;
        /// Order of destaging: all logs in the buffer by address (`elevator`), or one log at a time (`fifo`).
        cleaning: DestageOrder = DestageOrder::Elevator;
        /// Share of the logs in use at which destaging begins without waiting for idle time.
        clean_from: f64 = 0.9, "", 0.0..1.0;
        /// Share of the logs in use at which that destaging ends.
        clean_to: f64 = 0.8, "", 0.0..1.0;
        /// Time without reads of the back device after which logs are destaged.
        idle_ms: f64 = 20.0, "ms", 0.0..1e12;
        /// Whether writes that arrive during an append are then appended together, with one access.
        gather: bool = false;
    }
}

impl WriteBufferParams {
    /// Empty logs on a front device of `front_blocks` blocks.
    ///
    /// # Errors
    /// Fewer than three logs, a buffer that holds none, and shares in the wrong order.
    pub(super) fn logs(&self, front_blocks: u64) -> Result<Logs> {
        let log_blocks = self.log_kb * KB_BLOCKS;
        let logs = front_capacity(self.front_mb, front_blocks)? / log_blocks;
        if logs < 3 {
            return Err(Error::user(format!(
                "hybrid.front_mb = {} has no room for three logs of {} KB",
                self.front_mb, self.log_kb
            ))
            .with_remedy("make the room larger, or hybrid.log_kb smaller"));
        }
        if self.buffer_kb < self.log_kb {
            return Err(Error::user(format!(
                "hybrid.buffer_kb = {} is less than a log of {} KB",
                self.buffer_kb, self.log_kb
            ))
            .with_remedy("make the buffer larger, or hybrid.log_kb smaller"));
        }
        if self.clean_to > self.clean_from {
            return Err(Error::user(format!(
                "hybrid.clean_to = {} is more than hybrid.clean_from = {}",
                self.clean_to, self.clean_from
            ))
            .with_remedy(
                "destaging begins at clean_from and ends at clean_to: choose clean_to <= clean_from",
            ));
        }
        Ok(Logs::new(logs as usize, log_blocks))
    }

    /// Number of logs that are destaged together.
    pub(super) fn concurrent_logs(&self) -> usize {
        match self.cleaning {
            DestageOrder::Elevator => (self.buffer_kb / self.log_kb) as usize,
            DestageOrder::Fifo => 1,
        }
    }
}
