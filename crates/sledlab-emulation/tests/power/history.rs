//! The operations of a client before a power failure, and the check of a block after it.

use sledlab_core::BLOCK_BYTES;
use sledlab_models::system::{Content, Contents};

use super::operations::{Kind, Operation};

pub const BLOCK: usize = BLOCK_BYTES as usize;

/// An operation that was sent.
struct SentOperation {
    operation: Operation,
    /// The data of its blocks after it, if it changes them.
    data: Vec<u8>,
    /// When the operation was sent, on the client's clock.
    sent_at: u64,
    /// When the operation was complete: an operation sent at that time or later follows this one.
    completed_at: Option<u64>,
    /// Whether the client got the reply.
    is_acknowledged: bool,
    /// Whether the operation is known to have reached the device.
    has_arrived: bool,
    /// When the operation is durable without a flush, if it is then acknowledged; `None` if that is unknown.
    durable_at: Option<u64>,
}

impl SentOperation {
    fn has_changed(&self, lbn: u64) -> bool {
        self.operation.kind.is_change() && (self.operation.first..self.operation.end).contains(&lbn)
    }

    fn block(&self, lbn: u64) -> &[u8] {
        &self.data[(lbn - self.operation.first) as usize * BLOCK..][..BLOCK]
    }
}

/// The operations since the device was switched on. The number of an operation is that of its version in the model,
/// less one.
pub struct History {
    /// The contents of the device when it was switched on.
    image: Vec<u8>,
    /// The contents after all operations sent, in order.
    pub store: Vec<u8>,
    operations: Vec<SentOperation>,
    /// Whether an acknowledged write may need a flush to be durable.
    needs_flushes: bool,
}

impl History {
    pub fn new(image: Vec<u8>, needs_flushes: bool) -> Self {
        History { store: image.clone(), image, operations: Vec::new(), needs_flushes }
    }

    pub fn len(&self) -> usize {
        self.operations.len()
    }

    pub fn kind(&self, number: usize) -> Kind {
        self.operations[number].operation.kind
    }

    pub fn is_acknowledged(&self, number: usize) -> bool {
        self.operations[number].is_acknowledged
    }

    /// Whether a write to blocks of the operation is in flight.
    pub fn overlaps_write_in_flight(&self, operation: &Operation) -> bool {
        let mut in_flight =
            self.operations.iter().filter(|sent_operation| sent_operation.completed_at.is_none());
        in_flight
            .any(|sent_operation| (operation.first..operation.end).any(|lbn| sent_operation.has_changed(lbn)))
    }

    /// Adds an operation sent at time `at`, after which [`store`](History::store) holds its data.
    pub fn send(&mut self, operation: Operation, sent_at: u64, has_arrived: bool, is_fua: bool) {
        let Operation { kind, first, end } = operation;
        let data = if kind.is_change() {
            self.store[first as usize * BLOCK..end as usize * BLOCK].to_vec()
        } else {
            Vec::new()
        };
        let durable_at = (!self.needs_flushes || is_fua || kind == Kind::Trim).then_some(0);
        self.operations.push(SentOperation {
            operation,
            data,
            sent_at,
            completed_at: None,
            is_acknowledged: false,
            has_arrived,
            durable_at,
        });
    }

    /// Records the completion of an operation.
    pub fn complete(&mut self, number: usize, completed_at: u64) {
        let sent_operation = &mut self.operations[number];
        (sent_operation.completed_at, sent_operation.has_arrived) = (Some(completed_at), true);
    }

    /// Records when the model says that a complete operation is durable.
    pub fn set_durable(&mut self, number: usize, at: u64) {
        self.operations[number].durable_at.get_or_insert(at);
    }

    /// Records the reply to a complete operation.
    pub fn acknowledge(&mut self, number: usize) {
        self.operations[number].is_acknowledged = true;
    }

    /// The operations that may have left `version` of the model in a block; `None` stands for the contents at the
    /// beginning. At version 0 the model has found no write in the block, so the block holds the result of the last
    /// trim. If it is unknown whether a trim has arrived, both that trim and the operation before it are candidates.
    fn candidates(&self, lbn: u64, version: usize) -> Vec<Option<usize>> {
        if version > 0 {
            return vec![Some(version - 1)];
        }
        let mut candidates = Vec::new();
        for (number, sent_operation) in self.operations.iter().enumerate().rev() {
            if sent_operation.operation.kind == Kind::Trim && sent_operation.has_changed(lbn) {
                candidates.push(Some(number));
                if sent_operation.has_arrived {
                    return candidates;
                }
            }
        }
        candidates.push(None);
        candidates
    }

    /// Checks every block of `store` after a power failure at time `at`. Returns whether an acknowledged write is lost.
    ///
    /// # Errors
    /// A block that does not hold the version that the model has found, and a lost durable write.
    pub fn check(&self, failed_at: u64, store: &[u8], contents: &Contents) -> Result<bool, String> {
        let mut is_lost = false;
        for (lbn, block) in (0..).zip(store.chunks(BLOCK)) {
            is_lost |= self.check_block(failed_at, lbn, block, contents)?;
        }
        Ok(is_lost)
    }

    fn check_block(
        &self,
        failed_at: u64,
        lbn: u64,
        block: &[u8],
        contents: &Contents,
    ) -> Result<bool, String> {
        let version = match contents.get(&lbn) {
            None => 0,
            Some(Content::Data(version)) => *version as usize,
            Some(Content::Header(_)) => return Err(format!("block {lbn} holds a header")),
        };
        let is_held_by = |number: &Option<usize>| match number.map(|number| self.operations.get(number)) {
            None => block == &self.image[lbn as usize * BLOCK..][..BLOCK],
            Some(sent_operation) => sent_operation.is_some_and(|sent_operation| {
                sent_operation.has_changed(lbn) && sent_operation.block(lbn) == block
            }),
        };
        let Some(number) = self.candidates(lbn, version).into_iter().find(is_held_by) else {
            return Err(format!("block {lbn} is not the version {version} that the model finds"));
        };
        let Some(completed_at) = number.map_or(Some(0), |number| self.operations[number].completed_at) else {
            return Ok(false);
        };
        let next_number = number.map_or(0, |number| number + 1);
        let mut is_lost = false;
        for (number, later) in self.operations.iter().enumerate().skip(next_number) {
            if !later.has_changed(lbn) || !later.is_acknowledged || later.sent_at < completed_at {
                continue;
            }
            let is_flush = |sent_operation: &SentOperation| {
                sent_operation.operation.kind == Kind::Flush && sent_operation.is_acknowledged
            };
            let is_durable = later.durable_at.is_some_and(|durable_at| durable_at <= failed_at);
            if is_durable || self.operations[number..].iter().any(is_flush) {
                return Err(format!(
                    "block {lbn} holds version {version}, but operation {number} was durable"
                ));
            }
            is_lost = true;
        }
        Ok(is_lost)
    }
}
