//! Writes DiskSim's default text format, which has reads and writes only.

use sledlab_core::{Op, Request, Result};

use super::output::Output;
use super::{DeviceField, MediaFilter, TraceWriter, WriteOptions, WriterFormat};

pub(super) const FORMAT: WriterFormat = WriterFormat {
    name: "disksim-ascii",
    extensions: &["txt", "ascii", "trace", "disksim"],
    devices: DeviceField::Number,
    start: Writer::start,
};

struct Writer {
    output: Output,
    filter: MediaFilter,
    count: u64,
}

impl Writer {
    #[allow(clippy::unnecessary_wraps, reason = "the signature is shared by all formats")]
    fn start(output: Output, options: WriteOptions) -> Result<Box<dyn TraceWriter>> {
        let filter = MediaFilter::new(FORMAT.name, options);
        Ok(Box::new(Writer { output, filter, count: 0 }))
    }
}

impl TraceWriter for Writer {
    fn write(&mut self, request: &Request) -> Result<()> {
        if !self.filter.accepts(request, &self.output)? {
            return Ok(());
        }
        self.output.decimal(request.arrival.as_ns(), 6, 6);
        for number in [u64::from(request.device), request.lbn, u64::from(request.blocks)] {
            self.output.text().push(b' ');
            self.output.number(number);
        }
        let flag: &[u8] = if request.op == Op::Read { b" 1" } else { b" 0" };
        self.output.text().extend_from_slice(flag);
        self.count += 1;
        self.output.end_line()
    }

    fn finish(self: Box<Self>) -> Result<u64> {
        self.output.finish()?;
        Ok(self.count)
    }
}
