//! Requests in columns, as data frames and Parquet files hold them.
//!
//! The columns have the meaning of those in the CSV format of sledlab; see [`crate::format`].

use sledlab_core::{Error, Op, Request, Result, Source, Time, unrequested_words};

use crate::arrivals::{Clock, MAX_ARRIVAL_NS, Start, TraceArrivals};
use crate::continuation::Continuation;
use crate::range::{self, RangeFault};
use crate::transform::Reorder;

/// Consecutive rows of a table, column by column; all columns have the same length.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Arrival in microseconds from the start of the trace.
    pub time_us: Times,
    /// `R`, `W`, `T` (trim) or `F` (flush).
    pub op: Vec<u8>,
    /// First byte; rounded down to a block.
    pub offset_bytes: Vec<i64>,
    /// Length in bytes; the end is rounded up to a block, of which only the touched words are requested.
    pub length_bytes: Vec<i64>,
    /// Device number; empty where all rows are of device 0.
    pub device: Vec<i64>,
    /// 1 for requests for the file system's own data, else 0; empty where nothing is known.
    pub metadata: Vec<i64>,
}

/// Arrival times in microseconds.
#[derive(Clone, Debug)]
pub enum Times {
    /// Integer microseconds.
    Whole(Vec<i64>),
    /// With a fraction, rounded to the nearest nanosecond.
    Fractional(Vec<f64>),
}

impl Default for Times {
    fn default() -> Self {
        Times::Whole(Vec::new())
    }
}

impl Times {
    fn len(&self) -> usize {
        match self {
            Times::Whole(times) => times.len(),
            Times::Fractional(times) => times.len(),
        }
    }

    fn ns(&self, row: usize) -> Option<u64> {
        match self {
            Times::Whole(times) => u64::try_from(times[row]).ok()?.checked_mul(1000),
            Times::Fractional(times) => {
                let ns = (times[row] * 1000.0).round();
                (0.0..=MAX_ARRIVAL_NS as f64).contains(&ns).then_some(ns as u64)
            }
        }
    }

    fn show(&self, row: usize) -> String {
        match self {
            Times::Whole(times) => times[row].to_string(),
            Times::Fractional(times) => times[row].to_string(),
        }
    }
}

impl Columns {
    fn metadata(&self, row: usize) -> Result<bool> {
        match self.metadata.get(row) {
            None | Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(other) => Err(Error::user(format!("metadata: {other} is neither 0 nor 1"))),
        }
    }
}

/// Gives the next rows of a table; `None` at its end.
pub type NextRows = Box<dyn FnMut() -> Result<Option<Columns>> + Send>;

/// The requests of a table; `name` stands for the table in messages, with the row counted from 1.
///
/// `sort_window` is that of [`crate::OpenOptions`].
pub fn open_table(name: &str, next_rows: NextRows, sort_window: usize) -> Box<dyn Source> {
    let arrivals = if sort_window > 0 {
        TraceArrivals::unordered(Clock::Trace, Start::Zero, Continuation::default())
    } else {
        TraceArrivals::new(Clock::Trace, Start::Zero, Continuation::default())
    };
    let table = Table { name: name.to_owned(), next_rows, arrivals, rows: 0 };
    if sort_window > 0 { Box::new(Reorder::new(Box::new(table), sort_window)) } else { Box::new(table) }
}

struct Table {
    name: String,
    next_rows: NextRows,
    arrivals: TraceArrivals,
    /// Rows of the chunks before the present one.
    rows: u64,
}

impl Table {
    fn request(&mut self, columns: &Columns, row: usize) -> Result<Request> {
        let arrival = self.arrival(&columns.time_us, row)?;
        let op = match columns.op[row] {
            b'R' => Op::Read,
            b'W' => Op::Write,
            b'T' => Op::Trim,
            b'F' => Op::Flush,
            _ => {
                return Err(
                    Error::user("op: unknown operation").with_remedy("write R, W, T (trim) or F (flush)")
                );
            }
        };
        let device = match columns.device.get(row) {
            None => 0,
            Some(device) => u16::try_from(*device)
                .map_err(|_| Error::user(format!("device: {device} is not a number from 0 to 65535")))?,
        };
        if op == Op::Flush {
            return Ok(Request { arrival, lbn: 0, blocks: 0, device, op, ..Request::default() });
        }
        let offset = to_unsigned("offset_bytes", columns.offset_bytes[row])?;
        let length = to_unsigned("length_bytes", columns.length_bytes[row])?;
        let (lbn, blocks) = range::from_bytes(offset, length).map_err(|fault| match fault {
            RangeFault::Empty => Error::user("a request of length 0"),
            RangeFault::Invalid(error) => error,
        })?;
        let unrequested_words = if op.is_media() { unrequested_words(offset, length) } else { 0 };
        let metadata = columns.metadata(row)?;
        Ok(Request { arrival, lbn, blocks, device, op, unrequested_words, metadata })
    }

