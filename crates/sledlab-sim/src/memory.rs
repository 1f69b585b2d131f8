//! Memory required by a system of several devices, and available memory. A run that does not fit is rejected before it
//! begins. A run whose queue exceeds the memory is ended, because the length of queues is not known in advance.

#[cfg(target_arch = "wasm32")]
mod module;
#[cfg(not(target_arch = "wasm32"))]
mod process;

use sledlab_core::{Error, Result};

#[cfg(target_arch = "wasm32")]
use module::{machine, of_address_space, status};
#[cfg(not(target_arch = "wasm32"))]
use process::{machine, of_address_space, status};

/// Environment variable for the available memory in MiB; it overrides the value that the machine reports.
const SETTING: &str = "SLEDLAB_MEMORY_MB";
/// Maximum number of devices constructed before the measurement, and (`MEASURED`) for the measurement. The first
/// devices build tables that equal devices share.
const FIRST: u64 = 2;
const MEASURED: u64 = 6;
/// Bytes reserved for all other uses.
const SPARED: u64 = 64 << 20;
const MB: u64 = 1 << 20;

/// Rejects a system of `count` devices that would need more memory than is available.
///
/// To measure the memory of a device with its scheduler and all tables, `one_device` constructs a few devices, fewer
/// for a small system. The memory of queues is not known yet. A single device is not measured.
///
/// # Errors
/// A system that does not fit; parameters that contradict each other.
pub(crate) fn check<T>(count: u64, mut one_device: impl FnMut() -> Result<T>) -> Result<()> {
    let measured = MEASURED.min(count / 2);
    if measured == 0 {
        return Ok(());
    }
    let Some(available) = available() else { return Ok(()) };
    let mut built = Vec::new();
    let mut build = |devices: u64| -> Result<Option<u64>> {
        for _ in 0..devices {
            built.push(one_device()?);
        }
        Ok(status("VmRSS:"))
    };
    let (Some(first), Some(all)) = (build(FIRST.min(measured))?, build(measured)?) else { return Ok(()) };
    let each = all.saturating_sub(first) / measured;
    let needed = each.saturating_mul(count);
    if needed.saturating_add(SPARED) <= available {
        return Ok(());
    }
    let mb = |bytes: u64| bytes.div_ceil(MB);
    Err(Error::user(format!(
        "{count} devices would take about {} MB of memory, {} MB each with empty queues; {} MB are available",
        mb(needed),
        mb(each),
        mb(available)
    ))
    .with_remedy(format!(
        "use fewer devices, or a scheduler without an index of positions, such as fcfs or c-scan; {SETTING}=N \
         sets the available memory to N MB"
    )))
}

/// Maximum queue length for which memory is not checked, so that short queues have no cost.
const FEW: usize = 1 << 16;
/// Relative growth of the queue between two checks (an eighth).
const PART: u64 = 8;

/// Monitors the memory of a growing queue: running out of memory would abort the process.
#[derive(Debug)]
pub(crate) struct MemoryMonitor {
    /// Queue length at the next check.
    next: usize,
    /// Memory of the process at the beginning, in bytes.
    begun: Option<u64>,
}

impl MemoryMonitor {
    pub fn new() -> Self {
        MemoryMonitor { next: FEW, begun: status("VmRSS:") }
    }

    /// Checks the memory for a queue of `waiting` requests.
    ///
    /// # Errors
    /// Too little memory for a much longer queue.
    pub fn check(&mut self, waiting: usize) -> Result<()> {
        if waiting < self.next {
            return Ok(());
        }
        self.next = waiting + waiting / PART as usize;
        let (Some(begun), Some(used)) = (self.begun, status("VmRSS:")) else { return Ok(()) };
        let taken = used.saturating_sub(begun);
        let left = match setting() {
            Some(text) => Some(text.saturating_sub(taken)),
            None => machine().map(|left| left.saturating_sub(SPARED)),
        };
        // Tables of queued requests double their capacity: the unused half uses addresses, but no memory.
        let addresses = of_address_space().map(|left| left.saturating_sub(SPARED + taken));
        let minimum = left.into_iter().chain(addresses).min();
        if minimum.is_some_and(|minimum| minimum < taken / PART) {
            return Err(overloaded(waiting, taken));
        }
        Ok(())
    }
}

fn overloaded(waiting: usize, taken: u64) -> Error {
    let message = format!(
        "{waiting} queued requests use {} MB of memory, and little is left: requests arrive faster \
         than they are served",
        taken.div_ceil(MB)
    );
    Error::user(message).with_remedy(format!(
        "lower the load with a smaller --speedup, use --replay closed:N, or end sooner with --limit; {SETTING}=N \
         sets the available memory to N MB"
    ))
}

/// Returns the available memory in bytes; `None` if unknown.
fn available() -> Option<u64> {
    setting().or_else(|| machine().into_iter().chain(of_address_space()).min())
}

/// Returns the memory that the environment variable allows, in bytes.
fn setting() -> Option<u64> {
    let text = std::env::var(SETTING).ok()?.parse::<u64>().ok()?;
    Some(text.saturating_mul(MB))
}
