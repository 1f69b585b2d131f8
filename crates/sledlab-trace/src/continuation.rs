//! State shared by a trace and its users, and by traces that continue one another, such as the days of a month: names
//! of devices, the time origin, and notes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sledlab_core::hash::Map;

use crate::notes::Note;

/// State shared by a trace and its users, and by traces of which one continues another, such as the days of a month;
/// clones share the same state.
///
/// If each trace has a separate continuation, devices are numbered and times counted anew.
#[derive(Clone, Debug, Default)]
pub struct Continuation(Arc<Mutex<ContinuationState>>);

#[derive(Debug, Default)]
struct ContinuationState {
    names: Vec<Box<[u8]>>,
    numbers: Map<Box<[u8]>, u16>,
    base_ns: Option<u64>,
    notes: Vec<(Note, u64)>,
}

impl Continuation {
    /// For traces whose wall clocks begin at `base_ns` rather than with the first request.
    pub fn with_base_ns(base_ns: u64) -> Self {
        Continuation(Arc::new(Mutex::new(ContinuationState {
            base_ns: Some(base_ns),
            ..ContinuationState::default()
        })))
    }

    /// Names of the devices by number, where the format has names; an empty name stands for the number itself.
    pub fn names(&self) -> Vec<Box<[u8]>> {
        self.lock_state().names.clone()
    }

    /// The name of a device: that in the trace, or its number where the format has no names.
    pub fn name(&self, number: u16) -> Box<[u8]> {
        let shared = self.lock_state();
        match shared.names.get(usize::from(number)) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => number.to_string().into_bytes().into(),
        }
    }

    /// Gives a device a name.
    pub(crate) fn set_name(&self, number: u16, name: &[u8]) {
        let mut shared = self.lock_state();
        let min_len = usize::from(number) + 1;
        if shared.names.len() < min_len {
            shared.names.resize(min_len, Box::default());
        }
        shared.names[usize::from(number)] = name.into();
        shared.numbers.insert(name.into(), number);
    }

    /// The time from which wall clocks count, once there has been a request.
    pub fn base_ns(&self) -> Option<u64> {
        self.lock_state().base_ns
    }

    /// What a user should know about the traces, as sentences, once they have been read.
    pub fn notes(&self) -> Vec<String> {
        self.lock_state().notes.iter().map(|(note, count)| note.sentence(*count)).collect()
    }

    /// Adds `count` to a note.
    pub(crate) fn add_note(&self, note: Note, count: u64) {
        let notes = &mut self.lock_state().notes;
        match notes.iter_mut().find(|(existing, _)| *existing == note) {
            Some((_, sum)) => *sum += count,
            None => notes.push((note, count)),
        }
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
