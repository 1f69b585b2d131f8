//! Two classes of data, each in a part of its own (SC-25, Like et al. 2008).
//!
//! The abstract, all that is known of the paper, divides the medium into two parts for two classes of files. The rest is
//! ours: the first addresses are the class of small data. It fills the columns at the centre in the order of y, so that
//! a request needs the tips of one block and many requests meet at one position. The other class goes row by row
//! through the columns around them, where one request has all tips.

use super::{Geometry, Layout, Place, RowFirst, YSequential};

/// Small data at the centre, sequential in y; all else around them, row-first.
#[derive(Clone, Debug)]
pub struct TwoClass {
    small: YSequential,
    large: RowFirst,
    small_blocks: u64,
    /// The columns of small data.
    first_cylinder: u32,
    cylinders: u32,
}

impl TwoClass {
    /// With `small_share` of the columns for small data, of two or more columns at least one for either class.
    pub fn new(geometry: &Geometry, small_share: f64) -> Self {
        let most = geometry.cylinders.saturating_sub(1).max(1);
        let cylinders = (small_share * f64::from(geometry.cylinders)).round().clamp(1.0, most.into()) as u32;
        let small = geometry.with_cylinders(cylinders);
        TwoClass {
            small: YSequential::new(&small),
            // A sled of a single column has no large data; what stands for them here is never asked.
            large: RowFirst::new(&geometry.with_cylinders((geometry.cylinders - cylinders).max(1))),
            small_blocks: small.blocks,
            first_cylinder: (geometry.cylinders - cylinders) / 2,
            cylinders,
        }
    }

    fn small_place(&self, place: Place) -> Place {
        Place { cylinder: place.cylinder + self.first_cylinder, ..place }
    }

    fn large_place(&self, place: Place) -> Place {
        let beyond = if place.cylinder < self.first_cylinder { 0 } else { self.cylinders };
        Place { cylinder: place.cylinder + beyond, ..place }
    }
}

impl Layout for TwoClass {
    fn place(&self, lbn: u64) -> Place {
        self.place_and_run(lbn, 1).0
    }

    fn lbn(&self, place: Place) -> u64 {
        let Place { cylinder, .. } = place;
        let end = self.first_cylinder + self.cylinders;
        if (self.first_cylinder..end).contains(&cylinder) {
            return self.small.lbn(Place { cylinder: cylinder - self.first_cylinder, ..place });
        }
        let beyond = if cylinder < self.first_cylinder { 0 } else { self.cylinders };
        self.small_blocks + self.large.lbn(Place { cylinder: cylinder - beyond, ..place })
    }

    fn run(&self, lbn: u64, most: u32) -> u32 {
        self.place_and_run(lbn, most).1
    }

    #[inline]
    fn place_and_run(&self, lbn: u64, most: u32) -> (Place, u32) {
        match lbn.checked_sub(self.small_blocks) {
            None => {
                let (place, run) = self.small.place_and_run(lbn, most);
                (self.small_place(place), run)
            }
            Some(lbn) => {
                let (place, run) = self.large.place_and_run(lbn, most);
                (self.large_place(place), run)
            }
        }
    }
}
