//! Ranges of a device that hold data, and ranges that are holes.

/// A range of a device that is either data or a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataExtent {
    /// Length of the range in bytes.
    pub length: u64,
    /// Whether the range takes room in the store; a hole takes none and reads as zeroes.
    pub allocated: bool,
}
