//! Memory required by a system of several devices, and available memory. A run that does not fit is rejected before it
//! begins. A run whose queue exceeds the memory is ended, because the length of queues is not known in advance.

#[cfg(target_arch = "wasm32")]
mod module;
#[cfg(not(target_arch = "wasm32"))]
mod process;

use sledlab_core::{Error, Result};

#[cfg(target_arch = "wasm32")]
use module::{machine_memory, process_memory, remaining_address_space};
#[cfg(not(target_arch = "wasm32"))]
use process::{machine_memory, process_memory, remaining_address_space};

/// Environment variable for the available memory in MiB; it overrides the value that the machine reports.
const MEMORY_VARIABLE: &str = "SLEDLAB_MEMORY_MB";
/// Maximum number of devices constructed before the measurement, and (`MEASURED_DEVICES`) for the measurement. The
/// first devices build tables that equal devices share.
const WARM_UP_DEVICES: u64 = 2;
const MEASURED_DEVICES: u64 = 6;
/// Bytes reserved for all other uses.
const RESERVED_BYTES: u64 = 64 << 20;
const MB: u64 = 1 << 20;

/// Rejects a system of `count` devices that would need more memory than is available.
///
/// To measure the memory of a device with its scheduler and all tables, `build_device` constructs a few devices, fewer
/// for a small system. The memory of queues is not known yet. A single device is not measured.
///
/// # Errors
/// A system that does not fit; parameters that contradict each other.
pub(crate) fn check<T>(count: u64, mut build_device: impl FnMut() -> Result<T>) -> Result<()> {
    let measured_devices = MEASURED_DEVICES.min(count / 2);
    if measured_devices == 0 {
        return Ok(());
    }
    let Some(available) = available_memory() else { return Ok(()) };
    let mut devices = Vec::new();
    let mut build = |count: u64| -> Result<Option<u64>> {
        for _ in 0..count {
            devices.push(build_device()?);
        }
        Ok(process_memory("VmRSS:"))
    };
    let (Some(warm_up_bytes), Some(measured_bytes)) =
        (build(WARM_UP_DEVICES.min(measured_devices))?, build(measured_devices)?)
    else {
        return Ok(());
    };
    let device_bytes = measured_bytes.saturating_sub(warm_up_bytes) / measured_devices;
    let needed = device_bytes.saturating_mul(count);
    if needed.saturating_add(RESERVED_BYTES) <= available {
        return Ok(());
    }
    let mb = |bytes: u64| bytes.div_ceil(MB);
    Err(Error::user(format!(
        "{count} devices would take about {} MB of memory, {} MB each with empty queues; {} MB are available",
        mb(needed),
        mb(device_bytes),
        mb(available)
    ))
    .with_remedy(format!(
        "use fewer devices, or a scheduler without an index of positions, such as fcfs or c-scan; {MEMORY_VARIABLE}=N \
         sets the available memory to N MB"
    )))
}

/// Queue length at the first check of the memory, so that short queues have no cost.
const MIN_CHECKED_QUEUE: usize = 1 << 16;
/// Relative growth of the queue between two checks (an eighth).
const GROWTH_DIVISOR: u64 = 8;

/// Monitors the memory of a growing queue: running out of memory would abort the process.
#[derive(Debug)]
pub(crate) struct MemoryMonitor {
    /// Queue length at the next check.
    next_check: usize,
    /// Memory of the process at the beginning, in bytes.
    begin_bytes: Option<u64>,
}

impl MemoryMonitor {
    pub fn new() -> Self {
        MemoryMonitor { next_check: MIN_CHECKED_QUEUE, begin_bytes: process_memory("VmRSS:") }
    }

    /// Checks the memory for a queue of `waiting` requests.
    ///
    /// # Errors
    /// Too little memory for a much longer queue.
    pub fn check(&mut self, waiting: usize) -> Result<()> {
        if waiting < self.next_check {
            return Ok(());
        }
        self.next_check = waiting + waiting / GROWTH_DIVISOR as usize;
        let (Some(begin_bytes), Some(used_bytes)) = (self.begin_bytes, process_memory("VmRSS:")) else {
            return Ok(());
        };
        let growth_bytes = used_bytes.saturating_sub(begin_bytes);
        let available_bytes = match configured_memory() {
            Some(limit) => Some(limit.saturating_sub(growth_bytes)),
            None => machine_memory().map(|available_bytes| available_bytes.saturating_sub(RESERVED_BYTES)),
        };
        // Tables of queued requests double their capacity: the unused half uses addresses, but no memory.
        let address_bytes = remaining_address_space()
            .map(|available_bytes| available_bytes.saturating_sub(RESERVED_BYTES + growth_bytes));
        let min_bytes = available_bytes.into_iter().chain(address_bytes).min();
        if min_bytes.is_some_and(|min_bytes| min_bytes < growth_bytes / GROWTH_DIVISOR) {
            return Err(overload_error(waiting, growth_bytes));
        }
        Ok(())
    }
}

fn overload_error(waiting: usize, growth_bytes: u64) -> Error {
    let message = format!(
        "{waiting} queued requests use {} MB of memory, and little is left: requests arrive faster \
         than they are served",
        growth_bytes.div_ceil(MB)
    );
    Error::user(message).with_remedy(format!(
        "lower the load with a smaller --speedup, use --replay closed:N, or end sooner with --limit; \
         {MEMORY_VARIABLE}=N sets the available memory to N MB"
    ))
}

/// Returns the available memory in bytes; `None` if unknown.
fn available_memory() -> Option<u64> {
    configured_memory().or_else(|| machine_memory().into_iter().chain(remaining_address_space()).min())
}

/// Returns the memory that the environment variable allows, in bytes.
fn configured_memory() -> Option<u64> {
    let text = std::env::var(MEMORY_VARIABLE).ok()?.parse::<u64>().ok()?;
    Some(text.saturating_mul(MB))
}
