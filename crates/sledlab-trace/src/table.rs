//! Requests in columns, as data frames and Parquet files hold them.
//!
//! The columns have the meaning of those in the CSV format of sledlab; see [`crate::format`]. Times may also be those
//! of a wall clock.

use sledlab_core::{Error, Op, Request, Result, Source, Time, unrequested_words};

use crate::arrival_options::ArrivalOptions;
use crate::arrivals::{MAX_ARRIVAL_NS, TraceArrivals};
use crate::format::parse_op_word;
use crate::notes::Note;
use crate::range::{self, RangeFault};

/// Consecutive rows of a table, column by column; all columns have the same length.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Arrival times.
    pub times: Times,
    /// `R`, `W`, `T` (trim) or `F` (flush), in upper or lower case.
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

/// Arrival times; the [`Clock`](crate::Clock) of the table says what they count from.
#[derive(Clone, Debug)]
pub enum Times {
    /// Integer microseconds.
    WholeUs(Vec<i64>),
    /// Microseconds with a fraction, rounded to the nearest nanosecond.
    FractionalUs(Vec<f64>),
    /// Integer nanoseconds.
    Ns(Vec<i64>),
    /// Nanoseconds of a wall clock, from any instant that all chunks share.
    WallNs(Vec<u64>),
}

impl Default for Times {
    fn default() -> Self {
        Times::WholeUs(Vec::new())
    }
}

impl Times {
    fn len(&self) -> usize {
        match self {
            Times::WholeUs(times) | Times::Ns(times) => times.len(),
            Times::FractionalUs(times) => times.len(),
            Times::WallNs(times) => times.len(),
        }
    }

    fn ns(&self, row: usize) -> Option<u64> {
        match self {
            Times::WholeUs(times) => u64::try_from(times[row]).ok()?.checked_mul(1000),
            Times::FractionalUs(times) => us_to_ns(times[row]),
            Times::Ns(times) => u64::try_from(times[row]).ok(),
            Times::WallNs(times) => Some(times[row]),
        }
    }

    /// The time in microseconds, for an error.
    fn show(&self, row: usize) -> String {
        match self {
            Times::WholeUs(times) => times[row].to_string(),
            Times::FractionalUs(times) => times[row].to_string(),
            Times::Ns(times) => (times[row] as f64 / 1000.0).to_string(),
            Times::WallNs(times) => (times[row] as f64 / 1000.0).to_string(),
        }
    }
}

/// From 2^53 nanoseconds on, a number of nanoseconds is not exact in floating point.
const MAX_EXACT_US: f64 = 9e12;

