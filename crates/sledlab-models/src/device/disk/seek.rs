//! How long the arm takes over a number of cylinders.

use sledlab_core::{Error, Result, Span};

use super::params::DiskParams;

/// Seek time over `d` cylinders: `a + b sqrt(d) + c d`, through three points.
///
/// The square root is the arm that accelerates half the way and brakes the other half, the linear term the
/// arm at its top speed. The average seek is the time over a third of the cylinders: that is the mean
/// distance between two random places. The mean *time* between random places is a little shorter, since
/// the curve is bent.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "units stand in names")]
pub(super) struct SeekCurve {
    constant_ms: f64,
    root_ms: f64,
    linear_ms: f64,
}

impl SeekCurve {
    /// The curve through the three seek times of a disk.
    ///
    /// # Errors
    /// Times that fall with distance.
    pub fn new(params: &DiskParams) -> Result<Self> {
        let DiskParams { single_cylinder_seek_ms, average_seek_ms, full_stroke_seek_ms, .. } = *params;
        let (average, full) =
            (("average_seek_ms", average_seek_ms), ("full_stroke_seek_ms", full_stroke_seek_ms));
        rises(("single_cylinder_seek_ms", single_cylinder_seek_ms), average)?;
        rises(average, full)?;
        let most = (params.cylinders - 1) as f64;
        let third = most / 3.0;
        // Slopes between the points, then the two unknowns that are left: b (sqrt(d) - 1) + c (d - 1).
        let (root_third, root_most) = (third.sqrt() - 1.0, most.sqrt() - 1.0);
        let (linear_third, linear_most) = (third - 1.0, most - 1.0);
        let (to_third, to_most) = (average.1 - single_cylinder_seek_ms, full.1 - single_cylinder_seek_ms);
        let determinant = root_third * linear_most - root_most * linear_third;
        let root_ms = (to_third * linear_most - to_most * linear_third) / determinant;
        let linear_ms = (root_third * to_most - root_most * to_third) / determinant;
        let curve =
            SeekCurve { constant_ms: single_cylinder_seek_ms - root_ms - linear_ms, root_ms, linear_ms };
        curve.check(most)?;
        Ok(curve)
    }

    /// The slope only ever rises or only ever falls: where it is not negative at both ends, it is nowhere.
    fn check(&self, most: f64) -> Result<()> {
        // Rounding alone may tilt a level curve.
        const LEVEL_MS: f64 = -1e-9;
        let slope_ms = |cylinders: f64| self.root_ms / (2.0 * cylinders.sqrt()) + self.linear_ms;
        if slope_ms(1.0) >= LEVEL_MS && slope_ms(most) >= LEVEL_MS {
            return Ok(());
        }
        Err(Error::user(
            "the seek curve through device.single_cylinder_seek_ms, device.average_seek_ms and \
             device.full_stroke_seek_ms falls on the way",
        )
        .with_remedy("bring the average seek time nearer to the middle of the other two"))
    }

    /// Seek time over `cylinders`; nothing over none.
    pub fn time(&self, cylinders: u32) -> Span {
        if cylinders == 0 {
            return Span::ZERO;
        }
        let cylinders = f64::from(cylinders);
        Span::from_seconds(
            (self.constant_ms + self.root_ms * cylinders.sqrt() + self.linear_ms * cylinders) / 1e3,
        )
    }
}

fn rises((shorter, shorter_ms): (&str, f64), (longer, longer_ms): (&str, f64)) -> Result<()> {
    if shorter_ms <= longer_ms {
        return Ok(());
    }
    Err(Error::user(format!(
        "device.{longer} = {longer_ms} ms is less than device.{shorter} = {shorter_ms} ms"
    ))
    .with_remedy("a seek over more cylinders takes longer: raise the one or lower the other"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve(single: f64, average: f64, full: f64) -> Result<SeekCurve> {
        SeekCurve::new(&DiskParams {
            cylinders: 3001,
            single_cylinder_seek_ms: single,
            average_seek_ms: average,
            full_stroke_seek_ms: full,
            ..DiskParams::default()
        })
    }

    #[test]
    fn goes_through_its_three_points() {
        let curve = curve(3.0, 17.0, 30.0).unwrap();
        let times = [0, 1, 1000, 3000].map(|cylinders| curve.time(cylinders));
        assert_eq!(times, [0.0, 3.0, 17.0, 30.0].map(Span::from_ms));
    }

    #[test]
    fn the_mean_over_random_places_lies_just_below_the_average() {
        let curve = SeekCurve::new(&DiskParams::default()).unwrap();
        let cylinders = DiskParams::default().cylinders as u32;
        // So many pairs of places lie that far apart.
        let weight = |d: u32| if d == 0 { f64::from(cylinders) } else { 2.0 * f64::from(cylinders - d) };
        let sum: f64 = (0..cylinders).map(|d| weight(d) * curve.time(d).as_ms()).sum();
        let mean_ms = sum / f64::from(cylinders).powi(2);
        assert!((16.05..16.08).contains(&mean_ms), "{mean_ms}");
    }

    #[test]
    fn refuses_times_that_fall_with_distance() {
        let message = |single, average, full| curve(single, average, full).unwrap_err().to_string();
        assert!(
            message(3.0, 2.0, 30.0)
                .contains("device.average_seek_ms = 2 ms is less than device.single_cylinder_seek_ms = 3 ms")
        );
        assert!(message(3.0, 17.0, 16.0).contains("device.full_stroke_seek_ms = 16 ms is less than"));
        assert!(message(3.0, 17.0, 17.5).contains("falls on the way"), "{:?}", curve(3.0, 17.0, 17.5));
        assert!(message(3.0, 3.1, 30.0).contains("falls on the way"));
        assert!(curve(5.0, 5.0, 5.0).is_ok());
    }

    proptest! {
        #[test]
        fn never_falls(single in 0.1..5.0, more in 0.0..20.0, rest in 0.0..20.0) {
            let Ok(curve) = curve(single, single + more, single + more + rest) else { return Ok(()) };
            let times: Vec<Span> = (0..=3000).map(|cylinders| curve.time(cylinders)).collect();
            prop_assert!(times.is_sorted());
        }
    }
}
