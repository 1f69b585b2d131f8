//! Tiles of positions at which requests wait.

use std::ops::Range;

use super::lists::List;
use super::weights::Weights;
use crate::device::RequestGroup;

/// The occupied positions of consecutive cylinders in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Tile {
    pub positions: Vec<Position>,
    /// Weights of the positions, if the criterion has weights.
    pub weights: Weights,
}

/// A position with requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    spot: Spot,
    /// The strip of its cylinder in the lowest 8 bits, and the number of the group of requests that wait there.
    strip_and_group: u32,
}

impl Position {
    pub fn new(spot: Spot, strip: u8, group: usize) -> Self {
        Position { spot, strip_and_group: (group as u32) << 8 | u32::from(strip) }
    }

    #[inline]
    pub fn spot(self) -> Spot {
        self.spot
    }

    #[inline]
    pub fn strip(self) -> u8 {
        self.strip_and_group as u8
    }

    #[inline]
    pub fn group(self) -> usize {
        (self.strip_and_group >> 8) as usize
    }
}

/// Where a position lies, in 16 bits each: its cylinder, and the index of its row and the parity of its cylinder in
/// costs in y.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Spot(u32);

impl Spot {
    pub fn new(cylinder: u32, y_at: u32) -> Self {
        Spot(cylinder << 16 | y_at)
    }

    #[inline]
    pub fn cylinder(self) -> u32 {
        self.0 >> 16
    }

    #[inline]
    pub fn y_at(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// The requests that wait at a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub requests: List,
    pub group: RequestGroup,
}

impl Tile {
    /// Number of the first position at or after `spot`.
    #[inline]
    pub fn first_from(&self, spot: Spot) -> usize {
        self.positions.partition_point(|other| other.spot < spot)
    }

    /// Numbers of the positions on a cylinder.
    #[inline]
    pub fn range_of(&self, cylinder: u32) -> Range<usize> {
        let first = self.first_from(Spot::new(cylinder, 0));
        let on_cylinder = |position: &&Position| position.spot.cylinder() == cylinder;
        first..first + self.positions[first..].iter().take_while(on_cylinder).count()
    }

    /// Number of the position at `spot`, if requests wait there.
    #[inline]
    pub fn find(&self, spot: Spot) -> Option<usize> {
        let at = self.first_from(spot);
        self.positions.get(at).is_some_and(|other| other.spot == spot).then_some(at)
    }
}
