//! A digest of a per-request table.

use sledlab_sim::Rows;

/// Compares the per-request tables of a live run and of its replay without keeping either: equal tables have equal
/// digests, in whatever chunks their rows come, and different tables practically never do.
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
    /// Adds the next rows of a table.
    pub fn update(&mut self, rows: &Rows) {
        let (times, energies) = (rows.columns(), rows.energies());
        for (index, (_, column)) in times.iter().enumerate() {
            self.update_column(index, column.iter().copied());
        }
        for (index, (_, column)) in (times.len()..).zip(&energies) {
            self.update_column(index, column.iter().map(|energy| energy.to_bits()));
        }
        let index = times.len() + energies.len();
        self.update_column(index, rows.op.iter().copied().map(u64::from));
        if !rows.device.is_empty() {
            self.update_column(index + 1, rows.device.iter().copied());
        }
    }

    /// Adds the next values of the column at `index`: first the columns of times, then those of energies, then `op` and
    /// `device`, in the order of [`Rows`].
    pub fn update_column(&mut self, index: usize, values: impl Iterator<Item = u64>) {
        if self.columns.len() <= index {
            self.columns.resize(index + 1, 0);
        }
        self.columns[index] = values.fold(self.columns[index], mix);
    }

    /// The digest of all rows so far.
    pub fn value(&self) -> u64 {
        self.columns.iter().copied().fold(0, mix)
    }
}

/// Mixes a value into the state; the same on every machine and in every version.
fn mix(state: u64, value: u64) -> u64 {
    // One is added so that zeroes change the state too.
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
        fn digest_does_not_depend_on_chunks(
            ids in prop::collection::vec(0_u64..3, 2..50),
            cut in 0.0..1.0,
            at in 0.0..1.0,
        ) {
            let digest = |parts: &[&[u64]]| {
                let mut digest = RowsDigest::default();
                for part in parts {
                    digest.update(&rows(part));
                }
                digest.value()
            };
            let whole = digest(&[&ids]);
            let (front, back) = ids.split_at((cut * ids.len() as f64) as usize);
            prop_assert_eq!(digest(&[front, back]), whole);
            let mut changed = ids.clone();
            changed[(at * ids.len() as f64) as usize] ^= 1;
            prop_assert_ne!(digest(&[&changed]), whole);
            prop_assert_ne!(digest(&[&ids[1..]]), whole);
        }
    }
}
