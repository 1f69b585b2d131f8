//! The mechanics of a sled: its state, the places of blocks, and the time and work of each pass.

use std::cmp::Ordering;

use sledlab_core::{BLOCK_BYTES, Error, Result, Span, WORD_BYTES};

use super::address::AddressMap;
use super::axis::Axis;
use super::estimate::Estimate;
use super::geometry::Geometry;
use super::kinematics::{self, Heading, Kinematics};
use super::layout::{self, Layout, Place};
use super::params::{Direction, DirectionTie, MemsParams, Selection, SledMotion};
use super::row_table::{Line, RowCost, RowTable};
use super::state::SledState;
use crate::device::QueueOrder;
use crate::power::MechanicalWork;

/// The state of a sled, and the line of the row table for that state, if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub state: SledState,
    pub line: Option<Line>,
}

/// One pass over a row of tip sectors: a seek, then servo and data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// Column of the row.
    pub x_bit: i32,
    /// The row, from the bottom.
    pub row: u32,
    /// +1 upwards, -1 downwards.
    pub direction: i8,
    /// Consecutive blocks served.
    pub blocks: u32,
    /// Move in x without settling.
    pub seek_x: Span,
    /// Settling.
    pub settle: Span,
    /// Move in y without turnarounds, and turnarounds.
    pub y: RowCost,
}

impl Pass {
    /// x and y move in parallel (Hong 2006, equation 1).
    pub fn positioning(&self) -> Span {
        (self.seek_x + self.settle).max(self.y.total())
    }
}

/// Longest move, in seconds, that tables of times in nanoseconds of 32 bits can hold, rounded down.
const LONGEST_MOVE_S: f64 = 4.0;

/// Refuses a sled whose longest moves take absurdly long; real ones take less than a millisecond.
fn check_speed(geometry: &Geometry, kinematics: &dyn Kinematics, axis_x: &Axis, axis_y: &Axis) -> Result<()> {
    let x_m = |cylinder| f64::from(geometry.x_bit(cylinder)) * geometry.bit_m;
    let stroke_s = kinematics.base_seek_s(axis_x, x_m(0), x_m(geometry.cylinders - 1), 0.0);
    let heading = |row, direction: i8| Heading {
        position_m: f64::from(geometry.start(row, direction)) * geometry.bit_m,
        direction: f64::from(direction),
    };
    let edges = [(0, 1), (0, -1), (geometry.rows - 1, 1), (geometry.rows - 1, -1)];
    let moves = edges.iter().flat_map(|from| edges.iter().map(move |to| (*from, *to)));
    let y_s = moves.map(|(from, to)| {
        let (from, to) = (heading(from.0, from.1), heading(to.0, to.1));
        kinematics::y_time(kinematics, axis_y, geometry.velocity_m_s, from, to, true).total_s()
    });
    let longest_s = y_s.fold(stroke_s, f64::max);
    if longest_s < LONGEST_MOVE_S {
        return Ok(());
    }
    Err(Error::user(format!("the sled is too slow: its longest move would take {longest_s:.3e} s"))
        .with_remedy(
            "raise device.acceleration_x_m_s2 or device.acceleration_y_m_s2, or lower device.tip_rate_kbit_s",
        ))
}

/// Geometry, mechanics and addressing of one sled, or of several that move together.
#[derive(Debug)]
pub(super) struct Sled {
    pub geometry: Geometry,
    pub axis_x: Axis,
    pub axis_y: Axis,
    pub kinematics: Box<dyn Kinematics>,
    pub layout: Box<dyn Layout>,
    pub addresses: AddressMap,
    pub rows: RowTable,
    pub settle: Span,
    pub row_time: Span,
    /// The part of `row_time` after the servo bits.
    pub data_time: Span,
    direction: Direction,
    direction_tie: DirectionTie,
    selection: Selection,
    /// The estimates that schedulers see instead of the mechanics, if any.
    pub estimate: Option<Estimate>,
    tips_of_block: u64,
    /// Tips that hold one word of a block; 0 if blocks are always accessed completely.
    pub tips_per_word: f64,
    /// Active tips over tips with requested words, where a block is accessed in part.
    pub subsector_tip_factor: f64,
    /// Most blocks that one pass can serve on each sled.
    pub blocks_per_pass: u32,
}

