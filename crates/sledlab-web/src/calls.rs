//! The calls that JavaScript can make.

use serde::Deserialize;
use serde_json::json;
use sledlab_core::error::ErrorOrigin;
use sledlab_core::{Error, Result, Time};

use crate::answer::Answer;
use crate::laboratory::{Laboratory, MechanismPlace};

/// A call: the name of a method of `Core` in `web/core/core.ts`, and its arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call {
    #[serde(rename = "call")]
    method: String,
    toml: String,
    /// Keys and values that replace those of `toml`, as of `--set`.
    settings: Vec<(String, String)>,
    name: String,
    place: Option<MechanismPlace>,
    run: usize,
    operations: u32,
    columns: Vec<String>,
    from_ns: f64,
    requests: usize,
    until_ns: f64,
    station: usize,
    at_ns: Vec<f64>,
}

/// Executes the call in `json` with the binary arguments `bytes`.
pub(crate) fn execute(laboratory: &mut Laboratory, json: &[u8], bytes: Vec<u8>) -> Result<Answer> {
    let call: Call =
        serde_json::from_slice(json).map_err(|error| Error::internal(format!("unknown call: {error}")))?;
    match call.method.as_str() {
        "catalog" => laboratory.catalog(),
        "device" => laboratory.device(&call.toml),
        "seek_map" => laboratory.seek_map(&call.toml, call.place),
        "put_trace" => laboratory.put_trace(&call.name, bytes),
        "drop_trace" => laboratory.drop_trace(&call.name),
        "open" => laboratory.open(&call.name, &call.toml, &call.settings),
        #[cfg(feature = "cluster")]
        "replay" => crate::cluster::replay(&call.name, &call.toml, &call.settings, bytes),
        "close" => laboratory.close(call.run),
        "run" => laboratory.open_run(call.run)?.advance(call.operations),
        "snapshot" => laboratory.open_run(call.run)?.snapshot(),
        "outcome" => laboratory.open_run(call.run)?.outcome(),
        "checksum" => laboratory.open_run(call.run)?.checksum(),
        "rows" => laboratory.open_run(call.run)?.rows(call.columns),
        "watch" => {
            laboratory.open_run(call.run)?.watch(time(call.from_ns), call.requests, time(call.until_ns))
        }
        "positions" => {
            let at: Vec<Time> = call.at_ns.into_iter().map(time).collect();
            laboratory.open_run(call.run)?.positions(call.station, &at)
        }
        other => Err(Error::internal(format!("unknown call `{other}`"))),
    }
}

/// A time that JavaScript passes as a number of nanoseconds.
fn time(ns: f64) -> Time {
    Time::from_ns(ns as u64)
}

/// An error, as JSON.
pub(crate) fn error_json(error: &Error) -> Vec<u8> {
    let origin = if error.origin() == ErrorOrigin::User { "user" } else { "core" };
    let mut fields = json!({ "blame": origin, "message": error.message() });
    if let Some(remedy) = error.remedy() {
        fields["remedy"] = remedy.into();
    }
    if let Some(place) = error.location() {
        fields["place"] = json!({
            "file": place.file, "line": place.line, "column": place.column, "text": place.text,
        });
    }
    fields.to_string().into_bytes()
}
