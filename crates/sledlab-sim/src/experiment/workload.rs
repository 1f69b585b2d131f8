//! The source of an experiment's requests, and how they are fitted to the device.

use std::sync::Arc;

use sledlab_core::params::Params;
use sledlab_core::{BLOCK_BYTES, Error, Result, Source};
use sledlab_trace::transform::{
    Fit, FitCounts, MetadataBlocks, OutsidePolicy, Overlay, PlaceDevices, RandomLastBlock, Survey,
    TransformedSource, survey_with_progress,
};
use sledlab_trace::{Continuation, OpenOptions, TraceStart, WindowOptions, format, synthetic};
use toml::{Table, Value};

use super::keys;
use crate::replay::{LastBlock, Limits, Replay};

sledlab_core::choices! {
    /// Handling of a trace with several devices.
    pub enum TraceDevices {
        /// The run fails at the first request for a second device.
        One = "one",
        /// The devices are placed one after another.
        Place = "place",
        /// The devices overlay each other: device numbers are ignored.
        Overlay = "overlay",
    }
}

sledlab_core::params! {
    /// A trace to replay.
    pub struct TraceParams {
        /// Path of the trace; `-` for standard input.
        file: String = "";
        /// Format of the trace; empty to detect it from the content.
        format: String = "";
        /// Handling of a trace with several devices: `one`, `place` or `overlay`.
        devices: TraceDevices = TraceDevices::One;
        /// Columns of a table: `time=epoch_s:s,op=verb,offset=lba:sectors,length=bytes`; empty for known formats.
        columns: String = "";
        /// Time 0: `first` (the first request) or `zero` (of the times in csv, disksim-ascii, mqsim and Parquet).
        start: TraceStart = TraceStart::First;
        /// Resolution of the times, over which requests with equal times are distributed evenly; 0 keeps the times.
        spread_s: f64 = 0.0, "s", 0.0..3600.0;
        /// Bytes of a sector in the format srt; 0 for those that the header of the trace states.
        sector_bytes: u64 = 0_u64, "bytes", 0..1e6;
        /// Start of the part of the trace that is replayed: earlier requests are omitted, and arrivals count from it.
        from_s: f64 = 0.0, "s", 0.0..9e9;
        /// End of the part of the trace that is replayed; 0 for the end of the trace.
        until_s: f64 = 0.0, "s", 0.0..9e9;
        /// Maximum number of lines by which a request may be out of order; 0 rejects any.
        sort_window: u64 = 0_u64, "requests", 0..1e7;
    }
}

/// The source of an experiment's requests.
#[derive(Clone, Debug)]
pub(super) enum Workload {
    Trace(TraceParams),
    Generator(synthetic::Choice),
    /// A source that the caller passes.
    Given,
}

/// A source that the caller passes.
pub(super) struct GivenSource {
    pub source: Box<dyn Source>,
    /// Names of its devices, and notes on it.
    pub devices: Continuation,
    /// First block after its highest request, if known.
    pub highest_end: Option<u64>,
}

/// A source that is fitted to a device.
pub(super) struct FittedSource {
    pub source: Box<dyn Source>,
    /// Counts of the requests rejected, moved or shortened to fit the device.
    pub fit_counts: Arc<FitCounts>,
    /// Names of the devices in the trace, if its format has them, and notes on the trace.
    pub devices: Continuation,
}

impl Workload {
    /// Reads the tables `[trace]` and `[workload]`. One of them must name a source, unless the caller passes one
    /// (`has_source`); then they describe the origin of that source. A `plug_in` replaces the generator in
    /// `workload.kind`.
    pub fn new(
        trace: &Table,
        mut workload: Table,
        has_source: bool,
        limit: u64,
        plug_in: Option<&synthetic::Choice>,
    ) -> Result<Self> {
        if has_source && trace.is_empty() && workload.is_empty() {
            return Ok(Workload::Given);
        }
        if !trace.is_empty() && !workload.is_empty() {
            return Err(Error::user("both a trace and a workload were given")
                .with_remedy("omit one of the tables [trace] and [workload]"));
        }
        if let Some(kind) = keys::take_text(&mut workload, "workload", "kind")? {
            return plug_in
                .map_or_else(|| generator(&kind, workload, limit), |plug_in| Ok(plug_in.clone()))
                .map(Workload::Generator);
        }
        let params = TraceParams::from_table("trace", trace)?;
        if params.file.is_empty() {
            return Err(Error::user("no trace and no workload was given")
                .with_remedy("choose one with --trace FILE or --workload NAME"));
        }
        if !params.format.is_empty() && params.format != format::PARQUET {
            format::find(&params.format)?;
        }
        if !params.columns.is_empty() {
            format::ColumnMap::parse(&params.columns)?;
        }
        Ok(Workload::Trace(params))
    }

    /// Returns the table that describes the workload, and its name.
    pub fn to_table(&self) -> Option<(&'static str, Table)> {
        match self {
            Workload::Given => None,
            Workload::Trace(params) => Some(("trace", params.to_table())),
            Workload::Generator(generator) => Some(("workload", generator.to_table())),
        }
    }

    /// Checks that a generator in `replay` ends, unless it is a plug-in, and that its addresses are not scaled.
    ///
    /// # Errors
    /// A generator without an end in a replay without limits, and one whose addresses would be scaled.
    pub fn check(&self, replay: &Replay, is_plug_in: bool) -> Result<()> {
        let Workload::Generator(generator) = self else { return Ok(()) };
        let table = generator.to_table();
        let kind = table.get("kind").and_then(Value::as_str).unwrap_or_default();
        if replay.outside == OutsidePolicy::Scale {
            return Err(Error::user(format!("the addresses of the workload `{kind}` cannot be scaled"))
                .with_remedy(
                    "generators use the capacity of the device: omit `--outside scale`, or write the workload to a \
                     file with `sledlab trace generate` and scale that",
                ));
        }
        let is_endless = table.get("requests").and_then(Value::as_integer) == Some(0);
        if is_endless && !is_plug_in && replay.limits == Limits::NONE {
            return Err(Error::user(format!("the workload `{kind}` never ends"))
                .with_remedy("set workload.requests, --limit N or --duration S"));
        }
        Ok(())
    }