impl Sled {
    pub fn new(params: &MemsParams) -> Result<Self> {
        let geometry = Geometry::new(params)?;
        let kinematics = kinematics::build(params.kinematics, params)?;
        let (axis_x, axis_y) = (Axis::x(params), Axis::y(params));
        check_speed(&geometry, kinematics.as_ref(), &axis_x, &axis_y)?;
        let rows = RowTable::new(&geometry, kinematics.as_ref(), &axis_y);
        let sleds = if params.sled_motion == SledMotion::Together { params.sleds } else { 1 };
        let axes = (&axis_x, &axis_y);
        Ok(Sled {
            estimate: Estimate::new(params.selection, &geometry, kinematics.as_ref(), axes),
            axis_x,
            axis_y,
            rows,
            layout: layout::build(params, &geometry),
            addresses: AddressMap::new(params, sleds, geometry.blocks)?,
            settle: geometry.settle(),
            row_time: geometry.row_time(),
            data_time: geometry.row_time().saturating_sub(geometry.servo_time()),
            direction: params.direction,
            direction_tie: params.direction_tie,
            selection: params.selection,
            tips_of_block: params.tips_of_block(),
            tips_per_word: if params.subsector_access {
                params.tips_per_block as f64 * WORD_BYTES as f64 / BLOCK_BYTES as f64
            } else {
                0.0
            },
            subsector_tip_factor: params.subsector_tip_factor,
            blocks_per_pass: geometry.cells,
            kinematics,
            geometry,
        })
    }

    pub fn capacity_blocks(&self) -> u64 {
        self.addresses.capacity_blocks()
    }

    /// The place of block `lbn` on the sled that holds it.
    #[inline]
    pub fn place(&self, lbn: u64) -> Place {
        self.layout.place(self.addresses.local(lbn))
    }

    #[inline]
    pub fn x_bit(&self, place: Place) -> i32 {
        self.geometry.x_bit(place.cylinder)
    }

    /// Returns the place of block `lbn`, and the number of blocks from there, up to `maximum`, that one pass can serve.
    #[inline]
    pub fn place_and_run(&self, lbn: u64, maximum: u32) -> (Place, u32) {
        if self.addresses.sleds() == 1 {
            self.layout.place_and_run(lbn, maximum)
        } else {
            (self.place(lbn), self.run_over_sleds(lbn, maximum))
        }
    }

    /// The number of blocks that one pass can serve on several sleds that move together: blocks at one position of
    /// any sled share a pass, as long as no sled needs more tips than can be active.
    fn run_over_sleds(&self, lbn: u64, maximum: u32) -> u32 {
        let position = |lbn| {
            let Place { cylinder, row, .. } = self.place(lbn);
            (cylinder, row)
        };
        let mut blocks_on_sled = vec![0_u32; self.addresses.sleds() as usize];
        let maximum = u64::from(maximum).min(self.capacity_blocks() - lbn);
        (0..maximum)
            .take_while(|offset| {
                let sled_blocks = &mut blocks_on_sled[self.addresses.sled(lbn + offset) as usize];
                *sled_blocks += 1;
                *sled_blocks <= self.blocks_per_pass && position(lbn + offset) == position(lbn)
            })
            .count() as u32
    }

    /// Time of a move in x, without settling; zero if the sled is at `to_bit` already.
    #[inline]
    pub fn seek_x(&self, from_bit: i32, to_bit: i32) -> Span {
        if from_bit == to_bit {
            return Span::ZERO;
        }
        let bit_m = self.geometry.bit_m;
        let (from_m, to_m) = (f64::from(from_bit) * bit_m, f64::from(to_bit) * bit_m);
        Span::from_seconds(self.kinematics.base_seek_s(&self.axis_x, from_m, to_m, 0.0))
    }

    /// Time of a move in x to `to_bit`, with settling.
    #[inline]
    pub fn x_time(&self, from_bit: i32, to_bit: i32) -> Span {
        if from_bit == to_bit { Span::ZERO } else { self.seek_x(from_bit, to_bit) + self.settle }
    }

