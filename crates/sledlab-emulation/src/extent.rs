//! Stretches of a device that hold data, and stretches that hold none.

/// A stretch of a device that is allocated as a whole, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataExtent {
    /// Its length in bytes.
    pub length: u64,
    /// Whether it takes room; a hole reads as zeroes.
    pub allocated: bool,
}
