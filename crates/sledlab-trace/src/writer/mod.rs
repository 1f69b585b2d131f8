//! Writers of traces: one file per format, and the list of them all.

mod csv;
mod device_name;
mod disksim_ascii;
mod fio_iolog;
mod msr;
mod oracle_general;
mod output;
mod spc;

use std::path::Path;

use sledlab_core::{Error, Request, Result};

use output::Output;

use crate::continuation::Continuation;

/// Takes requests in order of arrival and writes them to a file.
pub trait TraceWriter: Send {
    /// Writes one request.
    ///
    /// # Errors
    /// The format cannot express the request, or the file cannot be written.
    fn write(&mut self, request: &Request) -> Result<()>;

    /// Completes the file and returns how many requests it holds. Until then the file is not complete.
    fn finish(self: Box<Self>) -> Result<u64>;
}

/// How a format states the device of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceField {
    /// By its number, in an optional column.
    Column,
    /// By its number.
    Number,
    /// By its name.
    Name,
    /// Not at all: all requests are for device 0.
    Absent,
}

impl DeviceField {
    /// The field as a word.
    pub fn word(self) -> &'static str {
        match self {
            DeviceField::Column => "column",
            DeviceField::Number => "number",
            DeviceField::Name => "name",
            DeviceField::Absent => "absent",
        }
    }
}

/// A format in which traces can be written.
pub struct WriterFormat {
    /// Name of the format, as in `--to`; the reader of the same name reads it back.
    pub name: &'static str,
    /// File name extensions that select the format.
    pub extensions: &'static [&'static str],
    /// How the format states the device of a request.
    pub devices: DeviceField,
    start: fn(Output, WriteOptions) -> Result<Box<dyn TraceWriter>>,
}

/// Every format that can be written.
pub static LIST: &[WriterFormat] = &[
    csv::FORMAT,
    disksim_ascii::FORMAT,
    fio_iolog::FORMAT,
    msr::FORMAT,
    oracle_general::FORMAT,
    spc::FORMAT,
];

/// File name extensions behind those of a format that select a compression, without the dot.
pub fn compression_extensions() -> impl Iterator<Item = &'static str> {
    output::COMPRESSIONS.iter().map(|(extension, _)| extension.trim_start_matches('.'))
}

/// Settings of writing a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions<'a> {
    /// Name of the format; chosen by the extension of the file when absent.
    pub format: Option<&'a str>,
    /// For `csv`: adds the column `device`, without which only device 0 can be written.
    pub device_column: bool,
    /// Names of the devices, for formats that name them; numbers without.
    pub names: Option<&'a Continuation>,
    /// Drops trims and flushes instead of rejecting them, for formats that have reads and writes only.
    pub media_only: bool,
}

/// Selects the requests of a format that has reads and writes only.
struct MediaFilter {
    format: &'static str,
    media_only: bool,
}

impl MediaFilter {
    fn new(format: &'static str, options: WriteOptions) -> Self {
        MediaFilter { format, media_only: options.media_only }
    }

    /// Returns whether to write a request; trims and flushes are errors unless they are to be dropped.
    fn accepts(&self, request: &Request, output: &Output) -> Result<bool> {
        if request.op.is_media() || self.media_only {
            return Ok(request.op.is_media());
        }
        let message = format!(
            "{} supports reads and writes only, but this trace contains trims or flushes",
            self.format
        );
        Err(Error::user(message).with_remedy("drop them with `--media-only`, or write csv").with_location(
            output.name(),
            0,
            0,
            b"",
        ))
    }
}

/// Creates a trace file, `-` for standard output. An extension `.gz` or `.zst` compresses; the
/// extension before it, or `format`, names the format.
pub fn create(path: impl AsRef<Path>, format: Option<&str>) -> Result<Box<dyn TraceWriter>> {
    create_with_options(path, WriteOptions { format, ..WriteOptions::default() })
}

/// Like [`create`], with further settings.
///
/// # Errors
/// The format is unknown or the extension names none, or the file cannot be created.
pub fn create_with_options(path: impl AsRef<Path>, options: WriteOptions) -> Result<Box<dyn TraceWriter>> {
    let path = path.as_ref();
    let format = choose(path, options.format)?;
    (format.start)(Output::create(path)?, options)
}

fn choose(path: &Path, name: Option<&str>) -> Result<&'static WriterFormat> {
    let format_names = || LIST.iter().map(|format| format.name);
    if let Some(name) = name {
        let format = LIST.iter().find(|format| format.name == name);
        return format.ok_or_else(|| Error::unknown_name("format to write", name, format_names()));
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let uncompressed_name =
        output::COMPRESSIONS.iter().find_map(|(extension, _)| file.strip_suffix(extension));
    let extension = uncompressed_name.unwrap_or(&file).rsplit_once('.').map(|(_, extension)| extension);
    let format =
        extension.and_then(|extension| LIST.iter().find(|format| format.extensions.contains(&extension)));
    format.ok_or_else(|| {
        let format_names: Vec<&str> = format_names().collect();
        let endings: Vec<String> = LIST
            .iter()
            .filter_map(|format| format.extensions.first())
            .map(|extension| format!(".{extension}"))
            .collect();
        Error::user(format!("cannot detect the output format from the name `{}`", path.display()))
            .with_remedy(format!(
                "end it in {} (.csv.gz, .txt.zst ...), or name the format: {}",
                endings.join(", "),
                format_names.join(", ")
            ))
    })
}
