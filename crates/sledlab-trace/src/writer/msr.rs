//! Writes the format of the MSR Cambridge traces, which has reads and writes only:
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Timestamps count 100 ns, to which arrivals are rounded; their order remains. The recorded traces count from the year
//! 1601, these from the start of the trace. Response times are 0, as the requests have none.

use sledlab_core::{BLOCK_BYTES, Op, Request, Result};

use super::device_name::{DeviceNames, NameForm};
use super::output::Output;
use super::{DeviceField, MediaFilter, TraceWriter, WriteOptions, WriterFormat};

pub(super) const FORMAT: WriterFormat =
    WriterFormat { name: "msr", extensions: &[], devices: DeviceField::Name, start: Writer::start };

struct Writer {
    output: Output,
    names: DeviceNames,
    filter: MediaFilter,
    count: u64,
}

impl Writer {
    #[allow(clippy::unnecessary_wraps, reason = "the signature is shared by all formats")]
    fn start(output: Output, options: WriteOptions) -> Result<Box<dyn TraceWriter>> {
        let filter = MediaFilter::new(FORMAT.name, options);
        let names = DeviceNames::new(options.names, NameForm::HostAndDisk);
        Ok(Box::new(Writer { output, names, filter, count: 0 }))
    }
}

impl TraceWriter for Writer {
    fn write(&mut self, request: &Request) -> Result<()> {
        if !self.filter.accepts(request, &self.output)? {
            return Ok(());
        }
        self.output.number(request.arrival.as_ns().saturating_add(50) / 100);
        self.output.text().push(b',');
        self.names.append(&mut self.output, request.device);
        let kind: &[u8] = if request.op == Op::Read { b",Read," } else { b",Write," };
        self.output.text().extend_from_slice(kind);
        self.output.number(request.lbn.saturating_mul(BLOCK_BYTES));
        self.output.text().push(b',');
        self.output.number(request.length_bytes());
        self.output.text().extend_from_slice(b",0");
        self.count += 1;
        self.output.end_line()
    }

    fn finish(self: Box<Self>) -> Result<u64> {
        self.output.finish()?;
        Ok(self.count)
    }
}