    /// Upper bound of all positioning times.
    pub fn longest_positioning(&self) -> Span {
        Span::from_seconds(LONGEST_MOVE_S) + self.settle
    }

    /// Positioning time of block `lbn` as a scheduler sees it.
    pub fn positioning(&self, state: SledState, lbn: u64) -> Span {
        let place = self.place(lbn);
        self.positioning_at(state, place.row, place.cylinder)
    }

    /// Positioning time of a row of a cylinder as a scheduler sees it.
    pub fn positioning_at(&self, state: SledState, row: u32, cylinder: u32) -> Span {
        let x_bit = self.geometry.x_bit(cylinder);
        let y = self.estimated_y_time(state, row, cylinder, x_bit != state.x_bit);
        self.estimated_x_time(state.x_bit, x_bit).max(y)
    }

    /// Time of a move in x to `to_bit`, with settling, as a scheduler sees it.
    #[inline]
    pub fn estimated_x_time(&self, from_bit: i32, to_bit: i32) -> Span {
        match &self.estimate {
            None => self.x_time(from_bit, to_bit),
            Some(estimate) => estimate.x_time(from_bit.abs_diff(to_bit)),
        }
    }

    /// Time of a move in y to a row of a cylinder as a scheduler sees it.
    pub fn estimated_y_time(&self, state: SledState, row: u32, cylinder: u32, x_moves: bool) -> Span {
        if let Some(estimate) = &self.estimate {
            return estimate.y_time(self.geometry.distance_y(state.y_bit, row));
        }
        let time = |direction| self.row_cost(state, row, direction, x_moves).total();
        match self.assumed_direction(cylinder) {
            None => time(1).min(time(-1)),
            Some(direction) => time(direction),
        }
    }

    /// Number of parities of cylinders that schedulers must distinguish: 2 if parity decides the direction, else 1.
    pub fn parities(&self) -> u32 {
        if self.direction == Direction::Parity && self.selection == Selection::Exact { 2 } else { 1 }
    }

    /// The reference simulator sorts its queues by LBN.
    pub fn queue_order(&self) -> QueueOrder {
        if self.selection == Selection::Disksim { QueueOrder::Blocks } else { QueueOrder::Arrival }
    }

    /// The only direction in which a scheduler believes a row of `cylinder` can be read; `None` for either.
    pub fn assumed_direction(&self, cylinder: u32) -> Option<i8> {
        if self.selection == Selection::Exact { self.read_direction(cylinder) } else { None }
    }

    /// The only direction in which a row of `cylinder` is read; `None` for either.
    fn read_direction(&self, cylinder: u32) -> Option<i8> {
        match self.direction {
            Direction::Up => Some(1),
            Direction::Parity => Some(if cylinder.is_multiple_of(2) { 1 } else { -1 }),
            Direction::Free => None,
        }
    }

    /// Time in y to the servo start of `row` in `direction`.
    #[inline]
    pub fn row_cost(&self, state: SledState, row: u32, direction: i8, x_moves: bool) -> RowCost {
        self.row_cost_from_line(self.rows.line(&self.geometry, state), state, row, direction, x_moves)
    }

    /// Returns the cost if the line of the row table for `state` is known.
    #[inline]
    fn row_cost_from_line(
        &self,
        line: Option<Line>,
        state: SledState,
        row: u32,
        direction: i8,
        x_moves: bool,
    ) -> RowCost {
        // Tested in this order, as x nearly always moves, while the direction is a toss-up.
        let can_stay =
            !x_moves && state.direction == direction && state.y_bit == self.geometry.start(row, direction);
        match line {
            _ if can_stay => RowCost::default(),
            Some(line) => self.rows.cost(line, row, direction),
            None => self.compute_row_cost(state, row, direction),
        }
    }

    /// Time in y from a state that is not in the table, while x moves or to another place in y.
    #[cold]
    fn compute_row_cost(&self, state: SledState, row: u32, direction: i8) -> RowCost {
        RowCost::compute(&self.geometry, self.kinematics.as_ref(), &self.axis_y, state, (row, direction))
    }

