//! Positions on a sled, counted in bits, and the times that follow from them.
//!
//! The rules are those of the reference simulator, integer divisions included:
//! positions are bits from the rest position of the sled, a row of tip sectors is read
//! upwards from its servo to the end of its data or downwards from the servo that follows it.

use sledlab_core::{BLOCK_BYTES, Error, Result, Span};

use super::params::MemsParams;

/// Bits that store one byte on the medium, error correction included (Chiu 2004, Table 1).
const BITS_PER_BYTE: f64 = 10.0;

/// The geometry of one sled.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Number of cylinders: positions in x.
    pub cylinders: u32,
    /// Rows of tip sectors in a column.
    pub rows: u32,
    /// Groups of tips that can be active at once; each gives a cylinder one track.
    pub tracks: u32,
    /// Blocks in a row of a track, accessed in parallel.
    pub cells: u32,
    /// Blocks in a track: rows times cells.
    pub blocks_per_track: u32,
    /// Blocks in a cylinder.
    pub blocks_per_cylinder: u64,
    /// Blocks of the sled.
    pub blocks: u64,
    /// Cylinder at the rest position: `x = cylinder - x_origin_bit`.
    pub x_origin_bit: i32,
    /// Bits from one row to the next: servo and data.
    pub pitch_bits: i32,
    /// Servo bits before (and after) a row.
    pub servo_bits: i32,
    /// Data bits of a row.
    pub sector_bits: i32,
    /// Distance in bits of the servo of row 0 below the rest position.
    pub y_shift_bits: i32,
    /// Width and height of a bit, in meters.
    pub bit_m: f64,
    /// Speed of the sled while it reads or writes, in meters per second.
    pub velocity_m_s: f64,
    bit_rate_hz: f64,
    /// Settling after a move in x, in seconds.
    pub settle_s: f64,
    raw_bits: f64,
    /// Tips that can be active at once.
    pub active_tips: u64,
}

impl Geometry {
    /// The geometry that `params` describe. A device without a single block is an error of
    /// the user, and so is one too large to count.
    pub fn new(params: &MemsParams) -> Result<Geometry> {
        let x_bits = bits(params.travel_x_um, params.bit_nm);
        let y_bits = bits(params.travel_y_um, params.bit_nm);
        let pitch = params.servo_bits + params.tip_sector_bits;
        let counts = Counts {
            cylinders: x_bits,
            rows: y_bits.saturating_sub(params.servo_bits) / pitch.max(1),
            tracks: params.usable_tips / params.active_tips.max(1),
            cells: params.active_tips / params.tips_of_block().max(1),
        };
        counts.check(params, y_bits)?;
        let too_large = || overflow_error(&counts);
        let to_u32 = |count: u64| u32::try_from(count).map_err(|_| too_large());
        let blocks_per_track = to_u32(counts.rows * counts.cells)?;
        let blocks_per_cylinder = u64::from(blocks_per_track) * counts.tracks;
        let blocks = blocks_per_cylinder
            .checked_mul(counts.cylinders)
            .filter(|blocks| *blocks <= u64::MAX / BLOCK_BYTES)
            .ok_or_else(too_large)?;
        let to_i32 = |bits: u64| i32::try_from(bits).map_err(|_| too_large());
        let bit_rate_hz = params.tip_rate_kbit_s * 1e3;
        let bit_m = params.bit_nm * 1e-9;
        Ok(Geometry {
            cylinders: to_u32(counts.cylinders)?,
            rows: to_u32(counts.rows)?,
            tracks: to_u32(counts.tracks)?,
            cells: to_u32(counts.cells)?,
            blocks_per_track,
            blocks_per_cylinder,
            blocks,
            x_origin_bit: to_i32(x_bits / 2)?,
            pitch_bits: to_i32(pitch)?,
            servo_bits: to_i32(params.servo_bits)?,
            sector_bits: to_i32(params.tip_sector_bits)?,
            y_shift_bits: to_i32(u64::midpoint(counts.rows * pitch, params.servo_bits))?,
            bit_m,
            velocity_m_s: bit_rate_hz * bit_m,
            bit_rate_hz,
            settle_s: params.settle_constants / (std::f64::consts::TAU * params.resonant_hz),
            raw_bits: params.usable_tips as f64 * x_bits as f64 * y_bits as f64,
            active_tips: params.active_tips,
        })
    }

    /// The geometry of a sled with only the first `cylinders` cylinders of this one.
    #[must_use]
    pub fn with_cylinders(&self, cylinders: u32) -> Geometry {
        Geometry { cylinders, blocks: u64::from(cylinders) * self.blocks_per_cylinder, ..self.clone() }
    }

    /// Position in x of a cylinder, in bits.
    #[inline]
    pub fn x_bit(&self, cylinder: u32) -> i32 {
        cylinder as i32 - self.x_origin_bit
    }

