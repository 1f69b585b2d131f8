//! Queues that schedulers are built on: by position, by block, by plan and by zone, and the scores by which they
//! choose. The schedulers themselves are the files of the folder above.

pub(super) mod exhaustive;
pub(super) mod grid;
pub(super) mod joint_queue;
pub(super) mod ordered_queue;
pub(super) mod planned_queue;
pub(super) mod position_queue;
pub(super) mod position_weight;
pub(super) mod sweep;
pub(super) mod zoned_queue;
