//! Opens a trace: decompresses it, detects its format and streams its requests.

use std::io::Read;
use std::path::Path;

use sledlab_core::{Request, Result, Source};

use crate::arrivals::TraceArrivals;
use crate::continuation::Continuation;
use crate::devices::DeviceNumbers;
use crate::format::{self, Clock, TraceInput};
use crate::input::Input;
use crate::transform::Reorder;

/// Options for opening a trace. By default the format is detected and arrivals must be in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions<'a> {
    /// Name of the format; detected from the content if `None`.
    pub format: Option<&'a str>,
    /// Sorts requests that are out of order by up to this many requests; 0 rejects a trace that is not in order.
    pub sort_window: usize,
    /// For `disksim-validate`: the next request arrives a service time *and* a gap after this one, as DiskSim replays
    /// such traces, rather than only a gap after it.
    pub add_service_times: bool,
    /// Device numbers and clock that this trace shares with traces that it continues, or that continue it.
    pub continuation: Option<&'a Continuation>,
}

/// An open trace: a stream of requests.
pub struct OpenedTrace {
    name: String,
    format: &'static str,
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

fn open_input(mut input: Input, options: OpenOptions) -> Result<OpenedTrace> {
    let format = match options.format {
        Some(name) => format::find(name)?,
        None => format::recognize(&mut input)?,
    };
    let name = input.name().to_owned();
    let sorting = options.sort_window > 0;
    let continuation = options.continuation.cloned().unwrap_or_default();
    let arrivals = if sorting {
        TraceArrivals::unordered(format.clock())
    } else {
        TraceArrivals::new(format.clock(), continuation.clone())
    };
    let devices = DeviceNumbers::new(continuation.clone());
    let trace = TraceInput { input, arrivals, devices, add_service_times: options.add_service_times };
    let mut source = format.read(trace)?;
    if sorting {
        let sorted = Reorder::new(source, options.sort_window);
        source = Box::new(if format.clock() == Clock::Wall {
            sorted.from_first_arrival(continuation)
        } else {
            sorted
        });
    }
    Ok(OpenedTrace { name, format: format.name(), source })
}

/// The name of the format of the trace at `path`, `parquet` included.
pub fn recognize(path: impl AsRef<Path>) -> Result<&'static str> {
    let mut input = Input::open(path.as_ref())?;
    if input.head()?.starts_with(b"PAR1") {
        return Ok(format::PARQUET);
    }
    Ok(format::recognize(&mut input)?.name())
}

impl OpenedTrace {
    /// The name of the trace's format.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// The trace's file as the user named it, or `<stdin>`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Source for OpenedTrace {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        self.source.fill(into)
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