/// Microseconds in nanoseconds, rounded to the nearest.
#[inline]
fn us_to_ns(us: f64) -> Option<u64> {
    if us > MAX_EXACT_US {
        let fraction_ns = (us.fract() * 1000.0).round() as u64;
        return (us <= MAX_ARRIVAL_NS as f64 / 1000.0).then(|| us.trunc() as u64 * 1000 + fraction_ns);
    }
    let ns = (us * 1000.0).round();
    (ns >= 0.0).then_some(ns as u64)
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
/// # Errors
/// The resolution of the times is not positive.
pub fn open_table(name: &str, next_rows: NextRows, options: ArrivalOptions) -> Result<Box<dyn Source>> {
    let arrivals = options.arrivals();
    options.apply(Table { name: name.to_owned(), next_rows, arrivals, rows: 0, requests: 0 })
}

struct Table {
    name: String,
    next_rows: NextRows,
    arrivals: TraceArrivals,
    /// Rows of the chunks before the present one.
    rows: u64,
    /// Requests of these chunks.
    requests: u64,
}

impl Table {
    /// The request in a row; `None` for a read, write or trim of length 0.
    fn request(&mut self, columns: &Columns, row: usize) -> Result<Option<Request>> {
        let op = match columns.op[row] {
            b'R' => Op::Read,
            b'W' => Op::Write,
            b'T' => Op::Trim,
            b'F' => Op::Flush,
            letter => parse_op_word(&[letter]).ok_or_else(|| op_error(letter))?,
        };
        let device = match columns.device.get(row) {
            None => 0,
            Some(device) => u16::try_from(*device)
                .map_err(|_| Error::user(format!("device: {device} is not a number from 0 to 65535")))?,
        };
        if op == Op::Flush {
            let arrival = self.arrival(&columns.times, row)?;
            return Ok(Some(Request { arrival, lbn: 0, blocks: 0, device, op, ..Request::default() }));
        }
        let offset = to_unsigned("offset_bytes", columns.offset_bytes[row])?;
        let length = to_unsigned("length_bytes", columns.length_bytes[row])?;
        let (lbn, blocks) = match range::from_bytes(offset, length) {
            Ok(range) => range,
            Err(RangeFault::Empty) => {
                self.arrivals.add_note(Note::EmptyRequests, 1);
                return Ok(None);
            }
            Err(RangeFault::Invalid(error)) => return Err(error),
        };
        let arrival = self.arrival(&columns.times, row)?;
        let unrequested_words = if op.is_media() { unrequested_words(offset, length) } else { 0 };
        let metadata = columns.metadata(row)?;
        let request =
            Request { arrival, lbn, blocks, device, op, unrequested_words, metadata, ..Request::default() };
        Ok(Some(request))
    }

    fn arrival(&mut self, times: &Times, row: usize) -> Result<Time> {
        let ns = times.ns(row).ok_or_else(|| {
            Error::user(format!("time_us: {} is not a time from 0 to 9e15 microseconds", times.show(row)))
        })?;
        self.arrivals.accept(ns).ok_or_else(|| self.arrivals.refusal(ns))
    }

    /// Ends the table, which is an error if all of its rows were omitted.
    fn end(&self) -> Result<usize> {
        if self.requests > 0 || self.rows == 0 {
            return Ok(0);
        }
        let notes = self.arrivals.notes().join("; ");
        Err(Error::user(format!("the trace holds no requests: {notes}"))
            .with_remedy("check the column `length_bytes`")
            .with_location(self.name.as_str(), 0, 0, b""))
    }
}

#[cold]
fn op_error(letter: u8) -> Error {
    Error::user(format!("op: unknown operation `{}`", char::from(letter)))
        .with_remedy("write R, W, T (trim) or F (flush)")
}

fn to_unsigned(column: &str, value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| Error::user(format!("{column}: {value} is negative")))
}

impl Source for Table {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        loop {
            let Some(columns) = (self.next_rows)()? else { return self.end() };
            let rows = columns.op.len();
            let required_lens = [columns.times.len(), columns.offset_bytes.len(), columns.length_bytes.len()];
            let optional_lens = [columns.device.len(), columns.metadata.len()];
            if required_lens != [rows; 3] || optional_lens.iter().any(|len| ![0, rows].contains(len)) {
                return Err(Error::user(format!("{}: the columns differ in length", self.name)));
            }
            let old_len = requests.len();
            requests.reserve(rows);
            for row in 0..rows {
                let number = self.rows + row as u64 + 1;
                let request = self.request(&columns, row);
                requests.extend(
                    request.map_err(|error| error.with_location(self.name.as_str(), number, 0, b""))?,
                );
            }
            self.rows += rows as u64;
            let count = requests.len() - old_len;
            self.requests += count as u64;
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
    use crate::arrival_options::WindowOptions;
    use crate::arrivals::{Clock, TraceStart};
    use crate::continuation::Continuation;

    fn read(columns: Columns) -> Result<Vec<Request>> {
        read_with(columns, ArrivalOptions::default())
    }

    fn read_with(columns: Columns, options: ArrivalOptions) -> Result<Vec<Request>> {
        let mut rows = Some(columns);
        let mut source = open_table("frame", Box::new(move || Ok(rows.take())), options)?;
        let mut requests = Vec::new();
        while source.fill(&mut requests)? > 0 {}
        Ok(requests)
    }

