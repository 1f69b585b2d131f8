//! Memory: how much a system of several devices will take, and how much is available. A run that does not fit is
//! refused before it begins, and ended where its queue outgrows the memory, as the length of queues is not known
//! before.

#[cfg(target_arch = "wasm32")]
mod module;
#[cfg(not(target_arch = "wasm32"))]
mod process;

use sledlab_core::{Error, Result};

#[cfg(target_arch = "wasm32")]
use module::{machine, of_address_space, status};
#[cfg(not(target_arch = "wasm32"))]
use process::{machine, of_address_space, status};

/// Environment variable for the memory that may be taken, in 2^20 bytes; it overrides what the machine reports.
const SETTING: &str = "SLEDLAB_MEMORY_MB";
/// Devices built before measuring, at most, and (`MEASURED`) to measure what one takes: the first ones build tables
/// that equal devices share with them.
const FIRST: u64 = 2;
const MEASURED: u64 = 6;
/// Bytes left free for all other uses.
const SPARED: u64 = 64 << 20;
const MB: u64 = 1 << 20;

/// Rejects a system of `count` devices that would take more memory than is available.
///
/// To measure the memory of a device, with scheduler and all tables, `one_device` builds a few: the fewer, the smaller
/// the system. The memory of queues is not known yet. A single device is not measured.
///
/// # Errors
/// A system that does not fit; parameters that make no sense.
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
        "{count} devices would take about {} MB of memory, {} MB each before anything waits; {} MB are available",
        mb(needed),
        mb(each),
        mb(available)
    ))
    .with_remedy(format!(
        "use fewer devices, or a scheduler that keeps no index of positions, such as fcfs or c-scan; {SETTING}=N \
         says that there are N MB"
    )))
}

/// Waiting requests below which memory is not checked, so that short queues cost nothing.
const FEW: usize = 1 << 16;
/// From one check to the next the queue grows by this part of itself (an eighth).
const PART: u64 = 8;

/// Watches the memory of a growing queue: running out of memory would abort the process.
#[derive(Debug)]
pub(crate) struct MemoryMonitor {
    /// Waiting requests at which memory is checked next.
    next: usize,
    /// Memory of the process at the beginning, in bytes.
    begun: Option<u64>,
}

impl MemoryMonitor {
    pub fn new() -> Self {
        MemoryMonitor { next: FEW, begun: status("VmRSS:") }
    }

    /// Checks the memory when `waiting` requests wait.
    ///
    /// # Errors
    /// Too little memory for many more requests.
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
        // Tables of waiting requests grow to twice their size: the unused half takes addresses, but no memory.
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
        "{waiting} requests wait and have taken {} MB of memory, and there is none for many more: they arrive faster \
         than they are served",
        taken.div_ceil(MB)
    );
    Error::user(message).with_remedy(format!(
        "lower the load with a smaller --speedup, take --replay closed:N, or end sooner with --limit; {SETTING}=N says \
         that there are N MB"
    ))
}

/// Memory that can be taken, in bytes; `None` where that is unknown.
fn available() -> Option<u64> {
    setting().or_else(|| machine().into_iter().chain(of_address_space()).min())
}

/// Memory that the environment variable allows, in bytes.
fn setting() -> Option<u64> {
    let text = std::env::var(SETTING).ok()?.parse::<u64>().ok()?;
    Some(text.saturating_mul(MB))
}