    /// Opens the source, or uses the `given` one, and fits it to a device of `capacity_blocks`; calls `watch`
    /// repeatedly while a file is read.
    pub fn open(
        &self,
        given: Option<GivenSource>,
        capacity_blocks: u64,
        seed: u64,
        replay: &Replay,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<FittedSource> {
        let outside = replay.outside;
        let fitted = match (given, self) {
            (Some(GivenSource { source, devices, highest_end }), _) => {
                fit(source, outside, capacity_blocks, highest_end)
                    .map(|fitted| FittedSource { devices, ..fitted })
            }
            (None, Workload::Given) => Err(Error::user("no trace and no workload was given")),
            (None, Workload::Generator(generator)) => {
                fit(generator.build(seed, capacity_blocks)?, outside, capacity_blocks, None)
            }
            (None, Workload::Trace(params)) => params.open(outside, capacity_blocks, watch),
        }?;
        Ok(FittedSource { source: request_parts(fitted.source, seed, replay), ..fitted })
    }
}

/// Sets the requested parts of blocks as `replay` says.
fn request_parts(mut source: Box<dyn Source>, seed: u64, replay: &Replay) -> Box<dyn Source> {
    if replay.last_block == LastBlock::Random {
        source = Box::new(TransformedSource::new(source, RandomLastBlock::new(seed)));
    }
    if replay.metadata_block_bytes < BLOCK_BYTES {
        let step = MetadataBlocks::new(replay.metadata_block_bytes);
        source = Box::new(TransformedSource::new(source, step));
    }
    source
}

/// Returns a generator. With a `limit` of the replay it generates that many requests, unless its parameters set another
/// number.
fn generator(kind: &str, mut params: Table, limit: u64) -> Result<synthetic::Choice> {
    if let Ok(limit) = i64::try_from(limit)
        && !params.contains_key("requests")
    {
        params.insert("requests".to_owned(), Value::Integer(limit));
    }
    synthetic::Choice::new(kind, &params)
}

impl TraceParams {
    fn open(
        &self,
        outside: OutsidePolicy,
        capacity_blocks: u64,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<FittedSource> {
        let survey = self.survey(outside, watch)?;
        let devices = Continuation::default();
        let file = self.open_file(&devices)?;
        let source: Box<dyn Source> = match (self.devices, &survey) {
            (TraceDevices::One, _) => Box::new(file),
            (TraceDevices::Overlay, _) => Box::new(TransformedSource::new(file, Overlay)),
            (TraceDevices::Place, survey) => {
                let extents = survey.as_ref().map_or(&[][..], |survey| &survey.extents);
                Box::new(TransformedSource::new(file, PlaceDevices::new(extents)?))
            }
        };
        let highest_end = survey.map(|survey| match self.devices {
            TraceDevices::Place => survey.extents.iter().sum(),
            TraceDevices::One | TraceDevices::Overlay => survey.highest_end(),
        });
        let fitted = fit(source, outside, capacity_blocks, highest_end)?;
        Ok(FittedSource { devices, ..fitted })
    }

    /// Opens the file, whose format may name devices.
    fn open_file(&self, devices: &Continuation) -> Result<sledlab_trace::OpenedTrace> {
        let format = (!self.format.is_empty()).then_some(self.format.as_str());
        let sort_window = usize::try_from(self.sort_window).unwrap_or(usize::MAX);
        let continuation = Some(devices);
        sledlab_trace::open(
            &self.file,
            OpenOptions {
                format,
                columns: (!self.columns.is_empty()).then_some(self.columns.as_str()),
                sort_window,
                start: self.start,
                spread_s: (self.spread_s > 0.0).then_some(self.spread_s),
                sector_bytes: (self.sector_bytes > 0).then_some(self.sector_bytes),
                window: WindowOptions { from_s: self.from_s, until_s: self.until_s },
                continuation,
                ..OpenOptions::default()
            },
        )
    }

    /// Surveys the file in a first pass, if scaling or placing devices requires the extent of its requests.
    fn survey(
        &self,
        outside: OutsidePolicy,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Survey>> {
        if outside != OutsidePolicy::Scale && self.devices != TraceDevices::Place {
            return Ok(None);
        }
        if self.file == "-" {
            return Err(Error::user("standard input cannot be read twice, as scaling and placing require")
                .with_remedy("save the trace to a file first"));
        }
        survey_with_progress(&mut self.open_file(&Continuation::default())?, watch).map(Some)
    }
}

/// Fits requests to the device by the policy for requests outside it. The replay implements `reject`; every other
/// policy transforms the source.
fn fit(
    source: Box<dyn Source>,
    outside: OutsidePolicy,
    capacity_blocks: u64,
    highest_end: Option<u64>,
) -> Result<FittedSource> {
    let devices = Continuation::default();
    if outside == OutsidePolicy::Reject {
        return Ok(FittedSource { source, fit_counts: Arc::default(), devices });
    }
    let fit = Fit::new(outside, capacity_blocks, highest_end)?;
    let fit_counts = fit.counts();
    Ok(FittedSource { source: Box::new(TransformedSource::new(source, fit)), fit_counts, devices })
}
