//! Estimated times of moves, for schedulers without knowledge of the mechanics.

use sledlab_core::Span;

use super::axis::Axis;
use super::geometry::Geometry;
use super::kinematics::Kinematics;
use super::params::Selection;

/// Number of equal steps of distance into which a curve is divided.
const STEPS: usize = 100;

/// Distance in y, in bits, that counts as one bit in x (Hong 2006, section 4).
const Y_BITS_PER_X_BIT: f64 = 10.0;

/// Times by distance alone, with moves in x and y at the same time: neither place nor direction nor turnarounds
/// count.
#[derive(Debug)]
pub(super) enum Estimate {
    /// Interpolated on curves that are computed once from the mechanics.
    Curve { x: Curve, y: Curve, settle: Span },
    /// Proportional to the distance.
    Ratio { x_bit_s: f64 },
}

impl Estimate {
    /// The estimate for `selection`; `None` if schedulers use the exact mechanics or the reference simulator's rule.
    pub fn new(
        selection: Selection,
        geometry: &Geometry,
        kinematics: &dyn Kinematics,
        (axis_x, axis_y): (&Axis, &Axis),
    ) -> Option<Self> {
        let x_bits = geometry.cylinders - 1;
        let curve = |axis, bits: u32, speed_m_s| {
            // Both ends lie equally far from the center: only so does every distance up to the full travel fit.
            Curve::new(bits, |distance_bits| {
                let half_m = distance_bits / 2.0 * geometry.bit_m;
                kinematics.base_seek_s(axis, -half_m, half_m, speed_m_s)
            })
        };
        match selection {
            Selection::Exact | Selection::Disksim => None,
            Selection::Curve => {
                let y_bits = geometry.down_start(geometry.rows - 1).abs_diff(geometry.up_start(0));
                Some(Estimate::Curve {
                    x: curve(axis_x, x_bits, 0.0),
                    y: curve(axis_y, y_bits, geometry.velocity_m_s),
                    settle: geometry.settle(),
                })
            }
            Selection::Ratio => {
                let stroke_s = curve(axis_x, x_bits, 0.0).seconds(x_bits) + geometry.settle_s;
                Some(Estimate::Ratio { x_bit_s: stroke_s / f64::from(x_bits.max(1)) })
            }
        }
    }

    /// Time of a move in x over `distance_bits`, with settling.
    #[inline]
    pub fn x_time(&self, distance_bits: u32) -> Span {
        match self {
            _ if distance_bits == 0 => Span::ZERO,
            Estimate::Curve { x, settle, .. } => Span::from_seconds(x.seconds(distance_bits)) + *settle,
            Estimate::Ratio { x_bit_s } => Span::from_seconds(f64::from(distance_bits) * x_bit_s),
        }
    }

    /// Time of a move in y over `distance_bits`.
    #[inline]
    pub fn y_time(&self, distance_bits: u32) -> Span {
        match self {
            Estimate::Curve { y, .. } => Span::from_seconds(y.seconds(distance_bits)),
            Estimate::Ratio { x_bit_s } => {
                Span::from_seconds(f64::from(distance_bits) * x_bit_s / Y_BITS_PER_X_BIT)
            }
        }
    }
}

/// Times at equal steps of distance, with straight lines in between.
#[derive(Debug)]
pub(super) struct Curve {
    /// Length of a step in bits.
    step_bits: f64,
    /// Seconds for zero steps, one step and so on.
    times_s: Vec<f64>,
}

impl Curve {
    fn new(reach_bits: u32, seek_s: impl Fn(f64) -> f64) -> Self {
        let step_bits = f64::from(reach_bits.max(1)) / STEPS as f64;
        let times_s = (0..=STEPS).map(|step| seek_s(step as f64 * step_bits)).collect();
        Curve { step_bits, times_s }
    }

    fn seconds(&self, distance_bits: u32) -> f64 {
        let steps = f64::from(distance_bits) / self.step_bits;
        let last = self.times_s.len() - 1;
        if steps >= last as f64 {
            return self.times_s[last];
        }
        let step = steps as usize;
        let share = steps - step as f64;
        self.times_s[step] + share * (self.times_s[step + 1] - self.times_s[step])
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::{Op, Time};

    use super::super::sled::Sled;
    use super::super::state::SledState;
    use super::*;
    use crate::device::mems::{self, MemsParams};
    use crate::device::{DeviceState, QueuedRequest};

    fn sled(selection: Selection) -> Sled {
        Sled::new(&MemsParams { selection, ..MemsParams::default() }).unwrap()
    }

    const CENTER: SledState = SledState { x_bit: 0, y_bit: 0, direction: 1 };

    #[test]
    fn curve_equals_mechanics_at_its_points() {
        let (curve, exact) = (sled(Selection::Curve), sled(Selection::Exact));
        let half = |distance: u32| distance as i32 / 2;
        for distance in (0..2400).step_by(50) {
            let estimated = curve.estimated_x_time(-half(distance), half(distance));
            let exact_time = exact.x_time(-half(distance), half(distance));
            // 2,499 bits are divided into a hundred steps of about 25; straight lines between the points lie below
            // the exact curve.
            assert!(
                estimated <= exact_time && (exact_time - estimated).as_ns() < 35_000,
                "{distance}: {estimated:?}, {exact_time:?}"
            );
            assert_eq!(
                estimated,
                curve.estimated_x_time(100, 100 - distance as i32),
                "distance is all that counts"
            );
        }
        let (stroke, edge) = ((-1250, 1249), exact.geometry.x_bit(0));
        assert_eq!(edge, stroke.0);
        let estimated_ns = curve.estimated_x_time(stroke.0, stroke.1).as_ns();
        assert!(estimated_ns.abs_diff(exact.x_time(stroke.0, stroke.1).as_ns()) <= 100);
    }

    #[test]
    fn ten_bits_in_y_equal_one_in_x() {
        let Some(ratio) = sled(Selection::Ratio).estimate else { panic!("no ratio") };
        for bits in [1, 7, 100, 240] {
            assert!(ratio.x_time(bits).as_ns().abs_diff(ratio.y_time(10 * bits).as_ns()) <= 1);
        }
        // The time of a full stroke is that of the mechanics.
        let stroke = sled(Selection::Exact).x_time(-1250, 1249).as_ns();
        assert!(ratio.x_time(2499).as_ns().abs_diff(stroke) <= 1);
    }

    #[test]
    fn estimate_ignores_place_and_direction() {
        for selection in [Selection::Curve, Selection::Ratio] {
            let sled = sled(selection);
            let from = |direction, row| {
                let state = SledState { y_bit: sled.geometry.up_start(row), direction, ..CENTER };
                sled.positioning_at(state, row + 3, sled.geometry.x_origin_bit as u32)
            };
            assert_eq!(from(1, 2), from(-1, 2));
            assert_eq!(from(1, 2), from(1, 20));
        }
    }

    /// Service times are those of the mechanics, however schedulers estimate them.
    #[test]
    fn estimates_do_not_change_service_times() {
        let request = QueuedRequest { lbn: 1_234_567, blocks: 30, op: Op::Read, ..QueuedRequest::default() };
        let probe = |selection| {
            let device = mems::build(&MemsParams { selection, ..MemsParams::default() }).unwrap();
            let state: DeviceState = CENTER.into();
            (device.probe(Time::ZERO, &request), device.mechanics().serve_from(state, &request))
        };
        assert_eq!(probe(Selection::Curve), probe(Selection::Exact));
        assert_eq!(probe(Selection::Ratio), probe(Selection::Exact));
    }
}
