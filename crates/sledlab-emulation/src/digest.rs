//! A number that stands for a whole per-request table.

use sledlab_sim::Rows;

/// Compares the tables of a live run and of its replay without keeping either: equal tables have equal digests, however
/// they come in chunks, and different ones practically never.
///
/// ```
/// use sledlab_emulation::RowsDigest;
/// use sledlab_sim::Rows;
///
/// let mut digest = RowsDigest::default();
/// digest.update(&Rows { id: vec![0, 1], op: vec![b'R', b'W'], ..Rows::default() });
/// assert_ne!(digest.value(), RowsDigest::default().value());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowsDigest {
    columns: Vec<u64>,
}

impl RowsDigest {
    /// Takes the next rows.
    pub fn update(&mut self, rows: &Rows) {
        let (times, energies) = (rows.columns(), rows.energies());
        let all = times.len() + energies.len() + 2;
        self.columns.resize(all, 0);
        let mut columns = self.columns.iter_mut();
        let mut next = |values: &mut dyn Iterator<Item = u64>| {
            if let Some(column) = columns.next() {
                *column = values.fold(*column, mix);
            }
        };
        times.iter().for_each(|(_, column)| next(&mut column.iter().copied()));
        energies.iter().for_each(|(_, column)| next(&mut column.iter().map(|energy| energy.to_bits())));
        next(&mut rows.op.iter().map(|op| u64::from(*op)));
        next(&mut rows.device.iter().copied());
    }

    /// The digest of all rows so far.
    pub fn value(&self) -> u64 {
        self.columns.iter().copied().fold(0, mix)
    }
}

/// The same on every machine and in every version.
fn mix(state: u64, value: u64) -> u64 {
    // Zeroes must count too.
    (state.rotate_left(23) ^ value).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(ids: &[u64]) -> Rows {
        Rows { id: ids.to_vec(), op: vec![b'R'; ids.len()], ..Rows::default() }
    }

    proptest! {
        #[test]
        fn is_the_table_s_and_not_that_of_its_chunks(ids in prop::collection::vec(0_u64..3, 2..50), cut in 0.0..1.0, at in 0.0..1.0) {
            let digest = |parts: &[&[u64]]| {
                let mut digest = RowsDigest::default();
                parts.iter().for_each(|part| digest.update(&rows(part)));
                digest.value()
            };
            let whole = digest(&[&ids]);
            let (front, back) = ids.split_at((cut * ids.len() as f64) as usize);
            prop_assert_eq!(digest(&[front, back]), whole);
            let mut other = ids.clone();
            other[(at * ids.len() as f64) as usize] ^= 1;
            prop_assert_ne!(digest(&[&other]), whole);
            prop_assert_ne!(digest(&[&ids[1..]]), whole);
        }
    }
}