    fn two_rows() -> Columns {
        Columns {
            times: Times::FractionalUs(vec![0.0, 1.0005]),
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
        let message = read(Columns { metadata: vec![2, 0], ..two_rows() }).unwrap_err().to_string();
        assert!(message.contains("metadata: 2 is neither 0 nor 1"), "{message}");
    }

    #[test]
    fn invalid_value_error_names_row() {
        let error_message = |change: fn(&mut Columns)| {
            let mut columns = two_rows();
            change(&mut columns);
            read(columns).unwrap_err().to_string()
        };
        assert!(
            error_message(|c| c.times = Times::FractionalUs(vec![0.0, f64::NAN]))
                .starts_with("frame:2: time_us")
        );
        assert!(
            error_message(|c| c.times = Times::WholeUs(vec![5, 4])).contains("frame:2: the request arrives")
        );
        assert!(error_message(|c| c.times = Times::WholeUs(vec![-5, 4])).contains("time_us: -5"));
        assert!(error_message(|c| c.op[0] = b'X').contains("unknown operation"));
        assert!(error_message(|c| c.offset_bytes[0] = -1).contains("offset_bytes: -1 is negative"));
        assert!(error_message(|c| c.times = Times::Ns(vec![-5, 4])).contains("time_us: -0.005"));
        assert!(error_message(|c| c.device = vec![0, 70_000]).contains("device: 70000"));
        assert!(error_message(|c| c.length_bytes.truncate(1)).contains("differ in length"));
    }

    #[test]
    fn requests_of_length_zero_are_omitted() {
        let mut columns = two_rows();
        columns.length_bytes[0] = 0;
        assert_eq!(read(columns.clone()).unwrap().len(), 1);
        columns.op = b"wt".to_vec();
        let error = read(columns).unwrap_err().to_string();
        assert!(error.contains("the trace holds no requests: omitted 2 requests of length 0"), "{error}");
    }

    fn arrivals_ns(times: Times, options: ArrivalOptions) -> Result<Vec<u64>> {
        let requests = read_with(Columns { times, ..two_rows() }, options)?;
        Ok(requests.iter().map(|request| request.arrival.as_ns()).collect())
    }

    #[test]
    fn window_keeps_part_of_the_trace() {
        let arrivals = |from_s: f64, until_s: f64| {
            let window = WindowOptions { from_s, until_s };
            let options = ArrivalOptions { window, ..ArrivalOptions::default() };
            let columns = Columns {
                times: Times::Ns(vec![5, 1_000_000_005, 2_000_000_004, 2_000_000_005]),
                op: b"RRRF".to_vec(),
                offset_bytes: vec![0; 4],
                length_bytes: vec![512; 4],
                ..Columns::default()
            };
            let requests = read_with(columns, options)?;
            Ok::<Vec<u64>, Error>(requests.iter().map(|request| request.arrival.as_ns()).collect())
        };
        assert_eq!(arrivals(0.0, 0.0).unwrap(), [0, 1_000_000_000, 1_999_999_999, 2_000_000_000]);
        assert_eq!(arrivals(1.0, 2.0).unwrap(), [0, 999_999_999]);
        assert_eq!(arrivals(1.5, 0.0).unwrap(), [499_999_999, 500_000_000]);
        assert!(arrivals(3.0, 0.0).unwrap().is_empty());
        for (from_s, until_s) in
            [(2.0, 1.0), (1.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (f64::NAN, 0.0), (1e30, 0.0)]
        {
            let error = arrivals(from_s, until_s).unwrap_err().to_string();
            assert!(error.contains("is empty"), "{error}");
        }
    }

    fn from_zero() -> ArrivalOptions {
        ArrivalOptions { start: TraceStart::Zero, ..ArrivalOptions::default() }
    }

    #[test]
    fn late_fractional_times_are_exact() {
        let times = Times::FractionalUs(vec![1.7e15, 1.7e15 + 1.25]);
        assert_eq!(
            arrivals_ns(times, from_zero()).unwrap(),
            [1_700_000_000_000_000_000, 1_700_000_000_000_001_250]
        );
    }

    #[test]
    fn nanoseconds_are_kept() {
        assert_eq!(arrivals_ns(Times::Ns(vec![7, 9]), from_zero()).unwrap(), [7, 9]);
    }

    #[test]
    fn wall_clock_starts_at_first_request() {
        let wall_clock =
            |sort_window| ArrivalOptions { clock: Clock::Unix, sort_window, ..ArrivalOptions::default() };
        let late_ns = u64::MAX - 1;
        assert_eq!(arrivals_ns(Times::WallNs(vec![late_ns, late_ns + 1]), wall_clock(0)).unwrap(), [0, 1]);
        assert_eq!(arrivals_ns(Times::WallNs(vec![late_ns + 1, late_ns]), wall_clock(5)).unwrap(), [0, 1]);
        assert!(arrivals_ns(Times::WallNs(vec![late_ns, 0]), wall_clock(0)).is_err());
    }

    #[test]
    fn tables_share_a_wall_clock() {
        let continuation = Continuation::default();
        for (sort_window, expected) in [(0, [0, 10]), (3, [20, 30])] {
            let options = ArrivalOptions {
                clock: Clock::Unix,
                sort_window,
                continuation: continuation.clone(),
                ..ArrivalOptions::default()
            };
            let times = Times::WallNs(expected.map(|ns| ns + 500).to_vec());
            assert_eq!(arrivals_ns(times, options).unwrap(), expected);
        }
    }
}
