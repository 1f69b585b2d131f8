//! Fuzzes the NBD codec: `cargo run --release -p sledlab-emulation --example fuzz_nbd`.
//!
//! Sessions of real clients are mutated for `FUZZ_SECONDS` (60 by default), with random numbers from `FUZZ_SEED` (the
//! time of day by default); a session whose signature was not seen before is mutated further. Whatever bytes a client
//! sends, nothing panics, memory is bounded, clients can parse the replies, and the replies do not depend on the pieces
//! in which the bytes arrive. A session that violates one of these invariants is written to `fuzz/artifacts`.

mod client;
#[path = "../../../sledlab-trace/examples/fuzz/frame.rs"]
mod frame;
mod mutate;
mod samples;
mod serve;

use std::process::ExitCode;

use client::Reply;
use frame::Frame;
use serve::{Transcript, export, serve};

fn main() -> ExitCode {
    let frame = Frame::from_environment();
    if frame.fuzz("nbd", samples::sessions(), mutate::mutate, check) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Serves a session in pieces of several sizes and panics if the codec violates an invariant. Returns the session's
/// signature.
fn check(bytes: &[u8]) -> String {
    let transcript = serve(export(), bytes, &[usize::MAX]);
    assert_eq!(serve(export(), bytes, &[1 + bytes.len() % 97]), transcript, "pieces make no difference");
    let partial_transcript = serve(export(), &bytes[..bytes.len() / 2], &[1, 3, 28, 7, 1000]);
    assert!(partial_transcript.is_prefix_of(&transcript), "half of a session is the beginning of it");
    signature(&transcript)
}

/// The signature of a session: the kinds of its replies, without numbers that clients choose.
fn signature(transcript: &Transcript) -> String {
    let kind = |reply: &Reply| match reply {
        Reply::Option { option, kind, .. } => format!("{}:{:x}", option.min(&12), kind),
        Reply::ExportName { flags, zeroes, .. } => format!("name {flags} {zeroes}"),
        Reply::Simple { errno, data, .. } => format!("{errno}{}", if data.is_empty() { "" } else { "+" }),
        Reply::Data { .. } => "data".to_owned(),
        Reply::Extents { extents, .. } => format!("extents {}", extents.len().min(3)),
        Reply::Error { message, .. } => message.clone(),
    };
    let replies = transcript.parsed_replies();
    let kinds: Vec<String> = replies.iter().rev().take(6).map(kind).collect();
    format!("{} {:?}", kinds.join(","), transcript.connection_end)
}
