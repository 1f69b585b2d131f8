//! Where blocks lie: cylinder by cylinder, head by head, sector by sector.

use sledlab_core::{Error, Result};

use super::params::DiskParams;

/// A track: where the arm stands and which head is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskState {
    /// Cylinder, from 0.
    pub cylinder: u32,
    /// Head, from 0.
    pub head: u32,
}

/// Where a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub track: DiskState,
    /// Sector, from 0, in order of blocks.
    pub sector: u64,
    /// Where on the circle that sector begins, in sectors from the index mark: the skews are in it.
    pub slot: u64,
}

/// Cylinders, heads and sectors.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub cylinders: u64,
    pub heads: u64,
    pub sectors: u64,
    track_skew: u64,
    cylinder_skew: u64,
}

impl Geometry {
    /// The geometry of a disk.
    ///
    /// # Errors
    /// A skew of a whole turn or more.
    pub fn new(params: &DiskParams) -> Result<Self> {
        let sectors = params.sectors_per_track;
        let skews = [
            ("track_skew_sectors", params.track_skew_sectors),
            ("cylinder_skew_sectors", params.cylinder_skew_sectors),
        ];
        for (key, skew) in skews {
            if skew >= sectors {
                return Err(Error::user(format!(
                    "device.{key} = {skew} is a whole turn of {sectors} sectors or more"
                ))
                .with_remedy(format!("choose from 0 to {}", sectors - 1)));
            }
        }
        Ok(Geometry {
            cylinders: params.cylinders,
            heads: params.heads,
            sectors,
            track_skew: params.track_skew_sectors,
            cylinder_skew: params.cylinder_skew_sectors,
        })
    }

    pub fn capacity_blocks(&self) -> u64 {
        self.cylinders * self.heads * self.sectors
    }

    pub fn place(&self, lbn: u64) -> Place {
        let (track, sector) = (lbn / self.sectors, lbn % self.sectors);
        let (cylinder, head) = (track / self.heads, track % self.heads);
        let cylinder_skew = self.cylinder_skew + (self.heads - 1) * self.track_skew;
        let slot = (cylinder * cylinder_skew + head * self.track_skew + sector) % self.sectors;
        Place { track: DiskState { cylinder: cylinder as u32, head: head as u32 }, sector, slot }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> DiskParams {
        DiskParams {
            cylinders: 10,
            heads: 2,
            sectors_per_track: 8,
            track_skew_sectors: 2,
            cylinder_skew_sectors: 3,
            ..DiskParams::default()
        }
    }

    #[test]
    fn blocks_fill_tracks_then_cylinders_each_behind_its_skew() {
        let geometry = Geometry::new(&params()).unwrap();
        assert_eq!(geometry.capacity_blocks(), 160);
        let found = [0, 7, 8, 16, 24, 33].map(|lbn| {
            let Place { track, sector, slot } = geometry.place(lbn);
            (track.cylinder, track.head, sector, slot)
        });
        let expected = [(0, 0, 0, 0), (0, 0, 7, 7), (0, 1, 0, 2), (1, 0, 0, 5), (1, 1, 0, 7), (2, 0, 1, 3)];
        assert_eq!(found, expected);
    }

    #[test]
    fn refuses_skews_of_a_turn() {
        let skewed = DiskParams { cylinder_skew_sectors: 8, ..params() };
        let message = Geometry::new(&skewed).unwrap_err().to_string();
        assert!(
            message.contains("device.cylinder_skew_sectors = 8 is a whole turn of 8 sectors"),
            "{message}"
        );
    }
}
