//! Bounds on the memory that a record may take, and on the sums of its numbers.

use super::fault::{Fault, ParseResult};

/// The memory limit of a record: an exchange of all with all between 11,000 nodes.
const MAX_MEMORY: usize = 2 << 30;

/// The largest sum, which a signed number of 64 bits holds.
const MAX_SUM: u64 = i64::MAX as u64;

/// Counts memory, so that a few lines (`"nodes": "all"`, `"each"`) cannot use up all of the machine's.
#[derive(Debug, Default)]
pub(super) struct Budget {
    used_bytes: usize,
}

impl Budget {
    /// Takes memory for `count` values of type `T`.
    pub(super) fn take<T>(&mut self, count: usize) -> ParseResult<()> {
        self.used_bytes = self.used_bytes.saturating_add(count.saturating_mul(size_of::<T>()));
        if self.used_bytes <= MAX_MEMORY {
            return Ok(());
        }
        Err(Fault::new(
            format!("up to this line the record needs more than {} GiB of memory", MAX_MEMORY >> 30),
            "record fewer nodes or phases, or omit zero entries of `sends`",
        ))
    }
}

/// Adds `more` to `sum`; `what` names the sum in errors.
pub(super) fn add(sum: &mut u64, amount: u64, what: &str) -> ParseResult<()> {
    match sum.checked_add(amount).filter(|sum| *sum <= MAX_SUM) {
        Some(new_sum) => {
            *sum = new_sum;
            Ok(())
        }
        None => Err(Fault::new(
            format!("{what} add up to more than 2^63"),
            "check the numbers and their unit: bytes, not bits",
        )),
    }
}
