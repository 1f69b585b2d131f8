//! Random number streams: one root seed and a named stream for each use.
//!
//! Each use has a separate stream that depends only on the seed and its name. A new component that draws random numbers
//! therefore does not change the numbers of others.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator that [`stream`] returns: identical numbers on every platform.
pub type Stream = ChaCha8Rng;

/// Returns the random stream `name` of the root seed `root`.
///
/// ```
/// use rand::RngExt;
/// let mut a = sledlab_core::seed::stream(7, "arrivals");
/// let mut b = sledlab_core::seed::stream(7, "sizes");
/// assert_ne!(a.random::<u64>(), b.random::<u64>());
/// ```
pub fn stream(root: u64, name: &str) -> Stream {
    let mut rng = ChaCha8Rng::seed_from_u64(root);
    rng.set_stream(fnv1a(name));
    rng
}

/// Returns the derived seed `name`, for generators outside this crate such as numpy's.
pub fn derive_seed(root: u64, name: &str) -> u128 {
    stream(root, name).random()
}

/// Returns the 64-bit FNV-1a hash, which is stable across versions, unlike the standard library's.
fn fnv1a(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_give_equal_streams() {
        let draw = |root, name| stream(root, name).random::<u64>();
        assert_eq!(draw(1, "sizes"), draw(1, "sizes"));
        assert_ne!(draw(1, "sizes"), draw(2, "sizes"));
        assert_ne!(draw(1, "sizes"), draw(1, "places"));
    }

    #[test]
    fn derived_seeds_depend_on_root_and_name() {
        assert_eq!(derive_seed(1, "sizes"), derive_seed(1, "sizes"));
        assert_ne!(derive_seed(1, "sizes"), derive_seed(2, "sizes"));
        assert_ne!(derive_seed(1, "sizes"), derive_seed(1, "places"));
    }
}
