//! Times in y from every state in which a pass can end, and bounds of times in x between strips of cylinders: computed
//! once for all indexes of a sled.

use std::sync::OnceLock;

use super::sled::Sled;
use super::state::SledState;

/// Most strips into which the cylinders of a sled are divided.
const MAX_STRIPS: usize = 256;

/// Minimum and maximum times in x to any other cylinder of each strip, with settling, in ns.
#[derive(Debug)]
pub(super) struct XTimes {
    pub min_ns: [u32; MAX_STRIPS],
    pub max_ns: [u32; MAX_STRIPS],
}

/// The costs of one sled.
#[derive(Debug)]
pub(super) struct Costs {
    /// Times in ns by line of the row table, parity of the column and row, while x moves.
    y: Vec<u32>,
    /// Number of times of a line.
    line: usize,
    /// Width of a strip, in cylinders, as a power of two.
    strip_bits: u32,
    /// By strip of departure: times to all strips.
    x: Vec<OnceLock<Box<XTimes>>>,
}

impl Costs {
    pub fn new(sled: &Sled) -> Self {
        let cylinders = sled.geometry.cylinders;
        let strip_bits = (0..u32::BITS).find(|bits| strip_of(cylinders - 1, *bits) < MAX_STRIPS).unwrap_or(0);
        let y = sled.rows.states(&sled.geometry).flat_map(|state| y_times(sled, state)).collect();
        let line = (sled.geometry.rows * sled.parities()) as usize;
        let strips = strip_of(cylinders - 1, strip_bits) + 1;
        Costs { y, line, strip_bits, x: (0..strips).map(|_| OnceLock::new()).collect() }
    }

    /// Width of a strip, in cylinders, as a power of two.
    pub fn strip_bits(&self) -> u32 {
        self.strip_bits
    }

    /// The strip of a cylinder.
    #[inline]
    pub fn strip(&self, cylinder: u32) -> u8 {
        strip_of(cylinder, self.strip_bits) as u8
    }

    /// First and last cylinder of a strip.
    fn cylinders(&self, strip: usize, sled: &Sled) -> (u32, u32) {
        let first = (strip as u32) << self.strip_bits;
        (first, (first + (1 << self.strip_bits) - 1).min(sled.geometry.cylinders - 1))
    }

    /// Times to all rows from the state of a line of the row table.
    #[inline]
    pub fn y_times(&self, line: usize) -> &[u32] {
        &self.y[line * self.line..][..self.line]
    }

    /// Times from any cylinder of a strip to any other cylinder of each strip.
    #[inline]
    pub fn x_times(&self, strip: u8, sled: &Sled) -> &XTimes {
        self.x[usize::from(strip)].get_or_init(|| {
            let mut times = Box::new(XTimes { min_ns: [0; MAX_STRIPS], max_ns: [u32::MAX; MAX_STRIPS] });
            for to in 0..self.x.len() {
                (times.min_ns[to], times.max_ns[to]) = self.x_range(strip.into(), to, sled);
            }
            times
        })
    }

    /// Minimum and maximum time between two strips. The times grow with the distance on either side, so the nearest and
    /// farthest cylinders bound them; a nanosecond allows for rounding.
    fn x_range(&self, from: usize, to: usize, sled: &Sled) -> (u32, u32) {
        let (left, right) = if from <= to { (from, to) } else { (to, from) };
        let (left, right) = (self.cylinders(left, sled), self.cylinders(right, sled));
        let time = |from: u32, to: u32| {
            let bits = [from, to].map(|cylinder| sled.geometry.x_bit(cylinder));
            sled.estimated_x_time(bits[0], bits[1]).as_ns() as u32
        };
        let min_ns = if from == to {
            (left.0..left.1).map(|cylinder| time(cylinder, cylinder + 1)).min().unwrap_or(0)
        } else {
            time(left.1, right.0)
        };
        (min_ns.saturating_sub(1), time(left.0, right.1) + 1)
    }
}

fn strip_of(cylinder: u32, strip_bits: u32) -> usize {
    (cylinder >> strip_bits) as usize
}

/// Times in ns from `state` to all rows by parity of the column and row, while x moves.
pub(super) fn y_times(sled: &Sled, state: SledState) -> impl Iterator<Item = u32> {
    let places =
        (0..sled.parities()).flat_map(|parity| (0..sled.geometry.rows).map(move |row| (row, parity)));
    places.map(move |(row, parity)| sled.estimated_y_time(state, row, parity, true).as_ns() as u32)
}
