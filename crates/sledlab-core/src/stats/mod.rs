//! Streaming statistics in constant memory.

mod batch_means;
mod checksum;
mod compensated_sum;
mod distribution;
mod histogram;
mod moments;
mod sum;

pub use batch_means::BatchMeans;
pub use checksum::Checksum;
pub use compensated_sum::CompensatedSum;
pub use distribution::Distribution;
pub use moments::Moments;
pub use sum::Sum;
