//! The messages of a step: the order of their receivers, and the unit of work after which each message is due.

use sledlab_models::network::Port;
use sledlab_trace::work::{NodeStep, Work};

use super::member::Member;

/// A message that is due when a unit of work is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub unit: u64,
    /// Number of the message among those to the same port.
    turn: u32,
    pub to: Port,
    pub bytes: u64,
}

/// Returns the bytes that a step of node `own` sends to each other port, in the order in which the receivers take
/// turns. Node i begins with its i-th receiver, so that nodes with the same receivers do not all send to one of them at
/// a time.
pub(super) fn sends_in_turn(step: &NodeStep, sender: usize) -> Vec<(Port, u64)> {
    let mut sends: Vec<(Port, u64)> = step.remote_sends(sender).filter(|(_, bytes)| *bytes > 0).collect();
    let first = sender % sends.len().max(1);
    sends.rotate_left(first);
    sends
}

/// Returns the messages of a step, ordered by the units at whose end they are full, and for each unit in turns of their
/// receivers. Of each unit's result every port receives its share, in proportion to the bytes sent to it.
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
    let mut messages = Vec::new();
    for (to, total_bytes) in sends_in_turn(step, member.index) {
        let size = member.message_bytes(step, to);
        for turn in 0..total_bytes.div_ceil(size) {
            let start = turn * size;
            let end = total_bytes.min(start + size);
            // The first unit after which that many bytes are ready.
            let unit = (u128::from(end) * u128::from(units)).div_ceil(u128::from(total_bytes)) as u64;
            let unit = if only_receives && (to as usize) < work.nodes { 0 } else { unit };
            messages.push(Message { unit, turn: turn as u32, to, bytes: end - start });
        }
    }
    messages.sort_by_key(|message| (message.unit, message.turn));
    messages
}
