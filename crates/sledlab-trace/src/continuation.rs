//! State shared by traces that continue one another, such as the days of a month: device numbers and the time origin.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sledlab_core::hash::Map;

/// State shared by traces of which one continues another, such as the days of a month; clones share the same state.
///
/// If each trace has a separate continuation, devices are numbered and times counted anew.
#[derive(Clone, Debug, Default)]
pub struct Continuation(Arc<Mutex<ContinuationState>>);

#[derive(Debug, Default)]
struct ContinuationState {
    names: Vec<Box<[u8]>>,
    numbers: Map<Box<[u8]>, u16>,
    base_ns: Option<u64>,
}

impl Continuation {
    /// For traces whose wall clocks begin at `base_ns` rather than with the first request.
    pub fn with_base_ns(base_ns: u64) -> Self {
        Continuation(Arc::new(Mutex::new(ContinuationState {
            base_ns: Some(base_ns),
            ..ContinuationState::default()
        })))
    }

    /// Names of the devices by number, where the format has names.
    pub fn names(&self) -> Vec<Box<[u8]>> {
        self.lock_state().names.clone()
    }

    /// The time from which wall clocks count, once there has been a request.
    pub fn base_ns(&self) -> Option<u64> {
        self.lock_state().base_ns
    }

    /// The time from which wall clocks count; `first_ns` becomes it unless a request came before.
    pub(crate) fn begin(&self, first_ns: u64) -> u64 {
        *self.lock_state().base_ns.get_or_insert(first_ns)
    }

    /// The number of the device called `name`; `None` if there are too many devices.
    pub(crate) fn number(&self, name: &[u8]) -> Option<u16> {
        let mut shared = self.lock_state();
        if let Some(number) = shared.numbers.get(name) {
            return Some(*number);
        }
        let number = u16::try_from(shared.names.len()).ok()?;
        shared.names.push(name.into());
        shared.numbers.insert(name.into(), number);
        Some(number)
    }

    fn lock_state(&self) -> MutexGuard<'_, ContinuationState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
