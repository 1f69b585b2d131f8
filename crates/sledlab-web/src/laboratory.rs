//! The state of a page: runs, and calls that make devices, traces and runs.

use serde::Deserialize;
use serde_json::json;
use sledlab_core::{Error, Result};
use sledlab_models::device::preset;
use sledlab_sim::Experiment;
use sledlab_trace::transform::survey;
use sledlab_trace::{OpenOptions, memory_files};

use crate::answer::{Answer, AnswerBuilder, Column};
use crate::device;
use crate::runs::OpenRun;

/// The position of a mechanism, in bits from the center, as JavaScript passes it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct MechanismPlace {
    x: i32,
    y: i32,
    direction: i8,
}

/// The runs of a page; traces in memory are kept by `sledlab_trace`.
#[derive(Default)]
pub(crate) struct Laboratory {
    runs: Vec<Option<OpenRun>>,
}

impl Laboratory {
    /// All models that an experiment can name, and the files of device presets.
    #[allow(clippy::unused_self, reason = "same signature as other calls")]
    pub fn catalog(&self) -> Result<Answer> {
        let mut catalog = sledlab_sim::catalog()?;
        let presets = preset::names().map(|name| Ok((name.to_owned(), preset::text(name)?.into())));
        catalog["presets"] = serde_json::Value::Object(presets.collect::<Result<_>>()?);
        catalog["version"] = sledlab_sim::VERSION.into();
        Answer::from_json(&catalog)
    }

    /// The figures of the device of an experiment.
    #[allow(clippy::unused_self, reason = "same signature as other calls")]
    pub fn device(&self, toml: &str) -> Result<Answer> {
        device::facts(&Experiment::from_toml("device", toml)?.device()?)
    }

    /// Positioning times to every row of every column, from a place or from the position at the start.
    #[allow(clippy::unused_self, reason = "same signature as other calls")]
    pub fn seek_map(&self, toml: &str, from: Option<MechanismPlace>) -> Result<Answer> {
        let device = Experiment::from_toml("device", toml)?.device()?;
        let mut state = device.params.device()?.mechanics().state();
        if let Some(MechanismPlace { x, y, direction }) = from {
            (state.x, state.y, state.direction) = (x, y, direction);
        }
        let map = sledlab_sim::seek_map(&device, state, &mut || Ok(()))?;
        let mut answer = AnswerBuilder::default();
        let body = json!({
            "columns": map.x_bit.len(),
            "rows": map.y_bit.len(),
            "x_bit": answer.numbers(map.x_bit.iter().map(|x| f64::from(*x))),
            "y_bit": answer.numbers(map.y_bit.iter().map(|y| f64::from(*y))),
            "ms": answer.column(&Column::F64(&map.ms)),
            "next_column_ms": map.next_column_ms,
            "full_stroke_ms": map.full_stroke_ms,
        });
        answer.finish(&body)
    }

    /// Stores a trace in memory and returns its characteristics: format, requests, devices, last arrival and highest
    /// block.
    #[allow(clippy::unused_self, reason = "same signature as other calls")]
    pub fn put_trace(&self, name: &str, bytes: Vec<u8>) -> Result<Answer> {
        memory_files::store(name, bytes);
        // A file that cannot be read as a trace is dropped.
        Self::survey_trace(name).inspect_err(|_| memory_files::remove(name))
    }

    /// Reads a trace to its end, and returns its characteristics.
    fn survey_trace(name: &str) -> Result<Answer> {
        let mut trace = sledlab_trace::open(name, OpenOptions::default())?;
        let characteristics = survey(&mut trace)?;
        Answer::from_json(&json!({
            "name": name,
            "format": trace.format(),
            "requests": characteristics.requests,
            "devices": characteristics.extents.iter().filter(|end| **end > 0).count(),
            "last_ns": characteristics.last_arrival.as_ns(),
            "highest_end": characteristics.highest_end(),
        }))
    }

    #[allow(clippy::unused_self, reason = "same signature as other calls")]
    pub fn drop_trace(&self, name: &str) -> Result<Answer> {
        memory_files::remove(name);
        Answer::from_json(&())
    }

    /// Opens a run of an experiment with changed settings, and returns its description.
    pub fn open(&mut self, name: &str, toml: &str, settings: &[(String, String)]) -> Result<Answer> {
        let run = OpenRun::new(name, toml, settings)?;
        let number = self.runs.iter().position(Option::is_none).unwrap_or(self.runs.len());
        let description = run.description(number)?;
        if number == self.runs.len() {
            self.runs.push(None);
        }
        self.runs[number] = Some(run);
        Ok(description)
    }

    /// Drops a run; one that does not exist is no error, since a core that has stopped has lost its runs.
    pub fn close(&mut self, run: usize) -> Result<Answer> {
        if let Some(open) = self.runs.get_mut(run) {
            *open = None;
        }
        Answer::from_json(&())
    }

    /// The open run with this number.
    pub fn open_run(&mut self, run: usize) -> Result<&mut OpenRun> {
        let open_run = self.runs.get_mut(run).and_then(Option::as_mut);
        open_run.ok_or_else(|| Error::internal(format!("run {run} is not open")))
    }
}
