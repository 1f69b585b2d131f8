//! The core in a browser: one call with a JSON text and bytes in, an answer of a JSON text and columns out.
//!
//! `web/core/` has the other side: what can be called and what comes back is in `types.ts` and `core.ts`.

mod answer;
mod border;
mod calls;
mod device;
mod laboratory;
mod residencies;
mod rows;
mod runs;
mod watched;
