//! Times in y from a state of the sled to rows, while x moves too.

use super::super::sled::{Sled, SledState};
use super::row_time;

/// Times in ns to all rows.
#[derive(Debug)]
pub(super) struct YTimes {
    rows: u32,
    /// Times by parity of the column, then by row.
    times: Vec<u32>,
    /// Rows in order of their times, for each parity.
    orders: Vec<Vec<u32>>,
}

impl YTimes {
    pub fn new(sled: &Sled, state: SledState) -> Self {
        let (rows, parities) = (sled.geometry.rows, sled.parities());
        let places = (0..parities).flat_map(|parity| (0..rows).map(move |row| (row, parity)));
        let times: Vec<u32> = places.map(|(row, parity)| row_time(sled, state, row, parity) as u32).collect();
        let order = |parity: u32| {
            let mut order: Vec<u32> = (0..rows).collect();
            order.sort_by_key(|row| times[(parity * rows + row) as usize]);
            order
        };
        YTimes { rows, orders: (0..parities).map(order).collect(), times }
    }

    /// Rows in order of their times in columns of a parity.
    pub fn order(&self, parity: u32) -> &[u32] {
        &self.orders[parity as usize]
    }

    /// Times to all rows in columns of a parity.
    #[inline]
    pub fn times(&self, parity: u32) -> &[u32] {
        &self.times[(parity * self.rows) as usize..][..self.rows as usize]
    }

    /// Time to a row in columns of a parity.
    #[inline]
    pub fn time(&self, row: u32, parity: u32) -> u64 {
        self.times[(parity * self.rows + row) as usize].into()
    }

    /// Returns the minimum and maximum time to any row in columns of a parity.
    #[inline]
    pub fn range(&self, parity: u32) -> (u64, u64) {
        let order = self.order(parity);
        (self.time(order[0], parity), self.time(order[order.len() - 1], parity))
    }
}
