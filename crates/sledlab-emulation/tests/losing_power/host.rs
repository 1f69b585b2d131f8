//! A host that writes to a live device, keeps the data in memory, and checks every block after a power failure.

use sledlab_core::{BLOCK_BYTES, Op, Request, Result, Time};
use sledlab_emulation::Versions;
use sledlab_emulation::store::versions::Recovered;
use sledlab_models::system::{Content, Contents};
use sledlab_sim::{Answer, Live};

use super::Defect;

const BLOCK: usize = BLOCK_BYTES as usize;

/// An operation of the host, and its outcome.
struct Operation {
    op: Op,
    first: u64,
    end: u64,
    /// Whether the operation writes zeroes.
    is_zero: bool,
    arrival: Time,
    done: Option<Time>,
    is_durable: bool,
}

pub struct Host {
    live: Live,
    versions: Versions,
    store: Vec<u8>,
    /// The contents before the first operation.
    image: Vec<u8>,
    /// By number of the operation in the model.
    operations: Vec<Operation>,
    answers: Vec<Answer>,
    defect: Option<Defect>,
}

/// The outcome of a power failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whether operations were under way.
    pub struck: bool,
    /// Whether an acknowledged write was lost.
    pub lost_answered: bool,
    /// Blocks whose data in the store was not what the model found.
    pub restored: usize,
    /// The contents of the store after the failure.
    pub store: Vec<u8>,
}

/// A block of the contents at the beginning: a third of the blocks are zeroes.
fn original(lbn: u64) -> [u8; BLOCK] {
    if lbn.is_multiple_of(3) { [0; BLOCK] } else { filled(u64::MAX, lbn) }
}

/// Data of a block that differs from that of every other write and block.
fn filled(number: u64, lbn: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    for (place, word) in block.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *word = [number, lbn][place % 2].to_le_bytes();
    }
    block
}

impl Operation {
    /// Whether the operation changes the block.
    fn changes(&self, lbn: u64) -> bool {
        matches!(self.op, Op::Write | Op::Trim) && (self.first..self.end).contains(&lbn)
    }
}

impl Host {
    pub fn new(live: Live, blocks: u64, defect: Option<Defect>) -> Self {
        let image: Vec<u8> = (0..blocks).flat_map(original).collect();
        let is_volatile = live.is_volatile() && defect != Some(Defect::AnsweredIsSafe);
        Host {
            live,
            versions: Versions::new(is_volatile),
            store: image.clone(),
            image,
            operations: Vec::new(),
            answers: Vec::new(),
            defect,
        }
    }

    /// Simulates the events due up to `now`, one by one.
    pub fn wait(&mut self, now: Time) -> Result<()> {
        while let Some(due) = self.live.next_event().filter(|due| *due <= now) {
            self.live.advance(due, &mut self.answers)?;
            self.hear();
        }
        Ok(())
    }

    pub fn submit(&mut self, now: Time, request: Request, is_zero: bool) -> Result<()> {
        let id = self.operations.len() as u64;
        let (number, arrival) = self.live.submit(now, request, &mut self.answers)?;
        assert_eq!(number, id);
        // Completions from before the operation arrived are handled first; its own comes afterwards.
        let own = self.answers.iter().position(|answer| answer.id == id);
        let own = own.map(|place| self.answers.remove(place));
        self.hear();
        let (first, end) = (request.lbn, request.lbn + u64::from(request.blocks));
        let (op, done, is_durable) = (request.op, None, false);
        self.operations.push(Operation { op, first, end, is_zero, arrival, done, is_durable });
        let bytes = first as usize * BLOCK..end as usize * BLOCK;
        match op {
            Op::Write => {
                self.versions.arrive(id, first, &self.store[bytes.clone()]);
                let data = (first..end).flat_map(|lbn| if is_zero { [0; BLOCK] } else { filled(id, lbn) });
                self.store[bytes].iter_mut().zip(data).for_each(|(to, byte)| *to = byte);
                if self.defect == Some(Defect::ArrivedIsAnswered) {
                    self.versions.acknowledged(id);
                }
            }
            Op::Trim => {
                self.versions.trim(first, end - first);
                self.store[bytes].fill(0);
            }
            Op::Flush if self.defect == Some(Defect::FlushedAtOnce) => self.versions.flushed(id),
            _ => {}
        }
        self.answers.extend(own);
        self.hear();
        Ok(())
    }

