//! The messages of a step, and the unit of work after which each is due.

use sledlab_models::network::Port;
use sledlab_trace::work::{NodeStep, Work};

use super::member::Member;

/// A message that is due when a unit of work is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub unit: u64,
    pub to: Port,
    pub bytes: u64,
}

/// The messages of a step, ordered by the units at whose end they are full. Of each unit's result every port receives
/// its share, in proportion to the bytes sent to it. Nodes begin with their neighbors, so that not all send to one node
/// at a time.
///
/// A node that `only_receives` has its messages to other nodes in memory. It must not wait for incoming messages,
/// because other nodes may wait for its messages.
pub(super) fn messages(
    member: &Member,
    work: &Work,
    step: &NodeStep,
    units: u64,
    only_receives: bool,
) -> Vec<Message> {
    let own = member.index as Port;
    let after = step.sends.partition_point(|(to, _)| *to <= own);
    let (before, after) = step.sends.split_at(after);
    let size = member.message_bytes(step);
    let mut all = Vec::new();
    for (to, full) in after.iter().chain(before).filter(|(to, bytes)| *to != own && *bytes > 0) {
        for index in 0..full.div_ceil(size) {
            let end = ((index + 1) * size).min(*full);
            // The first unit after which that many bytes are ready.
            let unit = (u128::from(end) * u128::from(units)).div_ceil(u128::from(*full)) as u64;
            let unit = if only_receives && (*to as usize) < work.nodes { 0 } else { unit };
            all.push(Message { unit, to: *to, bytes: end - index * size });
        }
    }
    all.sort_by_key(|message| message.unit);
    all
}
