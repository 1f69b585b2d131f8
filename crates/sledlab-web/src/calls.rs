//! What can be called.

use serde::Deserialize;
use serde_json::json;
use sledlab_core::error::Blame;
use sledlab_core::{Error, Result, Time};

use crate::answer::Ready;
use crate::laboratory::{Laboratory, MechanismPlace};

/// A call: a method of `Core` in `web/core/core.ts`, and what it is given.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Given {
    call: String,
    toml: String,
    name: String,
    place: Option<MechanismPlace>,
    run: usize,
    operations: u32,
    from: usize,
    from_ns: f64,
    requests: usize,
    station: usize,
    at_ns: Vec<f64>,
}

/// Answers the call that `json` says; `bytes` come with it.
pub(crate) fn answer(laboratory: &mut Laboratory, json: &[u8], bytes: Vec<u8>) -> Result<Ready> {
    let given: Given = serde_json::from_slice(json)
        .map_err(|error| Error::internal(format!("there is no such call: {error}")))?;
    match given.call.as_str() {
        "catalogue" => laboratory.catalogue(),
        "device" => laboratory.device(&given.toml),
        "seek_map" => laboratory.seek_map(&given.toml, given.place),
        "put_trace" => laboratory.put_trace(&given.name, bytes),
        "drop_trace" => laboratory.drop_trace(&given.name),
        "open" => laboratory.open(&given.name, &given.toml),
        "close" => laboratory.close(given.run),
        "run" => laboratory.run(given.run)?.go_on(given.operations),
        "glance" => laboratory.run(given.run)?.glance(),
        "outcome" => laboratory.run(given.run)?.outcome(),
        "checksum" => laboratory.run(given.run)?.checksum(),
        "rows" => laboratory.run(given.run)?.rows(given.from),
        "watch" => laboratory.run(given.run)?.watch(time(given.from_ns), given.requests),
        "positions" => {
            let at: Vec<Time> = given.at_ns.into_iter().map(time).collect();
            laboratory.run(given.run)?.positions(given.station, &at)
        }
        other => Err(Error::internal(format!("there is no call `{other}`"))),
    }
}

/// A time as JavaScript counts it.
fn time(ns: f64) -> Time {
    Time::from_ns(ns as u64)
}

/// A mistake, as JSON.
pub(crate) fn mistake(error: &Error) -> Vec<u8> {
    let blame = if error.blame() == Blame::User { "user" } else { "core" };
    let mut told = json!({ "blame": blame, "message": error.message() });
    if let Some(remedy) = error.remedy() {
        told["remedy"] = remedy.into();
    }
    if let Some(place) = error.place() {
        told["place"] = json!({
            "file": place.file, "line": place.line, "column": place.column, "text": place.text,
        });
    }
    told.to_string().into_bytes()
}
