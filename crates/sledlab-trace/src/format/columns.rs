//! Tables whose columns the user describes: `time=epoch_s:s,op=verb,offset=first_sector:sectors,length=bytes`.

use sledlab_core::{BLOCK_BYTES, Error, Op, Request, Result, Source, Time};

use super::{Clock, Format, Head, TraceInput, csv, fields, parse_op_word};
use crate::devices::DeviceNumbers;
use crate::fields::{Fault, Line, ParseResult, bytes};
use crate::lines::{LineParser, LineSource};
use crate::shown::{list_names, shorten};

/// Units of a time column: the name, and the power of ten of a nanosecond.
const TIME_UNITS: [(&str, usize); 5] = [("ns", 0), ("100ns", 2), ("us", 3), ("ms", 6), ("s", 9)];

/// What columns hold.
const KEYS: [&str; 5] = ["time", "op", "offset", "length", "device"];

/// The unit of a time column that holds dates.
const DATES: &str = "datetime";

/// An example of a map, for messages.
const EXAMPLE: &str = "time=epoch_s:s,op=verb,offset=first_sector:sectors,length=bytes";

/// The columns of a table that hold the time, the operation, the address and the length of requests.
///
/// `KEY=COLUMN:UNIT,...`: a key is `time`, `op`, `offset`, `length` or `device`; a column is a name in the header or a
/// number from 1. Units of `time` are `ns`, `100ns`, `us` (default), `ms`, `s` and `datetime` (ISO 8601, UTC without an
/// offset); of `offset` and `length` `bytes` (default), `sectors` (512 bytes) or a number of bytes. `op` holds words
/// such as R or write; `op=COLUMN:read=0` is for a column in which that value is a read and any other a write, and
/// `op=:read` and `length=:4096` are for tables without the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMap {
    time: Column,
    time_unit: TimeUnit,
    op: Operation,
    offset: Column,
    offset_unit_bytes: u64,
    length: Length,
    device: Option<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// A name in the header.
    Name(String),
    /// A number from 0.
    Number(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeUnit {
    /// 10^n ns.
    Power(usize),
    Date,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operation {
    Words(Column),
    /// A column, and its value for reads.
    Flag(Column, String),
    Constant(Op),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Length {
    /// A column, and the bytes of its unit.
    Column(Column, u64),
    Constant(u64),
}

impl ColumnMap {
    /// Parses a map.
    ///
    /// # Errors
    /// An unknown key or unit, a missing or repeated key.
    pub fn parse(text: &str) -> Result<Self> {
        let mut settings: Vec<(&str, &str, &str)> = Vec::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| map_error(&format!("`{pair}` is no KEY=COLUMN")))?;
            let key = key.trim();
            if !KEYS.contains(&key) {
                return Err(Error::unknown_name("key of a table", key, KEYS));
            }
            if settings.iter().any(|(other, ..)| *other == key) {
                return Err(map_error(&format!("`{key}` is given twice")));
            }
            let (column, unit) = value.rsplit_once(':').unwrap_or((value, ""));
            settings.push((key, column.trim(), unit.trim()));
        }
        let find = |key: &str| {
            let setting = settings.iter().find(|(other, ..)| *other == key);
            setting.map(|(_, column, unit)| (*column, *unit))
        };
        let find_required =
            |key: &str| find(key).ok_or_else(|| map_error(&format!("the column of `{key}` is missing")));
        let (time, time_unit) = find_required("time")?;
        let (op, op_unit) = find_required("op")?;
        let (offset, offset_unit) = find_required("offset")?;
        let (length, length_unit) = find_required("length")?;
        Ok(ColumnMap {
            time: Column::parse("time", time)?,
            time_unit: TimeUnit::parse(time_unit)?,
            op: Operation::parse(op, op_unit)?,
            offset: Column::parse("offset", offset)?,
            offset_unit_bytes: unit_bytes(offset_unit)?,
            length: match length {
                "" => Length::Constant(unit_bytes(length_unit)?),
                column => Length::Column(Column::parse("length", column)?, unit_bytes(length_unit)?),
            },
            device: find("device").map(|(column, _)| Column::parse("device", column)).transpose()?,
        })
    }

    /// The map for a table with the column names of `csv`, in any order and among others.
    pub(crate) fn from_own_names(head: &Head) -> Option<Self> {
        let names = head.first_fields(b',');
        let own_names: Vec<&str> = csv::HEADER.split(',').collect();
        if !own_names.iter().all(|name| names.contains(&name.as_bytes())) {
            return None;
        }
        let column = |name: &str| Column::Name(name.to_owned());
        Some(ColumnMap {
            time: column(own_names[0]),
            time_unit: TimeUnit::Power(3),
            op: Operation::Words(column(own_names[1])),
            offset: column(own_names[2]),
            offset_unit_bytes: 1,
            length: Length::Column(column(own_names[3]), 1),
            device: names.contains(&&b"device"[..]).then(|| column("device")),
        })
    }

    /// The instant from which the times count.
    pub(crate) fn clock(&self) -> Clock {
        if self.time_unit == TimeUnit::Date { Clock::Unix } else { Clock::Trace }
    }
}

impl Column {
    fn parse(key: &str, text: &str) -> Result<Self> {
        match text.parse::<usize>() {
            Ok(0) => Err(map_error(&format!("`{key}=0`: columns count from 1"))),
            Ok(number) => Ok(Column::Number(number - 1)),
            Err(_) if text.is_empty() => Err(map_error(&format!("the column of `{key}` is missing"))),
            Err(_) => Ok(Column::Name(text.to_owned())),
        }
    }

    /// The number of the column in a table with this header.
    fn number(&self, header: &[&[u8]]) -> Result<usize, String> {
        match self {
            Column::Number(number) => Ok(*number),
            Column::Name(name) => header
                .iter()
                .position(|field| field.eq_ignore_ascii_case(name.as_bytes()))
                .ok_or_else(|| name.clone()),
        }
    }
}

impl TimeUnit {
    fn parse(unit: &str) -> Result<Self> {
        match unit {
            "" => Ok(TimeUnit::Power(3)),
            DATES => Ok(TimeUnit::Date),
            _ => {
                let unit_power = TIME_UNITS.iter().find(|(name, _)| *name == unit);
                let units = TIME_UNITS.iter().map(|(name, _)| *name).chain([DATES]);
                unit_power
                    .map(|(_, power)| TimeUnit::Power(*power))
                    .ok_or_else(|| Error::unknown_name("unit of time", unit, units))
            }
        }
    }
}

impl Operation {
    fn parse(column: &str, unit: &str) -> Result<Self> {
        if column.is_empty() {
            let op = parse_op_word(unit.as_bytes());
            return op
                .map(Operation::Constant)
                .ok_or_else(|| map_error(&format!("`op=:{unit}`: no operation")));
        }
        let column = Column::parse("op", column)?;
        match unit.split_once('=') {
            None if unit.is_empty() => Ok(Operation::Words(column)),
            Some(("read", value)) if !value.is_empty() => Ok(Operation::Flag(column, value.to_owned())),
            _ => {
                Err(map_error(&format!("`{unit}` is no unit of `op`: write `read=` and the value for reads")))
            }
        }
    }
}

fn unit_bytes(unit: &str) -> Result<u64> {
    match unit {
        "" | "bytes" => Ok(1),
        "sectors" => Ok(BLOCK_BYTES),
        number => match number.parse::<u64>() {
            Ok(bytes @ 1..=0x1_0000_0000) => Ok(bytes),
            _ => Err(map_error(&format!("unknown unit `{unit}`: write bytes, sectors or a number of bytes"))),
        },
    }
}

fn map_error(message: &str) -> Error {
    Error::user(format!("`--columns`: {message}")).with_remedy(format!("an example: --columns {EXAMPLE}"))
}

/// See the module documentation.
pub struct ColumnTable;

impl Format for ColumnTable {
    fn name(&self) -> &'static str {
        "columns"
    }

    fn description(&self) -> &'static str {
        "a table with the columns that `--columns` describes, separated by commas, semicolons, tabs or spaces"
    }

    fn clock(&self) -> Clock {
        Clock::Trace
    }

    fn matches_head(&self, _head: &Head) -> bool {
        false
    }

    fn read(&self, mut trace: TraceInput) -> Result<Box<dyn Source>> {
        let name = trace.input.name().to_owned();
        let head = Head::from_input(&mut trace.input)?;
        let map = trace.columns.or_else(|| ColumnMap::from_own_names(&head)).ok_or_else(|| {
            Error::user("the format `columns` needs the meaning of the columns")
                .with_remedy(format!("add --columns, for example --columns {EXAMPLE}"))
                .with_location(&name, 0, 0, b"")
        })?;
        let first = head.lines().next().unwrap_or_default();
        let separator = if first.contains(&b',') { b',' } else { b' ' };
        let header: Vec<&[u8]> = fields(first, separator);
        let places = Places::new(&map, &header).map_err(|missing_name| {
            let names: Vec<_> = header.iter().map(|name| String::from_utf8_lossy(name)).collect();
            Error::user(format!("the table has no column `{}`", shorten(&missing_name)))
                .with_remedy(format!("its columns are {}", list_names(names.iter().map(AsRef::as_ref))))
                .with_location(&name, 1, 0, b"")
        })?;
        let has_header = [&map.time, &map.offset].iter().any(|column| matches!(column, Column::Name(_)))
            || !header.get(places.time).is_some_and(|time| time.first().is_some_and(u8::is_ascii_digit));
        let header = if has_header { first.to_vec() } else { Vec::new() };
        let parser = Parser { map, places, separator, header, devices: trace.devices };
        Ok(Box::new(LineSource::new(trace.input, parser, trace.arrivals)))
    }
}

