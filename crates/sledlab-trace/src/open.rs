//! Opens a trace: decompresses it, detects its format and streams its requests.

use std::io::Read;
use std::path::Path;

use sledlab_core::{Error, Request, Result, Source};

use crate::arrival_options::{ArrivalOptions, WindowOptions};
use crate::arrivals::{Clock, TraceStart};
use crate::continuation::Continuation;
use crate::devices::DeviceNumbers;
use crate::format::{self, ColumnMap, RecognizedInput, TraceInput};
use crate::input::Input;

/// Options for opening a trace. By default the format is detected and arrivals must be in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions<'a> {
    /// Name of the format; detected from the content if `None`.
    pub format: Option<&'a str>,
    /// Columns of a table with other names than those of `csv`, as [`ColumnMap`] describes; the format is then
    /// `columns`.
    pub columns: Option<&'a str>,
    /// Sorts requests that are out of order by up to this many requests; 0 rejects a trace that is not in order.
    pub sort_window: usize,
    /// The instant of the trace that becomes time 0.
    pub start: TraceStart,
    /// Resolution of the times in seconds, over which requests with equal times are distributed; `None` keeps times.
    pub spread_s: Option<f64>,
    /// The part of the trace that is read.
    pub window: WindowOptions,
    /// Bytes of a sector in `srt`; those that its header states if `None`.
    pub sector_bytes: Option<u64>,
    /// For `disksim-validate`: the next request arrives a service time *and* a gap after this one, as DiskSim replays
    /// such traces, rather than only a gap after it.
    pub add_service_times: bool,
    /// Device numbers, clock and notes that this trace shares with traces that it continues, or that continue it.
    pub continuation: Option<&'a Continuation>,
}

/// An open trace: a stream of requests.
pub struct OpenedTrace {
    name: String,
    format: &'static str,
    clock: Clock,
    source: Box<dyn Source>,
}

/// Opens the trace at `path`, `-` for standard input. See [`open_reader`].
pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<OpenedTrace> {
    open_input(Input::open(path.as_ref())?, options)
}

/// Opens a trace from any reader, plain or compressed; `name` stands for the reader in messages.
///
/// # Errors
/// The bytes cannot be read or unpacked, no format recognizes them, or the named format is unknown. [`Source::fill`]
/// returns errors further on in the trace, with file, line and column.
pub fn open_reader(name: &str, reader: Box<dyn Read + Send>, options: OpenOptions) -> Result<OpenedTrace> {
    open_input(Input::from_reader(name, reader)?, options)
}

fn open_input(input: Input, options: OpenOptions) -> Result<OpenedTrace> {
    if let (Some(_), Some(format)) = (options.columns, options.format.filter(|name| *name != "columns")) {
        return Err(Error::user(format!("`--columns` and `--format {format}` exclude each other"))
            .with_remedy("omit one of them"));
    }
    let RecognizedInput { input, format, columns } = match (options.columns, options.format) {
        (Some(columns), _) => format::prepare_table(input, ColumnMap::parse(columns)?)?,
        (None, Some(name)) => format::prepare(input, format::find(name)?)?,
        (None, None) => format::recognize(input)?,
    };
    if options.sector_bytes.is_some() && format.name() != "srt" {
        return Err(Error::user(format!(
            "`sector_bytes` is for traces in the format srt, and this is {}",
            format.name()
        ))
        .with_remedy("omit it; `--columns` reads tables with other units"));
    }
    let continuation = options.continuation.cloned().unwrap_or_default();
    let arrival_options = ArrivalOptions {
        clock: columns.as_ref().map_or(format.clock(), ColumnMap::clock),
        start: options.start,
        sort_window: options.sort_window,
        spread_s: options.spread_s,
        window: options.window,
        continuation: continuation.clone(),
    };
    let (name, clock) = (input.name().to_owned(), arrival_options.clock);
    let trace = TraceInput {
        arrivals: arrival_options.arrivals(),
        devices: DeviceNumbers::new(continuation),
        add_service_times: options.add_service_times,
        sector_bytes: options.sector_bytes,
        columns,
        input,
    };
    let source = arrival_options.apply(format.read(trace)?)?;
    Ok(OpenedTrace { name, format: format.name(), clock, source })
}

/// The name of the format of the trace at `path`, `parquet` included.
pub fn recognize(path: impl AsRef<Path>) -> Result<&'static str> {
    let mut input = Input::open(path.as_ref())?;
    if input.head()?.starts_with(b"PAR1") {
        return Ok(format::PARQUET);
    }
    Ok(format::recognize(input)?.format.name())
}

impl OpenedTrace {
    /// The name of the trace's format.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// The instant from which the times in the file count.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The trace's file as the user named it, or `<stdin>`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Source for OpenedTrace {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.source.fill(requests)
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