    fn arrival(&mut self, times: &Times, row: usize) -> Result<Time> {
        let ns = times.ns(row).ok_or_else(|| {
            Error::user(format!("time_us: {} is not a time from 0 to 9e15 microseconds", times.show(row)))
        })?;
        self.arrivals.accept(ns).ok_or_else(|| self.arrivals.refusal(ns))
    }
}

fn to_unsigned(column: &str, value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| Error::user(format!("{column}: {value} is negative")))
}

impl Source for Table {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        loop {
            let Some(columns) = (self.next_rows)()? else { return Ok(0) };
            let count = columns.op.len();
            let equal = [columns.time_us.len(), columns.offset_bytes.len(), columns.length_bytes.len()];
            let optional = [columns.device.len(), columns.metadata.len()];
            if equal != [count; 3] || optional.iter().any(|len| ![0, count].contains(len)) {
                return Err(Error::user(format!("{}: the columns differ in length", self.name)));
            }
            into.reserve(count);
            for row in 0..count {
                let number = self.rows + row as u64 + 1;
                let request = self.request(&columns, row);
                into.push(request.map_err(|error| error.with_location(self.name.as_str(), number, 0, b""))?);
            }
            self.rows += count as u64;
            if count > 0 {
                return Ok(count);
            }
        }
    }

    fn progress(&self) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(columns: Columns) -> Result<Vec<Request>> {
        let mut rows = Some(columns);
        let mut source = open_table("frame", Box::new(move || Ok(rows.take())), 0);
        let mut requests = Vec::new();
        while source.fill(&mut requests)? > 0 {}
        Ok(requests)
    }

    fn two_rows() -> Columns {
        Columns {
            time_us: Times::Fractional(vec![0.0, 1.0005]),
            op: b"RF".to_vec(),
            offset_bytes: vec![512, 0],
            length_bytes: vec![4096, 0],
            device: Vec::new(),
            metadata: Vec::new(),
        }
    }

    #[test]
    fn reads_rows() {
        let requests = read(two_rows()).unwrap();
        assert_eq!((requests[0].lbn, requests[0].blocks, requests[0].op), (1, 8, Op::Read));
        assert_eq!((requests[1].arrival.as_ns(), requests[1].op), (1001, Op::Flush));
    }

    #[test]
    fn length_sets_requested_part_of_last_block() {
        let mut columns = two_rows();
        columns.length_bytes[0] = 600;
        assert_eq!(read(columns.clone()).unwrap()[0].unrequested_words, 53);
        columns.offset_bytes[0] = 8;
        assert_eq!(read(columns).unwrap()[0].unrequested_words, 0);
    }

    #[test]
    fn metadata_column_sets_metadata_flag() {
        let columns = Columns { metadata: vec![1, 0], ..two_rows() };
        assert!(read(columns).unwrap()[0].metadata);
        let wrong = read(Columns { metadata: vec![2, 0], ..two_rows() }).unwrap_err().to_string();
        assert!(wrong.contains("metadata: 2 is neither 0 nor 1"), "{wrong}");
    }

    #[test]
    fn invalid_value_error_names_row() {
        let wrong = |change: fn(&mut Columns)| {
            let mut columns = two_rows();
            change(&mut columns);
            read(columns).unwrap_err().to_string()
        };
        assert!(
            wrong(|c| c.time_us = Times::Fractional(vec![0.0, f64::NAN])).starts_with("frame:2: time_us")
        );
        assert!(wrong(|c| c.time_us = Times::Whole(vec![5, 4])).contains("frame:2: the request arrives"));
        assert!(wrong(|c| c.time_us = Times::Whole(vec![-5, 4])).contains("time_us: -5"));
        assert!(wrong(|c| c.op[0] = b'X').contains("unknown operation"));
        assert!(wrong(|c| c.offset_bytes[0] = -1).contains("offset_bytes: -1 is negative"));
        assert!(wrong(|c| c.length_bytes[0] = 0).contains("length 0"));
        assert!(wrong(|c| c.device = vec![0, 70_000]).contains("device: 70000"));
        assert!(wrong(|c| c.length_bytes.truncate(1)).contains("differ in length"));
    }
}
