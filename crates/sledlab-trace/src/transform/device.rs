//! Transformation steps that choose and number devices by their names.

use sledlab_core::hash::Map;
use sledlab_core::{Error, Request, Result, Source};

use super::{Next, TransformStep};
use crate::continuation::Continuation;
use crate::shown::list_names;
use crate::stream_end::StreamEnd;

/// Numbers for devices by name: a name that is a number keeps it, others get the lowest number that is free.
#[derive(Debug, Default)]
pub(super) struct NameNumbers {
    numbers: Map<Box<[u8]>, u16>,
    /// Which numbers are in use.
    used: Vec<bool>,
}

impl NameNumbers {
    /// The number of a name; `None` if all numbers are in use.
    pub(super) fn number(&mut self, name: &[u8]) -> Option<u16> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let own_number = std::str::from_utf8(name).ok().and_then(|digits| digits.parse::<u16>().ok());
        let is_free = |number: &u16| !self.used.get(usize::from(*number)).copied().unwrap_or(false);
        let number = own_number.filter(is_free).or_else(|| (0..=u16::MAX).find(is_free))?;
        let index = usize::from(number);
        if self.used.len() <= index {
            self.used.resize(index + 1, false);
        }
        self.used[index] = true;
        self.numbers.insert(name.into(), number);
        Some(number)
    }
}

/// Numbers devices by their names, for files that hold numbers only.
#[derive(Debug)]
pub struct NumberByName {
    from: Continuation,
    to: Continuation,
    numbers: NameNumbers,
    /// New numbers, by old number.
    new_numbers: Map<u16, u16>,
}

impl NumberByName {
    /// Numbers the devices that `from` names; `to` receives the names by their new numbers.
    pub fn new(from: Continuation, to: Continuation) -> Self {
        NumberByName { from, to, numbers: NameNumbers::default(), new_numbers: Map::default() }
    }

    #[cold]
    fn add(&mut self, device: u16) -> Result<u16> {
        let name = self.from.name(device);
        let number = self.numbers.number(&name).ok_or_else(too_many_devices_error)?;
        self.to.set_name(number, &name);
        self.new_numbers.insert(device, number);
        Ok(number)
    }
}

impl TransformStep for NumberByName {
    #[inline]
    fn take(&mut self, mut request: Request) -> Result<Next> {
        request.device = match self.new_numbers.get(&request.device) {
            Some(number) => *number,
            None => self.add(request.device)?,
        };
        Ok(Next::Pass(request))
    }
}

pub(super) fn too_many_devices_error() -> Error {
    Error::user(format!("the traces have more than {} devices together", usize::from(u16::MAX) + 1))
        .with_remedy("choose some of them, or merge fewer traces")
}

/// Requests to the devices with certain names; at the end, an error if a name was not in the trace.
///
/// A text may hold several names, separated by commas, and a name may hold a comma itself, as `8,16` does. Where names
/// are `HOST_DISK`, the disk alone stands for the device if only one host has such a disk.
pub struct SelectedDevices<S> {
    source: S,
    names: Continuation,
    selections: Vec<Selection>,
    /// By number, whether requests of the device pass; unset before the first.
    is_selected_by_device: Map<u16, bool>,
    stream_end: StreamEnd,
}

/// A text that names devices, and the ways to read it: as one name, as pairs of words, and as single words.
struct Selection {
    readings: Vec<Vec<SelectedName>>,
}

/// A name in a text.
struct SelectedName {
    name: Vec<u8>,
    /// Names of the devices in the trace that it stands for.
    devices: Vec<Box<[u8]>>,
}

