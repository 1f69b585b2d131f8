//! The simulator in a browser: a call passes JSON text and bytes, and returns JSON text and columns.
//!
//! `web/core/` is the JavaScript side: `types.ts` and `core.ts` hold the calls and the types of their answers.

mod answer;
mod calls;
#[cfg(feature = "cluster")]
mod cluster;
mod device;
mod exports;
mod laboratory;
mod residencies;
mod rows;
mod runs;
mod watched_run;
