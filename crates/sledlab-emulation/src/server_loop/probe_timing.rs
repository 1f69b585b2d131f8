//! Measured times of the requests of a probe.

/// The time that a request took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeTiming {
    /// Whether the request reads.
    pub is_read: bool,
    pub bytes: u32,
    pub ns: u64,
}
