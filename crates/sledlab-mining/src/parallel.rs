//! Work on contiguous parts of a range, one thread for each part.

use std::ops::Range;
use std::thread;

use sledlab_core::{Error, Result};

/// The maximum number of threads, above the processor count of current machines. Each has its own counters, which take
/// memory.
const MAX_THREADS: usize = 256;

/// Splits `0..len` into contiguous parts, runs `work` on each in its own thread, and returns the results in order.
///
/// There are `threads` parts (0: one per processor), or fewer if a part would have less than `min_part_len` elements.
/// The error of the first failing part is returned, so it does not depend on which thread is faster.
pub(crate) fn map_parts<T: Send>(
    len: usize,
    min_part_len: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { processors() } else { threads };
    let parts = threads.min(MAX_THREADS).min(len.div_ceil(min_part_len)).max(1);
    if parts == 1 {
        return Ok(vec![work(0..len)?]);
    }
    // In 128 bits: the product of a length and a number of threads may not fit into 64.
    let boundary = |part: usize| (len as u128 * part as u128 / parts as u128) as usize;
    let work = &work;
    thread::scope(|scope| {
        let spawned: Vec<_> = (0..parts)
            .map(|part| {
                let range = boundary(part)..boundary(part + 1);
                thread::Builder::new().spawn_scoped(scope, move || work(range))
            })
            .collect();
        let join = |handle: std::io::Result<thread::ScopedJoinHandle<'_, Result<T>>>| {
            let thread = handle.map_err(|error| {
                Error::user(format!("cannot start a thread: {error}")).with_remedy("use fewer threads")
            })?;
            thread.join().unwrap_or_else(|_| Err(Error::internal("a counting thread panicked")))
        };
        // Join all threads before returning the first error: the scope would propagate the panic of a thread that
        // was not joined.
        let results: Vec<Result<T>> = spawned.into_iter().map(join).collect();
        results.into_iter().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_range_in_order() {
        for (len, threads) in [(0, 3), (1, 2), (10, 3), (1000, 7), (5, 9), (100, 0)] {
            let parts = map_parts(len, 2, threads, |range| Ok(range.collect::<Vec<_>>())).expect("parts");
            assert_eq!(parts.concat(), (0..len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn first_failing_part_determines_error() {
        let fail = |range: Range<usize>| Err::<(), _>(Error::user(format!("at {}", range.start)));
        assert_eq!(map_parts(100, 1, 4, fail).expect_err("an error").message(), "at 0");
    }
}