    /// The pass that serves the first of the `remaining` blocks from `lbn`, and as many of the next as one pass can (up
    /// to `maximum` in all).
    #[inline]
    pub fn plan(&self, Spot { state, line }: Spot, lbn: u64, remaining: u32, maximum: u32) -> Pass {
        let (place, blocks) = self.place_and_run(lbn, remaining.min(maximum));
        let x_bit = self.x_bit(place);
        let x_moves = x_bit != state.x_bit;
        let seek_x = self.seek_x(state.x_bit, x_bit);
        let settle = if x_moves { self.settle } else { Span::ZERO };
        let pass = |direction| Pass {
            x_bit,
            row: place.row,
            direction,
            blocks,
            seek_x,
            settle,
            y: self.row_cost_from_line(line, state, place.row, direction, x_moves),
        };
        if let Some(direction) = self.read_direction(place.cylinder) {
            return pass(direction);
        }
        let (up, down) = (pass(1), pass(-1));
        let goes_down = match up.positioning().cmp(&down.positioning()) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => self.prefers_down(lbn, blocks, remaining, place.row),
        };
        if goes_down { down } else { up }
    }

    /// Whether a pass goes downwards if both directions take equally long.
    fn prefers_down(&self, lbn: u64, blocks: u32, remaining: u32, row: u32) -> bool {
        match self.direction_tie {
            DirectionTie::Down => true,
            DirectionTie::Onward => blocks < remaining && self.place(lbn + u64::from(blocks)).row < row,
        }
    }

    /// Seconds that `pass` from `state` takes, without rounding, when it accesses `bits` bits.
    pub fn exact_pass_s(&self, state: SledState, pass: &Pass, bits: i32) -> f64 {
        let Geometry { bit_m, velocity_m_s, .. } = self.geometry;
        let meters = |bit: i32| f64::from(bit) * bit_m;
        let x_moves = pass.x_bit != state.x_bit;
        let x_s = if x_moves {
            let (from_m, to_m) = (meters(state.x_bit), meters(pass.x_bit));
            self.kinematics.base_seek_s(&self.axis_x, from_m, to_m, 0.0) + self.geometry.settle_s
        } else {
            0.0
        };
        let heading =
            |bit, direction: i8| Heading { position_m: meters(bit), direction: f64::from(direction) };
        let from = heading(state.y_bit, state.direction);
        let to = heading(self.geometry.start(pass.row, pass.direction), pass.direction);
        let y = kinematics::y_time(self.kinematics.as_ref(), &self.axis_y, velocity_m_s, from, to, x_moves);
        x_s.max(y.total_s()) + meters(bits) / velocity_m_s
    }

    /// The state of the sled after servo and data of a pass.
    #[inline]
    pub fn end_spot(&self, pass: &Pass) -> Spot {
        let y_bit = self.geometry.end(pass.row, pass.direction);
        let state = SledState { x_bit: pass.x_bit, y_bit, direction: pass.direction };
        Spot { state, line: self.rows.end_line(pass.row, pass.direction) }
    }

    /// `state`, read from the row table.
    pub fn spot(&self, state: SledState) -> Spot {
        Spot { state, line: self.rows.line(&self.geometry, state) }
    }

    /// The mechanical work of a pass of a write. [`SledUnit::settle_tips`](super::unit::SledUnit::settle_tips)
    /// completes the work for a request.
    #[inline]
    pub fn work(&self, pass: &Pass) -> MechanicalWork {
        MechanicalWork { seek: pass.positioning(), access: self.row_time, ..self.tip_work(pass.blocks) }
    }

    /// The work of the tips that write `blocks` blocks of a row: they read the servo bits and write the data.
    #[inline]
    pub fn tip_work(&self, blocks: u32) -> MechanicalWork {
        let tips = self.tips(blocks);
        let (tip_ns, written_tip_ns) = (tips * self.row_time.as_ns(), tips * self.data_time.as_ns());
        MechanicalWork { tip_ns, written_tip_ns, ..MechanicalWork::default() }
    }

    /// Number of tips that access `blocks` blocks at once.
    pub fn tips(&self, blocks: u32) -> u64 {
        u64::from(blocks) * self.tips_of_block
    }

    /// Most blocks a single pass of this device can serve.
    pub fn widest_pass(&self) -> u32 {
        self.blocks_per_pass.saturating_mul(self.addresses.sleds() as u32)
    }
}
