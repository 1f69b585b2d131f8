//! The core in a browser: one call with a JSON text and bytes in, an answer of a JSON text and columns out.
//!
//! `web/core/` is the JavaScript side: `types.ts` and `core.ts` hold the calls and the types of their answers.

mod answer;
mod calls;
mod device;
mod exports;
mod laboratory;
mod residencies;
mod rows;
mod runs;
mod watched_run;