/// Numbers of the columns, from 0.
struct Places {
    time: usize,
    op: usize,
    offset: usize,
    length: usize,
    device: Option<usize>,
}

impl Places {
    /// # Errors
    /// The name of a column that the header does not have.
    fn new(map: &ColumnMap, header: &[&[u8]]) -> Result<Self, String> {
        Ok(Places {
            time: map.time.number(header)?,
            op: match &map.op {
                Operation::Words(column) | Operation::Flag(column, _) => column.number(header)?,
                Operation::Constant(_) => 0,
            },
            offset: map.offset.number(header)?,
            length: match &map.length {
                Length::Column(column, _) => column.number(header)?,
                Length::Constant(_) => 0,
            },
            device: map.device.as_ref().map(|column| column.number(header)).transpose()?,
        })
    }
}

struct Parser {
    map: ColumnMap,
    places: Places,
    separator: u8,
    /// The header line; empty if the table has none.
    header: Vec<u8>,
    devices: DeviceNumbers,
}

impl LineParser for Parser {
    const SHAPE: &'static str = "the columns that `--columns` names";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let words = fields(line.text, self.separator);
        let field = |number: usize| {
            words.get(number).copied().ok_or_else(|| {
                Fault::new(
                    line.text.len(),
                    format!("{} fields, but column {} is needed", words.len(), number + 1),
                )
            })
        };
        let time = field(self.places.time)?;
        let arrival = match self.map.time_unit {
            TimeUnit::Power(power) => line.read_word(time, |fields| fields.time("the time", power))?,
            TimeUnit::Date => parse_date(time).ok_or_else(|| {
                Fault::with_remedy(
                    line.place(time),
                    "this is no date",
                    "write dates as 2026-11-28 10:30:00.25",
                )
            })?,
        };
        let op = self.operation(line, field(self.places.op)?)?;
        let device = match self.places.device {
            Some(number) => {
                let name = field(number)?;
                self.devices.number(line.place(name), name)?
            }
            None => 0,
        };
        if op == Op::Flush {
            return Ok(Some(Request { arrival, lbn: 0, blocks: 0, device, op, ..Request::default() }));
        }
        let offset = field(self.places.offset)?;
        let at = line.place(offset);
        let units = line.read_word(offset, |fields| fields.integer("the offset"))?;
        let offset_bytes = to_bytes(at, units, self.map.offset_unit_bytes)?;
        let length_bytes = match &self.map.length {
            Length::Constant(length_bytes) => *length_bytes,
            Length::Column(_, unit_bytes) => {
                let length = field(self.places.length)?;
                let units = line.read_word(length, |fields| fields.integer("the length"))?;
                to_bytes(line.place(length), units, *unit_bytes)?
            }
        };
        let (lbn, blocks) = bytes(at, offset_bytes, length_bytes)?;
        Ok(Some(Request { arrival, lbn, blocks, device, op, ..Request::default() }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        !self.header.is_empty() && line.trim_ascii() == self.header
    }
}

impl Parser {
    fn operation(&self, line: Line, word: &[u8]) -> ParseResult<Op> {
        match &self.map.op {
            Operation::Constant(op) => Ok(*op),
            Operation::Flag(_, read_value) => Ok(if word == read_value.as_bytes() { Op::Read } else { Op::Write }),
            Operation::Words(_) => parse_op_word(word).ok_or_else(|| {
                Fault::with_remedy(
                    line.place(word),
                    "unknown operation",
                    "words such as R, write or trim are known; `op=COLUMN:read=0` if a value stands for reads",
                )
            }),
        }
    }
}

fn to_bytes(at: usize, units: u64, unit_bytes: u64) -> ParseResult<u64> {
    units.checked_mul(unit_bytes).ok_or_else(|| Fault::new(at, "the address does not fit 64 bits"))
}

/// The time of a date since 1970; a date without an offset is UTC.
fn parse_date(text: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(text).ok()?;
    let instant = if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        instant
    } else {
        let date: jiff::civil::DateTime = text.replacen('/', "-", 2).parse().ok()?;
        jiff::tz::TimeZone::UTC.to_timestamp(date).ok()?
    };
    u64::try_from(instant.as_nanosecond()).ok().map(Time::from_ns)
}
