//! Writes the project's own CSV; [`crate::format`] says what its columns mean.

use sledlab_core::{BLOCK_BYTES, Error, Request, Result};

use super::output::Output;
use super::{TraceWriter, WriteOptions};
use crate::format::CSV_HEADER;

struct Writer {
    output: Output,
    device_column: bool,
    count: u64,
}

pub(super) fn start(mut output: Output, options: WriteOptions) -> Result<Box<dyn TraceWriter>> {
    output.text().extend_from_slice(CSV_HEADER.as_bytes());
    if options.device_column {
        output.text().extend_from_slice(b",device");
    }
    output.line_done()?;
    Ok(Box::new(Writer { output, device_column: options.device_column, count: 0 }))
}

impl TraceWriter for Writer {
    fn write(&mut self, request: &Request) -> Result<()> {
        if request.device != 0 && !self.device_column {
            return Err(Error::user(format!(
                "request {} is for device {}, and the file has no column `device`",
                self.count, request.device
            ))
            .with_remedy("add the column, choose one device, or place the devices one after another")
            .at(self.output.name(), 0, 0, b""));
        }
        self.output.decimal(request.arrival.as_ns(), 3, 0);
        self.output.text().extend_from_slice(&[b',', request.op.letter() as u8, b',']);
        self.output.number(request.lbn.saturating_mul(BLOCK_BYTES));
        self.output.text().push(b',');
        self.output.number(u64::from(request.blocks) * BLOCK_BYTES);
        if self.device_column {
            self.output.text().push(b',');
            self.output.number(u64::from(request.device));
        }
        self.count += 1;
        self.output.line_done()
    }

    fn finish(self: Box<Self>) -> Result<u64> {
        self.output.finish()?;
        Ok(self.count)
    }
}
