//! Times in y from a state of the sled to tiles of rows, while x moves too.

use super::super::sled::{Sled, SledState};
use super::row_time;

/// Least and most times in ns to rows, pairs of rows, fours and so on.
#[derive(Debug)]
pub(super) struct YTimes {
    parities: u32,
    /// By the bits of a tile's size: where its times begin.
    begins: Vec<u32>,
    /// Least and most, by tile and parity of the column.
    times: Vec<(u32, u32)>,
    /// Rows in order of their times, for each parity.
    orders: Vec<Vec<u32>>,
}

impl YTimes {
    pub fn new(sled: &Sled, state: SledState) -> Self {
        let (rows, parities) = (sled.geometry.rows, sled.parities());
        let places = (0..rows).flat_map(|row| (0..parities).map(move |parity| (row, parity)));
        let mut times: Vec<(u32, u32)> = places
            .map(|(row, parity)| row_time(sled, state, row, parity) as u32)
            .map(|time| (time, time))
            .collect();
        let (mut begins, mut begin, mut tiles) = (vec![0], 0, rows);
        while tiles > 1 {
            let below = |tile: u32, parity: u32| times[(begin + tile * parities + parity) as usize];
            let joined = |(tile, parity): (u32, u32)| {
                let (first, last) = (below(2 * tile, parity), below((2 * tile + 1).min(tiles - 1), parity));
                (first.0.min(last.0), first.1.max(last.1))
            };
            let above =
                (0..tiles.div_ceil(2)).flat_map(|tile| (0..parities).map(move |parity| (tile, parity)));
            let above: Vec<_> = above.map(joined).collect();
            begin = times.len() as u32;
            begins.push(begin);
            times.extend(above);
            tiles = tiles.div_ceil(2);
        }
        let order = |parity: u32| {
            let mut order: Vec<u32> = (0..rows).collect();
            order.sort_by_key(|row| times[(row * parities + parity) as usize]);
            order
        };
        YTimes { parities, orders: (0..parities).map(order).collect(), begins, times }
    }

    /// Rows in order of their times in columns of a parity.
    pub fn order(&self, parity: u32) -> &[u32] {
        &self.orders[parity as usize]
    }

    /// Least and most time to the rows of a tile, which are two to the power of `bits`, in columns of a parity.
    #[inline]
    pub fn of(&self, bits: u32, tile: u32, parity: u32) -> (u64, u64) {
        let (least, most) = self.times[(self.begins[bits as usize] + tile * self.parities + parity) as usize];
        (least.into(), most.into())
    }
}