    /// Returns the start of an upward pass over `row` (its servo), in bits.
    #[inline]
    pub fn up_start(&self, row: u32) -> i32 {
        row as i32 * self.pitch_bits - self.y_shift_bits
    }

    /// Returns the end of an upward pass over `row`: the upward start of the next row.
    #[inline]
    pub fn up_end(&self, row: u32) -> i32 {
        self.up_start(row) + self.pitch_bits
    }

    /// Returns the start of a downward pass over `row` (the servo after its data), in bits.
    #[inline]
    pub fn down_start(&self, row: u32) -> i32 {
        self.up_end(row) + self.servo_bits
    }

    /// Returns the end of a downward pass over `row`: the downward start of the previous row.
    #[inline]
    pub fn down_end(&self, row: u32) -> i32 {
        self.up_start(row) + self.servo_bits
    }

    /// Returns the start of a pass over `row` in `direction` (+1 or -1), with servo bits.
    pub fn start(&self, row: u32, direction: i8) -> i32 {
        if direction > 0 { self.up_start(row) } else { self.down_start(row) }
    }

    /// Bits in y to the nearer start of `row`.
    pub fn distance_y(&self, y_bit: i32, row: u32) -> u32 {
        self.up_start(row).abs_diff(y_bit).min(self.down_start(row).abs_diff(y_bit))
    }

    /// The row whose pass in `direction` starts at `y_bit`, if there is one.
    pub fn row_starting_at(&self, y_bit: i32, direction: i8) -> Option<u32> {
        let above = y_bit - self.start(0, direction);
        let row = u32::try_from(above / self.pitch_bits).ok()?;
        (above >= 0 && above % self.pitch_bits == 0 && row < self.rows).then_some(row)
    }

    /// Returns the end of a pass over `row` in `direction` (+1 or -1).
    pub fn end(&self, row: u32, direction: i8) -> i32 {
        if direction > 0 { self.up_end(row) } else { self.down_end(row) }
    }

    /// The block at which the reference simulator parks a sled: the middle one of the middle cylinder. With an even
    /// number of tracks it lies in the first row or the last.
    pub fn center_block(&self) -> u64 {
        u64::from(self.cylinders / 2) * self.blocks_per_cylinder + self.blocks_per_cylinder / 2
    }

    /// The cylinder and the row at the center of the medium.
    pub fn center(&self) -> (u32, u32) {
        (self.cylinders / 2, self.rows / 2)
    }

    /// Time of one pass over a row: servo and data.
    pub fn row_time(&self) -> Span {
        Span::from_seconds(f64::from(self.pitch_bits) / self.bit_rate_hz)
    }

    /// Time of the servo bits of a row.
    pub fn servo_time(&self) -> Span {
        Span::from_seconds(f64::from(self.servo_bits) / self.bit_rate_hz)
    }

    /// Settling after a move in x.
    pub fn settle(&self) -> Span {
        Span::from_seconds(self.settle_s)
    }

    /// Bytes in the blocks of the sled.
    pub fn capacity_bytes(&self) -> u64 {
        self.blocks * BLOCK_BYTES
    }

    /// Capacity as device tables print it: every bit in reach of a tip, servo and unused
    /// edges included, ten bits to a byte (Chiu 2004, Table 1).
    pub fn raw_capacity_bytes(&self) -> u64 {
        (self.raw_bits / BITS_PER_BYTE) as u64
    }

    /// Peak data rate as device tables print it: all active tips, ten bits to a byte, no
    /// servo, in bytes per second (Chiu 2004, Table 1).
    pub fn peak_rate_bytes_s(&self) -> f64 {
        self.active_tips as f64 * self.bit_rate_hz / BITS_PER_BYTE
    }

    /// Data rate of a long stream with its servo bits, in bytes per second.
    pub fn streaming_rate_bytes_s(&self) -> f64 {
        let row_s = f64::from(self.pitch_bits) / self.bit_rate_hz;
        f64::from(self.cells) * BLOCK_BYTES as f64 / row_s
    }
}

/// Returns the number of complete bits along `travel_um`. The small addend keeps a quotient that should be an integer
/// from losing a bit because its decimal fractions were rounded.
fn bits(travel_um: f64, bit_nm: f64) -> u64 {
    (travel_um * 1e3 / bit_nm + 1e-6) as u64
}

/// The factors whose product is the number of blocks.
struct Counts {
    cylinders: u64,
    rows: u64,
    tracks: u64,
    cells: u64,
}

