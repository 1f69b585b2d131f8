//! Writes DiskSim's default text format, which has reads and writes only.

use sledlab_core::{Error, Op, Request, Result};

use super::output::Output;
use super::{TraceWriter, WriteOptions};

struct Writer {
    output: Output,
    media_only: bool,
    count: u64,
}

#[allow(clippy::unnecessary_wraps, reason = "the signature is shared by all formats")]
pub(super) fn start(output: Output, options: WriteOptions) -> Result<Box<dyn TraceWriter>> {
    Ok(Box::new(Writer { output, media_only: options.media_only, count: 0 }))
}

impl TraceWriter for Writer {
    fn write(&mut self, request: &Request) -> Result<()> {
        let flag: &[u8] = match request.op {
            Op::Read => b" 1",
            Op::Write => b" 0",
            Op::Trim | Op::Flush if self.media_only => return Ok(()),
            Op::Trim | Op::Flush => {
                return Err(Error::user(
                    "disksim-ascii supports reads and writes only, but this trace contains trims or flushes",
                )
                .with_remedy("drop them with `--media-only`, or write csv")
                .with_location(self.output.name(), 0, 0, b""));
            }
        };
        self.output.decimal(request.arrival.as_ns(), 6, 6);
        for number in [u64::from(request.device), request.lbn, u64::from(request.blocks)] {
            self.output.text().push(b' ');
            self.output.number(number);
        }
        self.output.text().extend_from_slice(flag);
        self.count += 1;
        self.output.end_line()
    }

    fn finish(self: Box<Self>) -> Result<u64> {
        self.output.finish()?;
        Ok(self.count)
    }
}
