//! Numbers for the devices of a trace that names them.

use sledlab_core::hash::Map;

use crate::continuation::Continuation;
use crate::fields::{Fault, ParseResult};
use crate::notes::Note;

/// Longest name of a device, so that a hostile trace cannot fill the memory.
const MAX_NAME_BYTES: usize = 256;

/// Makes the name of a device from the text of a trace.
pub(crate) type ToName = fn(&[u8]) -> Vec<u8>;

/// Numbers devices in order of their first appearance, from 0, or from where the trace that this one continues ended.
#[derive(Debug, Default)]
pub(crate) struct DeviceNumbers {
    numbers: Map<Box<[u8]>, u16>,
    /// The last device of a request: most requests are for the same device as the previous request. No name is empty.
    last: (Vec<u8>, u16),
    /// Makes the name of a device from the text of the trace, where they differ.
    to_name: Option<ToName>,
    continuation: Continuation,
}

impl DeviceNumbers {
    pub(crate) fn new(continuation: Continuation) -> Self {
        DeviceNumbers { continuation, ..DeviceNumbers::default() }
    }

    /// Tells the users of the trace about `count` lines.
    #[cold]
    pub(crate) fn add_note(&self, note: Note, count: u64) {
        self.continuation.add_note(note, count);
    }

    /// Names devices by `to_name` of their text in the trace; different texts may stand for one device.
    pub(crate) fn named_by(self, to_name: ToName) -> Self {
        DeviceNumbers { to_name: Some(to_name), ..self }
    }

    /// The number of the device called `name`, which stands at byte `at` of the line.
    pub(crate) fn number(&mut self, at: usize, name: &[u8]) -> ParseResult<u16> {
        if *self.last.0 == *name && !name.is_empty() {
            return Ok(self.last.1);
        }
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            let what = if name.is_empty() { "missing" } else { "too long" };
            return Err(Fault::new(at, format!("the name of the device is {what}")));
        }
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => self.add(at, name)?,
        };
        self.last.0.clear();
        self.last.0.extend_from_slice(name);
        self.last.1 = number;
        Ok(number)
    }

    #[cold]
    fn add(&mut self, at: usize, name: &[u8]) -> ParseResult<u16> {
        let device_name = self.to_name.map(|to_name| to_name(name));
        let number = self.continuation.number(device_name.as_deref().unwrap_or(name)).ok_or_else(|| {
            let message = format!("more than {} devices", usize::from(u16::MAX) + 1);
            Fault::with_remedy(at, message, "split the file by device first")
        })?;
        self.numbers.insert(name.into(), number);
        Ok(number)
    }
}
