//! What can be done to a stream of requests on its way: each is a [`Source`] over another.

mod reorder;

pub use reorder::Reorder;
