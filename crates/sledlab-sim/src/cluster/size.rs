//! Estimates the size of a replay before it begins, to reject records that would take days or all memory.

use sledlab_core::{Error, Result};
use sledlab_trace::work::{PageOrder, Phase, Work};

use super::member::Member;

/// Maximum number of pages and packets of a replay: about an hour. Passes of a nested loop that may be skipped do not
/// count.
const MAX_EVENTS: u128 = 1 << 32;
/// Maximum number of messages of a phase in which reading, computing and messages overlap; all of them are in memory.
const MAX_MESSAGES: u128 = 1 << 26;
/// Maximum number of pages of a file that is accessed in random order; their order is in memory.
const MAX_RANDOM_PAGES: u64 = 1 << 28;
/// Maximum number of bytes that stores read or write, with every pass counted: sums have 64 bits.
const MAX_BYTES: u128 = 1 << 62;

/// Counts of a record up to a phase.
#[derive(Debug, Default)]
pub(super) struct ReplaySize {
    /// Pages to simulate, messages and packets.
    events: u128,
    /// Bytes that stores read and write.
    bytes: u128,
    /// Bytes that nodes send in the last phase, collectives included.
    pub phase_bytes_sent: u128,
}

impl ReplaySize {
    /// Adds a phase.
    ///
    /// # Errors
    /// A replay that would take too long or need too much memory.
    pub fn add(&mut self, work: &Work, members: &[Member], phase: &Phase, packet_bytes: u64) -> Result<()> {
        let packets = |bytes: u64| u128::from(bytes.div_ceil(packet_bytes));
        let rejection = |message: &str, remedy: &str| {
            Err(Error::user(format!("phase `{}`: {message}", phase.name)).with_remedy(remedy))
        };
        let mut messages = 0;
        self.phase_bytes_sent = 0;
        for (member, step) in members.iter().zip(&phase.steps) {
            for (to, bytes) in step.remote_sends(member.index) {
                let count = u128::from(bytes.div_ceil(member.message_bytes(step, to)));
                messages += count;
                self.events += count.max(packets(bytes));
                self.phase_bytes_sent += u128::from(bytes);
            }
            let may_skip = if step.writes.is_empty() {
                member.skips.read_only_steps
            } else {
                member.skips.writing_steps
            };
            for (accesses, may_skip) in [(&step.reads, may_skip), (&step.writes, false)] {
                self.events += member.extent(work, accesses, may_skip).0;
                self.bytes += member.extent(work, accesses, false).1;
                let is_random = |order| order == PageOrder::Random;
                let mut random_accesses = accesses.iter().filter(|access| is_random(access.order));
                if random_accesses.any(|access| member.files.pages(access.file) > MAX_RANDOM_PAGES) {
                    return rejection(
                        "a file in random order has more than 2^28 pages",
                        "increase node.page_kb, or read the file in sequential order",
                    );
                }
            }
        }
        for collective in &phase.collectives {
            // Upper bound: every member receives the bytes of all members.
            let bytes: u128 = collective.bytes.iter().map(|bytes| u128::from(*bytes)).sum();
            let received_bytes = bytes * collective.members.len() as u128;
            self.events += received_bytes / u128::from(packet_bytes) + collective.members.len() as u128;
            self.phase_bytes_sent += received_bytes;
        }
        let has_overlap = members.iter().any(|member| member.node.params.prefetch_pages > 0);
        if has_overlap && messages > MAX_MESSAGES {
            return rejection(
                &format!("{messages} messages exceed the maximum of 2^26 in memory"),
                "check the bytes of `sends`, and increase the message size: `message_bytes` or node.message_kb",
            );
        }
        if self.bytes > MAX_BYTES {
            return rejection(
                "stores would read and write more than 2^62 bytes",
                "increase node.block_kb, or replay less data",
            );
        }
        if self.events > MAX_EVENTS {
            return rejection(
                &format!("the replay would have {} pages, messages and packets, more than 2^32", self.events),
                "check the bytes of the record; increase the size of pages or messages: node.page_kb, `message_bytes`, \
                 node.message_kb, network.packet_kb",
            );
        }
        Ok(())
    }
}
