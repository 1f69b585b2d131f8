//! Writes logs that the I/O tester fio replays: iolog version 3, `timestamp_us file action [offset length]`.
//!
//! Timestamps are whole microseconds, so arrivals are rounded to the nearest; their order remains. Each device is a
//! file, added and opened before its first request and closed at the end. Lengths are below 4 GiB, which fio reads into
//! 32 bits.

use std::collections::BTreeSet;

use sledlab_core::{BLOCK_BYTES, Error, Op, Request, Result};

use super::device_name::{DeviceNames, NameForm};
use super::output::Output;
use super::{DeviceField, TraceWriter, WriteOptions, WriterFormat};

pub(super) const FORMAT: WriterFormat = WriterFormat {
    name: "fio-iolog",
    extensions: &["iolog"],
    devices: DeviceField::Name,
    start: Writer::start,
};

struct Writer {
    output: Output,
    names: DeviceNames,
    /// Devices whose files are open.
    devices: BTreeSet<u16>,
    last_us: u64,
    count: u64,
}

impl Writer {
    fn start(mut output: Output, options: WriteOptions) -> Result<Box<dyn TraceWriter>> {
        output.text().extend_from_slice(b"fio version 3 iolog");
        output.end_line()?;
        let names = DeviceNames::new(options.names, NameForm::File);
        Ok(Box::new(Writer { output, names, devices: BTreeSet::new(), last_us: 0, count: 0 }))
    }

    /// Begins a line for a device at the last timestamp.
    fn begin_line(&mut self, device: u16, action: &str) {
        self.output.number(self.last_us);
        self.output.text().push(b' ');
        self.names.append(&mut self.output, device);
        self.output.text().push(b' ');
        self.output.text().extend_from_slice(action.as_bytes());
    }

    fn write_line(&mut self, device: u16, action: &str) -> Result<()> {
        self.begin_line(device, action);
        self.output.end_line()
    }
}

impl TraceWriter for Writer {
    fn write(&mut self, request: &Request) -> Result<()> {
        let length = request.length_bytes();
        if length > u64::from(u32::MAX) {
            let message = format!("request {} has {length} bytes, but fio reads less than 4 GiB", self.count);
            return Err(Error::user(message).with_remedy("write csv, or split the request").with_location(
                self.output.name(),
                0,
                0,
                b"",
            ));
        }
        self.last_us = (request.arrival.as_ns().saturating_add(500)) / 1000;
        if self.devices.insert(request.device) {
            self.write_line(request.device, "add")?;
            self.write_line(request.device, "open")?;
        }
        let action = match request.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "sync",
        };
        self.begin_line(request.device, action);
        // fio expects offset and length of a sync as well.
        for number in [request.lbn.saturating_mul(BLOCK_BYTES), length] {
            self.output.text().push(b' ');
            self.output.number(number);
        }
        self.count += 1;
        self.output.end_line()
    }

    fn finish(mut self: Box<Self>) -> Result<u64> {
        for device in std::mem::take(&mut self.devices) {
            self.write_line(device, "close")?;
        }
        self.output.finish()?;
        Ok(self.count)
    }
}
