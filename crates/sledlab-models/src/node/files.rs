//! Places of the pages of a node's files on its store.

use rand::seq::SliceRandom;
use sledlab_core::request::BLOCK_BYTES;
use sledlab_core::{Error, Result, seed};

use super::Node;

/// The files of a node on its store, from block 0 on, in the order in which they are declared.
///
/// The files lie one after the other, or in extents that are scattered over the room of all files, as on a store that
/// has been in use for long. No two pages share a block.
#[derive(Clone, Debug)]
pub struct Files {
    /// For each file, the number of its first page among the pages of all files, and its number of pages.
    page_ranges: Vec<(u64, u64)>,
    page_blocks: u64,
    extent_pages: u64,
    /// The place of each extent; empty where the files are contiguous.
    places: Vec<u32>,
}

impl Files {
    /// Places files with the lengths `bytes` according to the parameters of `node`, scattered by the stream `name` of
    /// `seed`.
    ///
    /// # Errors
    /// Files that do not fit on a store of `capacity_blocks` blocks.
    pub fn place(node: &Node, bytes: &[u64], capacity_blocks: u64, seed: u64, name: &str) -> Result<Self> {
        let page_bytes = node.page_bytes();
        let mut page_ranges = Vec::with_capacity(bytes.len());
        let mut pages: u64 = 0;
        for bytes in bytes {
            let file_pages = bytes.div_ceil(page_bytes);
            page_ranges.push((pages, file_pages));
            pages = pages.saturating_add(file_pages);
        }
        // An extent is never smaller than a page, so that a page is one request.
        let extent_pages = (node.params.extent_kb * super::KB).div_ceil(page_bytes);
        let extents = if extent_pages == 0 { 0 } else { pages.div_ceil(extent_pages) };
        let page_blocks = page_bytes / BLOCK_BYTES;
        let needed_blocks = pages.max(extents * extent_pages).saturating_mul(page_blocks);
        if needed_blocks > capacity_blocks || u32::try_from(extents).is_err() {
            let gb = |blocks: u64| blocks as f64 * BLOCK_BYTES as f64 / 1e9;
            return Err(Error::user(format!(
                "the files of {name} take {:.3} GB, its store has {:.3} GB",
                gb(needed_blocks),
                gb(capacity_blocks)
            ))
            .with_remedy("take a larger device, more nodes, or an array (system.kind)"));
        }
        let mut places: Vec<u32> = (0..extents as u32).collect();
        places.shuffle(&mut seed::stream(seed, name));
        Ok(Files { page_ranges, page_blocks, extent_pages, places })
    }

    /// Number of pages of a file.
    pub fn pages(&self, file: usize) -> u64 {
        self.page_ranges[file].1
    }

    /// The first block of a page of a file.
    #[inline]
    pub fn block(&self, file: usize, page: u64) -> u64 {
        let page = self.page_ranges[file].0 + page;
        if self.places.is_empty() {
            return page * self.page_blocks;
        }
        let (extent, in_extent) = (page / self.extent_pages, page % self.extent_pages);
        (u64::from(self.places[extent as usize]) * self.extent_pages + in_extent) * self.page_blocks
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use toml::Table;

    use super::*;

    fn node(page_kb: u64, extent_kb: u64) -> Node {
        let text = format!("page_kb = {page_kb}\nextent_kb = {extent_kb}");
        Node::from_table(&text.parse::<Table>().unwrap()).unwrap()
    }

    #[test]
    fn contiguous_files_are_adjacent() {
        let files = Files::place(&node(8, 0), &[20_000, 0, 8192], 1000, 1, "node 0").unwrap();
        assert_eq!((files.pages(0), files.pages(1), files.pages(2)), (3, 0, 1));
        assert_eq!((files.block(0, 0), files.block(0, 2), files.block(2, 0)), (0, 32, 48));
    }

    #[test]
    fn files_beyond_capacity_are_an_error() {
        let error = Files::place(&node(8, 0), &[8193], 31, 1, "node 3").unwrap_err();
        assert!(error.to_string().contains("the files of node 3 take"), "{error}");
        Files::place(&node(8, 0), &[8193], 32, 1, "node 3").unwrap();
    }

    proptest! {
        #[test]
        fn pages_do_not_overlap(
            bytes in prop::collection::vec(0_u64..3_000_000, 1..5),
            page in 0_u32..4,
            extent_kb in 0_u64..200,
        ) {
            let node = node(8 << page, extent_kb);
            let files = Files::place(&node, &bytes, 1 << 30, 7, "node 0").unwrap();
            let page_blocks = node.page_bytes() / BLOCK_BYTES;
            let mut used_blocks = HashSet::new();
            for file in 0..bytes.len() {
                for page in 0..files.pages(file) {
                    let block = files.block(file, page);
                    prop_assert_eq!(block % page_blocks, 0);
                    prop_assert!(used_blocks.insert(block));
                }
            }
        }
    }
}
