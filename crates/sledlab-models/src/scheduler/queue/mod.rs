//! Queues that schedulers are built on: by position, by block, by plan and by zone, and the scores by which they
//! choose. The schedulers themselves are the files of the folder above.

pub(super) mod crowded;
pub(super) mod exhaustive;
pub(super) mod grid;
pub(super) mod ordered;
pub(super) mod planned;
pub(super) mod positioned;
pub(super) mod same_position;
pub(super) mod sweep;
pub(super) mod zoned;