impl Counts {
    /// Checks that the device has blocks; the error names the first factor that is 0.
    fn check(&self, params: &MemsParams, y_bits: u64) -> Result<()> {
        let (bit_nm, pitch) = (params.bit_nm, params.servo_bits + params.tip_sector_bits);
        let empty = |message: String, remedy: &str| {
            Err(Error::user(format!("the device has no blocks: {message}")).with_remedy(remedy))
        };
        if self.cylinders == 0 {
            let message =
                format!("a bit of {bit_nm} nm does not fit in travel_x_um = {}", params.travel_x_um);
            return empty(message, "raise travel_x_um or lower bit_nm");
        }
        if self.rows == 0 {
            let message = format!(
                "travel_y_um = {} holds {y_bits} bits, a row needs {} (tip_sector_bits and two times servo_bits)",
                params.travel_y_um,
                pitch + params.servo_bits,
            );
            return empty(message, "raise travel_y_um, or lower bit_nm, tip_sector_bits or servo_bits");
        }
        if self.tracks == 0 {
            let message =
                format!("active_tips = {} of usable_tips = {}", params.active_tips, params.usable_tips);
            return empty(message, "lower active_tips to usable_tips at most");
        }
        if self.cells == 0 {
            let redundant = match params.redundant_tips {
                0 => String::new(),
                redundant => format!(" and redundant_tips = {redundant}"),
            };
            let message = format!(
                "a block needs tips_per_block = {} tips{redundant}, active_tips = {}",
                params.tips_per_block, params.active_tips
            );
            return empty(message, "raise active_tips to what a block needs at least");
        }
        Ok(())
    }
}

fn overflow_error(counts: &Counts) -> Error {
    let Counts { cylinders, rows, tracks, cells } = counts;
    Error::user(format!(
        "the device is too large: {cylinders} cylinders of {tracks} tracks of {rows} rows of {cells} blocks"
    ))
    .with_remedy("raise bit_nm, or lower travel_x_um, travel_y_um or usable_tips")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(change: impl Fn(&mut MemsParams)) -> String {
        let mut params = MemsParams::default();
        change(&mut params);
        Geometry::new(&params).unwrap_err().to_string()
    }

    #[test]
    fn g2_matches_published_geometry() {
        let g2 = Geometry::new(&MemsParams::default()).unwrap();
        assert_eq!((g2.cylinders, g2.rows, g2.tracks, g2.cells), (2500, 27, 5, 20));
        assert_eq!((g2.blocks_per_track, g2.blocks_per_cylinder, g2.blocks), (540, 2700, 6_750_000));
        assert_eq!((g2.y_shift_bits, g2.center_block(), g2.center()), (1220, 3_376_350, (1250, 13)));
        assert_eq!(g2.raw_capacity_bytes(), 4_000_000_000);
        assert!((g2.peak_rate_bytes_s() - 89.6e6).abs() < 1.0);
        assert!((g2.streaming_rate_bytes_s() - 79.64e6).abs() < 1e4);
        assert_eq!((g2.row_time().as_ns(), g2.settle().as_ns()), (128_571, 215_365));
    }

    #[test]
    fn a_pass_ends_where_the_next_begins() {
        let g2 = Geometry::new(&MemsParams::default()).unwrap();
        for row in 1..g2.rows {
            assert_eq!(g2.up_end(row - 1), g2.up_start(row));
            assert_eq!(g2.down_end(row), g2.down_start(row - 1));
        }
        // Upward and downward starts lie symmetrically around the center.
        assert_eq!(g2.up_start(0), -g2.down_start(g2.rows - 1));
    }

    #[test]
    fn error_names_first_zero_factor() {
        assert!(message(|p| p.travel_x_um = 0.01).contains("travel_x_um = 0.01"));
        assert!(message(|p| p.travel_y_um = 3.9).contains("97 bits, a row needs 100"));
        assert!(message(|p| p.active_tips = 6401).contains("active_tips = 6401 of usable_tips = 6400"));
        assert!(message(|p| p.active_tips = 63).contains("tips_per_block = 64 tips, active_tips = 63"));
        let set_huge = |p: &mut MemsParams| {
            (p.bit_nm, p.travel_x_um, p.travel_y_um) = (1.0, 10_000.0, 10_000.0);
            (p.usable_tips, p.active_tips, p.tips_per_block) = (10_000_000, 10_000_000, 1);
        };
        assert!(message(set_huge).contains("too large"));
    }

    #[test]
    fn redundant_tips_cost_capacity() {
        let blocks = |redundant_tips| {
            let params = MemsParams { redundant_tips, ..MemsParams::default() };
            Geometry::new(&params).map(|geometry| (geometry.cells, geometry.tracks, geometry.blocks))
        };
        // Of 1280 active tips, 17 blocks of 64 + 8 tips leave 56 unused.
        assert_eq!(blocks(8).unwrap(), (17, 5, 5_737_500));
        assert_eq!(blocks(16).unwrap(), (16, 5, 5_400_000));
        assert!(blocks(1217).is_err());
    }

    #[test]
    fn decimal_fractions_lose_no_bit() {
        // Quotients such as 100 um / 0.1 um are not integers in binary floating point.
        for bit_nm in [10.0, 20.0, 30.0, 40.0, 50.0, 70.0, 0.1e3] {
            let params =
                MemsParams { bit_nm, travel_x_um: bit_nm * 1234.0 / 1000.0, ..MemsParams::default() };
            assert_eq!(Geometry::new(&params).unwrap().cylinders, 1234);
        }
    }
}
