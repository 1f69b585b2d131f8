//! Writes the CSV format of sledlab; see [`crate::format`] for its columns.

use sledlab_core::{BLOCK_BYTES, Error, Request, Result};

use super::output::Output;
use super::{DeviceField, TraceWriter, WriteOptions, WriterFormat};
use crate::format::CSV_HEADER;

pub(super) const FORMAT: WriterFormat =
    WriterFormat { name: "csv", extensions: &["csv"], devices: DeviceField::Column, start: Writer::start };

/// The maximum number of buffered requests until the first metadata request, which decides whether the file has that
/// column: the header precedes the requests, and a stream cannot be read twice.
const MAX_BUFFERED_REQUESTS: usize = 1 << 16;

struct Writer {
    output: Output,
    /// Whether requests may be for devices other than 0.
    device_column: bool,
    columns: Columns,
    count: u64,
}

/// The optional columns of the file.
enum Columns {
    /// Not known yet; contains the requests so far.
    Open(Vec<Request>),
    /// Written in the header: which of them the file has.
    Written { has_device: bool, has_metadata: bool },
}

impl Writer {
    #[allow(clippy::unnecessary_wraps, reason = "the signature is shared by all formats")]
    fn start(output: Output, options: WriteOptions) -> Result<Box<dyn TraceWriter>> {
        let columns = Columns::Open(Vec::new());
        Ok(Box::new(Writer { output, device_column: options.device_column, columns, count: 0 }))
    }

    /// Writes the header and all buffered requests.
    fn begin(&mut self) -> Result<()> {
        let Columns::Open(buffered) = &mut self.columns else { return Ok(()) };
        let buffered = std::mem::take(buffered);
        let has_metadata = buffered.iter().any(|request| request.metadata);
        // Columns are recognized by their place, and metadata stands after the device.
        let has_device = self.device_column || has_metadata;
        self.columns = Columns::Written { has_device, has_metadata };
        let text = self.output.text();
        text.extend_from_slice(CSV_HEADER.as_bytes());
        text.extend_from_slice(if has_device { b",device" } else { b"" });
        text.extend_from_slice(if has_metadata { b",metadata" } else { b"" });
        self.output.end_line()?;
        buffered.iter().try_for_each(|request| self.line(request, has_device, has_metadata))
    }

    fn line(&mut self, request: &Request, has_device: bool, has_metadata: bool) -> Result<()> {
        self.output.decimal(request.arrival.as_ns(), 3, 0);
        self.output.text().extend_from_slice(&[b',', request.op.letter() as u8, b',']);
        self.output.number(request.lbn.saturating_mul(BLOCK_BYTES));
        self.output.text().push(b',');
        self.output.number(request.length_bytes());
        if has_device {
            self.output.text().push(b',');
            self.output.number(u64::from(request.device));
        }
        if has_metadata {
            self.output.text().extend_from_slice(if request.metadata { b",1" } else { b",0" });
        }
        self.output.end_line()
    }

    fn unsupported_error(&self, what: &str, remedy: &str) -> Error {
        Error::user(format!("request {} is {what}", self.count)).with_remedy(remedy).with_location(
            self.output.name(),
            0,
            0,
            b"",
        )
    }
}

impl TraceWriter for Writer {
    fn write(&mut self, request: &Request) -> Result<()> {
        if request.device != 0 && !self.device_column {
            return Err(self.unsupported_error(
                &format!("for device {}, but the file has no column `device`", request.device),
                "add the column, choose one device, or place the devices one after another",
            ));
        }
        match &mut self.columns {
            Columns::Written { has_metadata: false, .. } if request.metadata => {
                return Err(self.unsupported_error(
                    &format!("the first for metadata, after {MAX_BUFFERED_REQUESTS} without"),
                    "write the requests from here on to a separate file",
                ));
            }
            Columns::Written { has_device, has_metadata } => {
                let (has_device, has_metadata) = (*has_device, *has_metadata);
                self.line(request, has_device, has_metadata)?;
            }
            Columns::Open(buffered) => {
                buffered.push(*request);
                if request.metadata || buffered.len() == MAX_BUFFERED_REQUESTS {
                    self.begin()?;
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<u64> {
        self.begin()?;
        self.output.finish()?;
        Ok(self.count)
    }
}
