//! Reads complete traces, for the other tests of this folder.

use std::io::Cursor;
use std::path::PathBuf;

use sledlab_core::{Op, Request, Result, Source, Time};
use sledlab_trace::{OpenOptions, open, open_reader};

/// All requests of a source.
pub fn read_all(mut source: impl Source) -> Result<Vec<Request>> {
    let mut requests = Vec::new();
    while source.fill(&mut requests)? > 0 {}
    Ok(requests)
}

/// All requests of a text, and the name of its format.
pub fn read(bytes: &[u8], options: OpenOptions) -> Result<(&'static str, Vec<Request>)> {
    let trace = open_reader("t", Box::new(Cursor::new(bytes.to_vec())), options)?;
    let format = trace.format();
    Ok((format, read_all(trace)?))
}

/// All requests of a file.
pub fn read_file(path: &std::path::Path) -> (&'static str, Vec<Request>) {
    let trace = open(path, OpenOptions::default()).unwrap();
    (trace.format(), read_all(trace).unwrap())
}

/// The message of the error that reading `bytes` must end in, which must be the user's.
pub fn error(bytes: &[u8], format: Option<&str>) -> String {
    let error = read(bytes, OpenOptions { format, ..OpenOptions::default() }).unwrap_err();
    assert_eq!(error.origin(), sledlab_core::error::ErrorOrigin::User, "{error}");
    assert!(error.remedy().is_some() && error.location().is_some(), "{error}");
    error.to_string()
}

/// A request from a few values: nanoseconds, operation, first block, blocks, device.
pub fn request(ns: u64, op: Op, lbn: u64, blocks: u32, device: u16) -> Request {
    Request { arrival: Time::from_ns(ns), lbn, blocks, device, op, ..Request::default() }
}

/// Returns a folder next to the workspace, or `None` after printing that it is absent.
pub fn reference(variable: &str, default: &str) -> Option<PathBuf> {
    let adjacent = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(default);
    let folder = std::env::var_os(variable).map_or(adjacent, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no reference data in {} (set {variable})", folder.display());
    None
}
