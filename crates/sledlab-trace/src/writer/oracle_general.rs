//! Writes libCacheSim's binary format `oracleGeneral`, which has neither directions nor devices: every request is a use
//! of the object that its first block names. `format/oracle_general.rs` describes the records.
//!
//! A record has the number of the next request for its object, so all records are in memory until the file is complete:
//! 16 bytes for each request.

use sledlab_core::hash::Map;
use sledlab_core::{Error, Request, Result};

use super::output::Output;
use super::{DeviceField, MediaFilter, TraceWriter, WriteOptions, WriterFormat};

pub(super) const FORMAT: WriterFormat = WriterFormat {
    name: "oracle-general",
    extensions: &["oraclegeneral"],
    devices: DeviceField::Absent,
    start: Writer::start,
};

struct Record {
    object: u64,
    seconds: u32,
    size: u32,
}

struct Writer {
    output: Output,
    filter: MediaFilter,
    records: Vec<Record>,
}

impl Writer {
    #[allow(clippy::unnecessary_wraps, reason = "the signature is shared by all formats")]
    fn start(output: Output, options: WriteOptions) -> Result<Box<dyn TraceWriter>> {
        let filter = MediaFilter::new(FORMAT.name, options);
        Ok(Box::new(Writer { output, filter, records: Vec::new() }))
    }

    fn refuse(&self, message: &str, remedy: &str) -> Error {
        Error::user(format!("{} {message}", FORMAT.name)).with_remedy(remedy).with_location(
            self.output.name(),
            0,
            0,
            b"",
        )
    }

    fn record(&self, request: &Request) -> Result<Record> {
        if request.device != 0 {
            let remedy = "choose one device, or place the devices one after another";
            return Err(self.refuse(&format!("has no devices; found device {}", request.device), remedy));
        }
        let Ok(seconds) = u32::try_from(request.arrival.as_ns() / 1_000_000_000) else {
            return Err(self.refuse("has times below 2^32 s", "write a part of the trace"));
        };
        let Ok(size) = u32::try_from(request.length_bytes()) else {
            return Err(self.refuse("has requests of less than 4 GiB", "write another format"));
        };
        Ok(Record { object: request.lbn, seconds, size })
    }
}

/// For each record, the number of the next record of the same object; -1 for none.
fn next_numbers(records: &[Record]) -> Vec<i64> {
    let mut next_by_object = Map::default();
    let mut next_numbers: Vec<i64> = (records.iter().enumerate().rev())
        .map(|(number, record)| next_by_object.insert(record.object, number as i64).unwrap_or(-1))
        .collect();
    next_numbers.reverse();
    next_numbers
}

impl TraceWriter for Writer {
    fn write(&mut self, request: &Request) -> Result<()> {
        if self.filter.accepts(request, &self.output)? {
            self.records.push(self.record(request)?);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<u64> {
        for (record, next) in self.records.iter().zip(next_numbers(&self.records)) {
            let bytes = self.output.text();
            bytes.extend_from_slice(&record.seconds.to_le_bytes());
            bytes.extend_from_slice(&record.object.to_le_bytes());
            bytes.extend_from_slice(&record.size.to_le_bytes());
            bytes.extend_from_slice(&next.to_le_bytes());
            self.output.end_record()?;
        }
        self.output.finish()?;
        Ok(self.records.len() as u64)
    }
}
