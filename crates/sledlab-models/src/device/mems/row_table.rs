//! A table of the times in y between all row starts.
//!
//! A sled that has finished a pass stands at one of `2 (rows + 1)` places: at the upward start of the next row moving
//! up, or at the downward start of the row below moving down. From each of them the sled can move to `2 rows` starts.
//! A table of all pairs turns a y seek into one look-up.

use sledlab_core::Span;

use super::axis::Axis;
use super::geometry::Geometry;
use super::kinematics::{Heading, Kinematics, y_time};
use super::state::SledState;

/// Maximum rows of a table: a larger table does not justify its memory, and costs are then computed each time.
const MAX_ROWS: u32 = 256;

/// Time in y to a row start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCost {
    /// The base seek, in ns.
    seek_ns: u32,
    /// Turnarounds before and after the base seek, in ns.
    turnaround_ns: u32,
}

impl RowCost {
    /// Cost from `state` to the start of `row` in `direction`, while x moves.
    pub(super) fn compute(
        geometry: &Geometry,
        kinematics: &dyn Kinematics,
        axis: &Axis,
        state: SledState,
        (row, direction): (u32, i8),
    ) -> Self {
        let bit_m = geometry.bit_m;
        let target_bit = geometry.start(row, direction);
        let y = y_time(
            kinematics,
            axis,
            geometry.velocity_m_s,
            Heading { position_m: f64::from(state.y_bit) * bit_m, direction: f64::from(state.direction) },
            Heading { position_m: f64::from(target_bit) * bit_m, direction: f64::from(direction) },
            true,
        );
        let ns = |seconds| u32::try_from(Span::from_seconds(seconds).as_ns()).unwrap_or(u32::MAX);
        RowCost { seek_ns: ns(y.base_s), turnaround_ns: ns(y.turnaround_s) }
    }

    pub fn seek(self) -> Span {
        Span::from_ns(self.seek_ns.into())
    }

    pub fn turnaround(self) -> Span {
        Span::from_ns(self.turnaround_ns.into())
    }

    pub fn total(self) -> Span {
        self.seek() + self.turnaround()
    }
}

/// A line of the table: the number of the state from which its moves start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line(usize);

impl Line {
    pub fn index(self) -> usize {
        self.0
    }
}

/// Costs from every state in which a pass can end to every row start, while x moves too.
#[derive(Debug)]
pub(super) struct RowTable {
    rows: u32,
    costs: Vec<RowCost>,
}

impl RowTable {
    pub fn new(geometry: &Geometry, kinematics: &dyn Kinematics, axis: &Axis) -> Self {
        let rows = geometry.rows;
        if rows > MAX_ROWS {
            return RowTable { rows, costs: Vec::new() };
        }
        let targets = || (0..rows).flat_map(|row| [(row, 1), (row, -1)]);
        let cost = |state, target| RowCost::compute(geometry, kinematics, axis, state, target);
        let costs =
            ends(geometry).flat_map(|state| targets().map(move |target| cost(state, target))).collect();
        RowTable { rows, costs }
    }

    /// The states of all lines of the table, in order; x is that of the center.
    pub fn states(&self, geometry: &Geometry) -> impl Iterator<Item = SledState> {
        ends(geometry).take(if self.costs.is_empty() { 0 } else { usize::MAX })
    }

    /// The cost from the state of `line` to the start of `row` in `direction`.
    #[inline]
    pub fn cost(&self, line: Line, row: u32, direction: i8) -> RowCost {
        self.costs[line.0 * 2 * self.rows as usize + 2 * row as usize + usize::from(direction < 0)]
    }

    /// The line of the state in which a pass over `row` in `direction` ends.
    #[inline]
    pub fn end_line(&self, row: u32, direction: i8) -> Option<Line> {
        let line = if direction > 0 { row + 1 } else { self.rows + 1 + row };
        (!self.costs.is_empty()).then_some(Line(line as usize))
    }

    /// The line of `state` if a pass can end in it; `None` for others (after a drift, at the center).
    #[inline]
    pub fn line(&self, geometry: &Geometry, state: SledState) -> Option<Line> {
        if self.costs.is_empty() {
            return None;
        }
        let (first, offset) = if state.direction > 0 {
            (geometry.up_start(0), 0)
        } else {
            (geometry.down_end(0), self.rows as usize + 1)
        };
        let pitch = geometry.pitch_bits.cast_unsigned();
        let bits_above = u32::try_from(state.y_bit - first).ok()?;
        let step = bits_above / pitch;
        (bits_above == step * pitch && step <= self.rows).then_some(Line(offset + step as usize))
    }
}

/// States in which passes can end: upwards at the upward start of each row and above the last row, downwards
/// likewise.
fn ends(geometry: &Geometry) -> impl Iterator<Item = SledState> {
    let (rows, pitch) = (geometry.rows as i32, geometry.pitch_bits);
    [(1_i8, geometry.up_start(0)), (-1, geometry.down_end(0))].into_iter().flat_map(
        move |(direction, first)| {
            (0..=rows).map(move |step| SledState { x_bit: 0, y_bit: first + step * pitch, direction })
        },
    )
}
