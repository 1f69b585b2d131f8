//! The size of a replay, counted before it begins, so that a record that would take days or all memory is refused.

use sledlab_core::{Error, Result};
use sledlab_trace::work::{PageOrder, Phase, Work};

use super::member::Member;

/// Most pages and packets of a replay: an hour or so. Passes of a nested loop that may be skipped do not count.
const MAX_EVENTS: u128 = 1 << 32;
/// Most messages of a phase in which reading, working and messages overlap; all of them are in memory.
const MAX_MESSAGES: u128 = 1 << 26;
/// Most pages of a file that is accessed in random order; their order is in memory.
const MAX_RANDOM_PAGES: u64 = 1 << 28;
/// Most bytes that stores read or write, every pass counted: sums have 64 bits.
const MAX_BYTES: u128 = 1 << 62;

/// Counts of a record up to a phase.
#[derive(Debug, Default)]
pub(super) struct ReplaySize {
    /// Pages to simulate, messages and packets.
    events: u128,
    /// Bytes that stores read and write.
    bytes: u128,
    /// Bytes that nodes send in the last phase added, collectives included.
    pub phase_bytes_sent: u128,
}

impl ReplaySize {
    /// Adds a phase.
    ///
    /// # Errors
    /// A replay that would take too long or too much memory.
    pub fn add(&mut self, work: &Work, members: &[Member], phase: &Phase, packet_bytes: u64) -> Result<()> {
        let packets = |bytes: u64| u128::from(bytes.div_ceil(packet_bytes));
        let refuse = |message: &str, remedy: &str| {
            Err(Error::user(format!("phase `{}`: {message}", phase.name)).with_remedy(remedy))
        };
        let mut messages = 0;
        self.phase_bytes_sent = 0;
        for (member, step) in members.iter().zip(&phase.steps) {
            let size = member.message_bytes(step);
            for (_, bytes) in step.away_from(member.index) {
                messages += u128::from(bytes.div_ceil(size));
                self.events += u128::from(bytes.div_ceil(size)).max(packets(bytes));
                self.phase_bytes_sent += u128::from(bytes);
            }
            let skips =
                if step.writes.is_empty() { member.skips.if_only_read } else { member.skips.if_written };
            for (accesses, skips) in [(&step.reads, skips), (&step.writes, false)] {
                self.events += member.extent(work, accesses, skips).0;
                self.bytes += member.extent(work, accesses, false).1;
                let is_random = |order| order == PageOrder::Random;
                let mut random = accesses.iter().filter(|access| is_random(access.order));
                if random.any(|access| member.files.pages(access.file) > MAX_RANDOM_PAGES) {
                    return refuse(
                        "a file in random order has more than 2^28 pages",
                        "make node.page_kb larger, or read the file in sequential order",
                    );
                }
            }
        }
        for collective in &phase.collectives {
            // At most, every member receives the bytes of all members.
            let bytes: u128 = collective.bytes.iter().map(|bytes| u128::from(*bytes)).sum();
            let everywhere = bytes * collective.members.len() as u128;
            self.events += everywhere / u128::from(packet_bytes) + collective.members.len() as u128;
            self.phase_bytes_sent += everywhere;
        }
        let overlaps = members.iter().any(|member| member.node.params.prefetch_pages > 0);
        if overlaps && messages > MAX_MESSAGES {
            return refuse(
                &format!("{messages} messages are more than can be in memory, 2^26"),
                "check the bytes of `sends`, and make messages larger: `message_bytes`, or node.message_kb",
            );
        }
        if self.bytes > MAX_BYTES {
            return refuse(
                "by its end stores would have read and written more than 2^62 bytes",
                "make node.block_kb larger, or replay fewer data",
            );
        }
        if self.events > MAX_EVENTS {
            return refuse(
                &format!(
                    "by its end the replay would have {} pages, messages and packets, more than 2^32",
                    self.events
                ),
                "check the bytes of the record; make pages or messages larger: node.page_kb, `message_bytes`, \
                 node.message_kb, network.packet_kb",
            );
        }
        Ok(())
    }
}
