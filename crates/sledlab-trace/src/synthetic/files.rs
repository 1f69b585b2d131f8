//! Files scattered over a device, some more popular than others.

use rand::RngExt;
use rand_distr::{Distribution, Zipf};
use sledlab_core::seed::Stream;
use sledlab_core::{BLOCK_BYTES, Error, Result};

use super::draw::Places;

/// A block of a file system: 8 KB, in blocks of the device.
pub const PIECE_BLOCKS: u64 = 16;

/// Tails of files are stored in fragments of 1 KB.
const FRAGMENT_BLOCKS: u64 = 2;

/// Blocks in `mb` times 2^20 bytes, at least one.
pub fn mb_to_blocks(mb: f64) -> u64 {
    ((mb * f64::from(1 << 20)) as u64 / BLOCK_BYTES).max(1)
}

/// The blocks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedFile {
    /// First block.
    pub start: u64,
    /// Blocks from the first to the last, gaps included.
    pub blocks: u32,
}

impl RankedFile {
    /// The first block after the file.
    pub fn end(self) -> u64 {
        self.start + u64::from(self.blocks)
    }
}

/// The files of a device by rank, the most popular first; the place of a file does not depend on its rank.
#[derive(Clone, Debug)]
pub struct RankedFiles {
    by_rank: Vec<RankedFile>,
    ranks: Zipf<f64>,
    picks: Stream,
    places: Places,
}

impl RankedFiles {
    /// Lays out files of `lengths` blocks, as many as fit into `space_blocks`, at random places.
    ///
    /// Each length covers complete pieces of a file. If not even the first fits, one file uses all
    /// the space.
    pub fn new(
        lengths: impl Iterator<Item = u32>,
        space_blocks: u64,
        zipf_exponent: f64,
        streams: [Stream; 3],
    ) -> Result<Self> {
        let [scatter, picks, places] = streams;
        let mut files = Vec::new();
        let mut free_blocks = space_blocks;
        for blocks in lengths {
            let Some(remaining_blocks) = free_blocks.checked_sub(u64::from(blocks)) else { break };
            free_blocks = remaining_blocks;
            files.push(RankedFile { start: 0, blocks });
        }
        if files.is_empty() {
            free_blocks = 0;
            files.push(RankedFile { start: 0, blocks: space_blocks.min(u64::from(u32::MAX)) as u32 });
        }
        Self::scatter(&mut files, free_blocks, scatter);
        let ranks = Zipf::new(files.len() as f64, zipf_exponent)
            .map_err(|error| Error::user(format!("a Zipf exponent of {zipf_exponent}: {error}")))?;
        let places = Places::new(places);
        Ok(RankedFiles { by_rank: files, ranks, picks, places })
    }

    /// Puts the files on the device in random order, with `free` blocks divided at random among the gaps between them.
    fn scatter(files: &mut [RankedFile], free_blocks: u64, mut rng: Stream) {
        let mut order: Vec<usize> = (0..files.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        let free_pieces = free_blocks / PIECE_BLOCKS;
        let mut free_before: Vec<u64> =
            order.iter().map(|_| rng.random_range(0..=free_pieces) * PIECE_BLOCKS).collect();
        free_before.sort_unstable();
        let mut taken_blocks = 0;
        for (rank, free_before) in order.into_iter().zip(free_before) {
            files[rank].start = free_before + taken_blocks;
            taken_blocks += u64::from(files[rank].blocks);
        }
    }

    /// Number of files, at least one.
    pub fn count(&self) -> usize {
        self.by_rank.len()
    }

    /// The file of a rank below [`count`](Self::count); ranks begin at 0.
    #[inline]
    pub fn file_at_rank(&self, rank: usize) -> RankedFile {
        self.by_rank[rank]
    }

    /// Blocks of the largest file.
    pub fn largest_blocks(&self) -> u32 {
        self.by_rank.iter().map(|file| file.blocks).max().unwrap_or(0)
    }

    #[inline]
    fn pick_rank(&mut self) -> usize {
        (self.ranks.sample(&mut self.picks) as usize).clamp(1, self.by_rank.len()) - 1
    }

    /// A file drawn by popularity that holds `blocks`, which are no more than the largest file has, and a place for
    /// them in it: at the beginning of a piece or, if they are fewer than a piece, at a fragment of one.
    #[inline]
    pub fn place(&mut self, blocks: u32) -> (RankedFile, u64) {
        let mut rank = self.pick_rank();
        while self.by_rank[rank].blocks < blocks {
            rank = (rank + 1) % self.by_rank.len();
        }
        let file = self.by_rank[rank];
        let (blocks, length) = (u64::from(blocks), u64::from(file.blocks));
        let span_blocks = blocks.max(PIECE_BLOCKS).min(length);
        let pieces = (length - span_blocks) / PIECE_BLOCKS + 1;
        let fragments = (span_blocks - blocks) / FRAGMENT_BLOCKS + 1;
        let place = self.places.below(pieces * fragments);
        (file, file.start + place / fragments * PIECE_BLOCKS + place % fragments * FRAGMENT_BLOCKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sledlab_core::seed::stream;

    fn place_files(lengths: &[u32], space: u64) -> RankedFiles {
        let streams = ["scatter", "picks", "places"].map(|name| stream(1, name));
        RankedFiles::new(lengths.iter().copied(), space, 0.9, streams).unwrap()
    }

    proptest! {
        #[test]
        fn files_are_disjoint_and_contain_placed_requests(
            pieces in prop::collection::vec(1_u32..40, 1..60),
            space in prop_oneof![1_u64..200, 200_u64..200_000],
            expected in 1_u32..128,
        ) {
            let lengths: Vec<u32> = pieces.iter().map(|pieces| pieces * 16).collect();
            let mut files = place_files(&lengths, space);
            let mut sorted = files.by_rank.clone();
            sorted.sort_by_key(|file| file.start);
            prop_assert!(sorted.windows(2).all(|pair| pair[0].end() <= pair[1].start));
            prop_assert!(sorted.last().unwrap().end() <= space);
            let expected = expected.min(files.largest_blocks());
            for _ in 0..50 {
                let (file, lbn) = files.place(expected);
                prop_assert!(file.start <= lbn && lbn + u64::from(expected) <= file.end());
                let end_in_piece = (lbn - file.start) % 16 + u64::from(expected);
                prop_assert!(expected >= 16 || file.blocks < 16 || end_in_piece <= 16);
            }
        }
    }

    #[test]
    fn first_ranks_are_most_popular() {
        let mut files = place_files(&[16; 1000], 1 << 20);
        let (first_file, tenth_file) = (files.by_rank[0], files.by_rank[9]);
        let picks: Vec<RankedFile> = (0..200_000).map(|_| files.place(16).0).collect();
        let count = |file: RankedFile| picks.iter().filter(|pick| **pick == file).count() as f64;
        let expected = 10.0_f64.powf(0.9);
        assert!((count(first_file) / count(tenth_file) / expected - 1.0).abs() < 0.1);
    }
}
