//! Writes the Storage Performance Council's trace format, which has reads and writes only: `asu,lba,size,op,seconds`.

use sledlab_core::{Request, Result};

use super::output::Output;
use super::{DeviceField, MediaFilter, TraceWriter, WriteOptions, WriterFormat};

pub(super) const FORMAT: WriterFormat =
    WriterFormat { name: "spc", extensions: &["spc"], devices: DeviceField::Number, start: Writer::start };

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
        self.output.number(u64::from(request.device));
        for number in [request.lbn, request.length_bytes()] {
            self.output.text().push(b',');
            self.output.number(number);
        }
        self.output.text().extend_from_slice(&[b',', request.op.letter() as u8, b',']);
        self.output.decimal(request.arrival.as_ns(), 9, 6);
        self.count += 1;
        self.output.end_line()
    }

    fn finish(self: Box<Self>) -> Result<u64> {
        self.output.finish()?;
        Ok(self.count)
    }
}
