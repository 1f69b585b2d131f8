//! Headers of records, and recovery of the contents from the logs after a crash.

use sledlab_core::{BLOCK_BYTES, WORD_BYTES};

use super::logs::{HEADER_BLOCKS, Logs, Record};
use super::{Io, Job, Part};
use crate::cache::BlockRun;
use crate::system::{Content, Contents};

/// Words of a header: number of the record, first block, number of blocks, checksum.
const WORDS: usize = 4;
const _: () = assert!(WORDS as u64 * WORD_BYTES <= BLOCK_BYTES);

/// The contents that a write puts into a record: header and data; none where contents are not kept.
pub(super) fn record_contents(record: &Record, io: &Io<Job>, part: &Part) -> Vec<Content> {
    if !io.keeps_contents() {
        return Vec::new();
    }
    let data = io.data(part);
    let Record { run, number, .. } = *record;
    let header: [u64; WORDS] = [number, run.first, run.end - run.first, checksum(&data)];
    std::iter::once(Content::Header(header.into())).chain(data).collect()
}

/// FNV-1a over words: enough to detect a record that was not written completely.
fn checksum(data: &[Content]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, content| match content {
        Content::Data(data) => (sum ^ data).wrapping_mul(0x0100_0000_01b3),
        Content::Header(_) => !sum,
    })
}

/// The contents of every block, recovered from the media only; `logs` supplies the size of the logs and the number of
/// the last record to ignore.
pub(super) fn recover(front: &Contents, back: Contents, logs: &Logs) -> Contents {
    let mut records: Vec<(u64, BlockRun, Vec<Content>)> = Vec::new();
    for log in 0..logs.len() as u64 {
        let (mut front_block, end) = (log * logs.log_blocks, (log + 1) * logs.log_blocks);
        let mut previous_number = None;
        while let Some((number, run, data)) = record(front, front_block, end) {
            if previous_number.is_some_and(|previous_number| number != previous_number + 1) {
                break;
            }
            previous_number = Some(number);
            front_block += HEADER_BLOCKS + u64::from(run.blocks());
            if number > logs.last_discarded {
                records.push((number, run, data));
            }
        }
    }
    records.sort_unstable_by_key(|(number, ..)| *number);
    let mut contents = back;
    for (_, run, data) in records {
        contents.extend((run.first..run.end).zip(data));
    }
    contents
}

/// The record whose header is at block `front_block`, if header and data are complete.
fn record(front: &Contents, front_block: u64, end: u64) -> Option<(u64, BlockRun, Vec<Content>)> {
    let Content::Header(words) = front.get(&front_block)? else { return None };
    let [number, first, blocks, sum] = words[..] else { return None };
    let data_at = front_block + HEADER_BLOCKS;
    if data_at + blocks > end {
        return None;
    }
    let data: Vec<Content> =
        (data_at..data_at + blocks).map(|block| front.get(&block).cloned().unwrap_or_default()).collect();
    (checksum(&data) == sum).then(|| (number, BlockRun { first, end: first + blocks }, data))
}