impl<S: Source> SelectedDevices<S> {
    /// Lets requests of `source` to the devices called `texts` pass; `names` holds the names of its devices.
    pub fn new<'a>(source: S, names: Continuation, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let selections = texts.into_iter().map(Selection::new).collect();
        let stream_end = StreamEnd::default();
        SelectedDevices { source, names, selections, is_selected_by_device: Map::default(), stream_end }
    }

    /// Reads until requests pass, or to the end of the trace.
    fn read_chunk(&mut self, requests: &mut Vec<Request>) -> Result<()> {
        let old_len = requests.len();
        while requests.len() == old_len {
            if self.source.fill(requests)? == 0 {
                return self.check();
            }
            let mut kept_len = old_len;
            for index in old_len..requests.len() {
                if self.passes(requests[index].device) {
                    requests[kept_len] = requests[index];
                    kept_len += 1;
                }
            }
            requests.truncate(kept_len);
        }
        Ok(())
    }

    fn passes(&mut self, device: u16) -> bool {
        if let Some(is_selected) = self.is_selected_by_device.get(&device) {
            return *is_selected;
        }
        let name = self.names.name(device);
        let mut is_selected = false;
        for name_in_selection in
            self.selections.iter_mut().flat_map(|selection| selection.readings.iter_mut().flatten())
        {
            if name_in_selection.stands_for(&name) {
                name_in_selection.devices.push(name.clone());
                is_selected = true;
            }
        }
        self.is_selected_by_device.insert(device, is_selected);
        is_selected
    }

    /// Checks, at the end of the trace, that every name stands for one device.
    fn check(&self) -> Result<()> {
        for selection in &self.selections {
            let is_present =
                |reading: &&Vec<SelectedName>| reading.iter().all(|name| !name.devices.is_empty());
            let Some(reading) = selection.readings.iter().find(is_present) else {
                let words = selection.readings.last().into_iter().flatten();
                let missing_names: Vec<String> =
                    words.filter(|word| word.devices.is_empty()).map(|word| show(&word.name)).collect();
                return Err(self
                    .name_error(&format!("no request is for the device `{}`", missing_names.join("`, `"))));
            };
            if let Some(name) = reading.iter().find(|name| name.is_ambiguous()) {
                return Err(self.name_error(&format!("`{}` stands for several devices", show(&name.name))));
            }
        }
        Ok(())
    }

    fn name_error(&self, message: &str) -> Error {
        let mut numbers: Vec<u16> = self.is_selected_by_device.keys().copied().collect();
        numbers.sort_unstable();
        let names: Vec<String> = numbers.iter().map(|number| show(&self.names.name(*number))).collect();
        let listed_names = list_names(names.iter().map(String::as_str));
        Error::user(message).with_remedy(format!("the devices of the trace are {listed_names}"))
    }
}

impl Selection {
    fn new(text: &str) -> Self {
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut readings = vec![vec![text.trim().to_owned()]];
        if words.len() > 2 && words.len().is_multiple_of(2) {
            readings.push(words.chunks_exact(2).map(|pair| pair.join(",")).collect());
        }
        readings.push(words.into_iter().map(str::to_owned).collect());
        let to_selected_name = |name: String| SelectedName { name: name.into_bytes(), devices: Vec::new() };
        Selection {
            readings: readings
                .into_iter()
                .map(|names| names.into_iter().map(to_selected_name).collect())
                .collect(),
        }
    }
}

impl SelectedName {
    fn stands_for(&self, name: &[u8]) -> bool {
        let is_disk_of = |host: &[u8]| host.ends_with(b"_") && self.name.iter().all(u8::is_ascii_digit);
        *name == *self.name || name.strip_suffix(&self.name[..]).is_some_and(is_disk_of)
    }

    /// Whether the name stands for several devices, none of which has exactly this name.
    fn is_ambiguous(&self) -> bool {
        self.devices.len() > 1 && !self.devices.iter().any(|name| **name == *self.name)
    }
}

fn show(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl<S: Source> Source for SelectedDevices<S> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let old_len = requests.len();
        let outcome = self.read_chunk(requests);
        self.stream_end.close(requests.len() - old_len, outcome)
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