    /// Handles completions.
    fn hear(&mut self) {
        for Answer { id, at } in std::mem::take(&mut self.answers) {
            let operation = &mut self.operations[id as usize];
            operation.done = Some(at);
            operation.is_durable = match operation.op {
                Op::Write => !self.live.is_volatile(),
                _ => operation.op == Op::Trim,
            };
            if operation.op == Op::Flush {
                let before = self.operations[..id as usize].iter_mut();
                before.filter(|before| before.op == Op::Write).for_each(|write| write.is_durable = true);
                self.versions.flushed(id);
            }
            self.versions.acknowledged(id);
        }
    }

    pub fn plant_in_system(&mut self) {
        self.live.durable().expect("the system keeps contents").free_early();
    }

    pub fn capacity_blocks(&self) -> u64 {
        self.live.capacity_blocks()
    }

    /// Fails the power, and checks every block of the store.
    pub fn lose_power(mut self, at: Time, survives: &mut dyn FnMut() -> bool) -> Result<Failure, String> {
        self.wait(at).map_err(|error| error.to_string())?;
        let struck = self.live.under_way() > 0;
        let Host { live, versions, mut store, image, operations, .. } = self;
        let mut late = Vec::new();
        let (_, contents) = live.crash(at, survives, &mut late).map_err(|error| error.to_string())?;
        assert!(late.iter().all(|answer| answer.at <= at), "what was not answered is never answered");
        let Recovered { older: restored, lost, .. } =
            versions.crashed(&contents).map_err(|error| error.to_string())?;
        for (lbn, data) in &restored {
            let at = *lbn as usize * BLOCK;
            if store[at..at + BLOCK] == *data && *data != [0; BLOCK] {
                return Err(format!("block {lbn} is said to differ and does not"));
            }
            store[at..at + BLOCK].copy_from_slice(data);
        }
        let mut lost_answered = false;
        for (lbn, block) in (0..).zip(store.as_chunks::<BLOCK>().0) {
            lost_answered |= check(lbn, block, &contents, &operations, &image)?;
        }
        if lost_answered != (lost > 0) {
            return Err(format!("{lost} blocks are said to be lost that were answered"));
        }
        Ok(Failure { struck, lost_answered, restored: restored.len(), store })
    }
}

/// Checks that a block holds the version that the model has found, and that nothing durable was lost with it. Returns
/// whether the block has lost an acknowledged write.
fn check(
    lbn: u64,
    block: &[u8; BLOCK],
    contents: &Contents,
    operations: &[Operation],
    image: &[u8],
) -> Result<bool, String> {
    let version = match contents.get(&lbn) {
        None => 0,
        Some(Content::Data(version)) => *version,
        Some(Content::Header(_)) => return Err(format!("block {lbn} holds a header")),
    };
    // Where the model finds no write, the last trim is what the block holds.
    let last_trim = || operations.iter().rposition(|trim| trim.op == Op::Trim && trim.changes(lbn));
    let found = if version > 0 { Some(version as usize - 1) } else { last_trim() };
    let expected = match found {
        None => image[lbn as usize * BLOCK..][..BLOCK].try_into().expect("a block"),
        Some(id) => match operations.get(id).filter(|operation| operation.changes(lbn)) {
            None => return Err(format!("block {lbn} holds version {version} that nobody wrote")),
            Some(Operation { op: Op::Trim, .. } | Operation { is_zero: true, .. }) => [0; BLOCK],
            Some(_) => filled(id as u64, lbn),
        },
    };
    if *block != expected {
        return Err(format!("the store has not the version {version} of block {lbn} that the model finds"));
    }
    let done = found.map_or(Some(Time::ZERO), |id| operations[id].done);
    let follows = |later: &&Operation| {
        later.changes(lbn) && done.is_some_and(|done| later.arrival > done && later.done.is_some())
    };
    let followers = || operations.iter().filter(follows);
    if let Some(lost) = followers().find(|later| later.is_durable) {
        return Err(format!(
            "block {lbn} holds version {version}, but {:?} at {:?} was durable",
            lost.op, lost.arrival
        ));
    }
    Ok(followers().next().is_some())
}
