//! Seek times of the arm by distance in cylinders.

use sledlab_core::{Error, Result, Span};

use super::params::{DiskNumbers, DiskParams, SeekCurveKind};

/// How much a seek time may lie below that of a shorter distance, as a share of the latter. Measured times are noisy:
/// the medians of three neighbors in published tables dip by up to 15 %, single points by far more.
const MAX_DIP: f64 = 0.2;

/// Seek times by distance.
#[derive(Clone, Debug)]
pub(super) struct SeekCurve {
    times: Box<[Span]>,
}

impl SeekCurve {
    /// The seek times of a disk.
    ///
    /// # Errors
    /// Times that fall with distance by more than the noise of measurements; tables that are not in ascending order.
    pub fn new(params: &DiskParams) -> Result<Self> {
        let cylinders = params.cylinders();
        let time_ms: Box<dyn Fn(f64) -> f64> = match params.flat.seek_curve {
            SeekCurveKind::ThreePoints => Box::new(three_points(&params.flat, cylinders)?),
            SeekCurveKind::Table => {
                let table = checked_table(params, 2)?;
                Box::new(move |cylinders| interpolate(table, cylinders))
            }
            SeekCurveKind::RootAndLine => Box::new(root_and_line(params, cylinders)?),
        };
        let times: Box<[Span]> = (0..cylinders)
            .map(|distance| match distance {
                0 => Span::ZERO,
                distance => Span::from_ms(time_ms(distance as f64).max(0.0)),
            })
            .collect();
        Ok(SeekCurve { times })
    }

    /// Seek time over `cylinders`; zero over no cylinders.
    pub fn time(&self, cylinders: u32) -> Span {
        self.times[cylinders as usize]
    }
}

/// Seek time over `d` cylinders: `a + b sqrt(d) + c d`, through three points.
///
/// The square root models an arm that accelerates over half the distance and brakes over the other half, the linear
/// term an arm at its top speed. The average seek is the time over a third of the cylinders, the mean distance between
/// two random places. The mean *time* between random places is a little shorter, since the curve is concave.
fn three_points(disk: &DiskNumbers, cylinders: u64) -> Result<impl Fn(f64) -> f64 + use<>> {
    let DiskNumbers { single_cylinder_seek_ms, average_seek_ms, full_stroke_seek_ms, .. } = *disk;
    if cylinders < 10 {
        return Err(Error::user(format!(
            "{cylinders} cylinders are too few for a curve through three points"
        ))
        .with_remedy("describe at least 10, or give a seek_table"));
    }
    let (average, full) =
        (("average_seek_ms", average_seek_ms), ("full_stroke_seek_ms", full_stroke_seek_ms));
    check_increase(("single_cylinder_seek_ms", single_cylinder_seek_ms), average)?;
    check_increase(average, full)?;
    let max_distance = (cylinders - 1) as f64;
    let third_distance = max_distance / 3.0;
    // Differences to the first point leave two equations for b and c: b (sqrt(d) - 1) + c (d - 1).
    let (root_third, root_full) = (third_distance.sqrt() - 1.0, max_distance.sqrt() - 1.0);
    let (linear_third, linear_full) = (third_distance - 1.0, max_distance - 1.0);
    let (to_third, to_full) = (average.1 - single_cylinder_seek_ms, full.1 - single_cylinder_seek_ms);
    let determinant = root_third * linear_full - root_full * linear_third;
    let root_ms = (to_third * linear_full - to_full * linear_third) / determinant;
    let linear_ms = (root_third * to_full - root_full * to_third) / determinant;
    check_slopes(root_ms, linear_ms, max_distance)?;
    let constant_ms = single_cylinder_seek_ms - root_ms - linear_ms;
    Ok(move |cylinders: f64| constant_ms + root_ms * cylinders.sqrt() + linear_ms * cylinders)
}

/// Checks that the curve falls nowhere. Its slope only rises or only falls with distance: if it is not negative at
/// both ends, it is nowhere negative.
fn check_slopes(root_ms: f64, linear_ms: f64, max_distance: f64) -> Result<()> {
    // Least slope that counts as level: rounding may tilt a level curve.
    const LEVEL_MS: f64 = -1e-9;
    let slope_ms = |cylinders: f64| root_ms / (2.0 * cylinders.sqrt()) + linear_ms;
    if slope_ms(1.0) >= LEVEL_MS && slope_ms(max_distance) >= LEVEL_MS {
        return Ok(());
    }
    Err(Error::user(
        "the seek curve through device.single_cylinder_seek_ms, device.average_seek_ms and \
         device.full_stroke_seek_ms decreases in between",
    )
    .with_remedy("bring the average seek time nearer to the middle of the other two"))
}

fn check_increase((shorter, shorter_ms): (&str, f64), (longer, longer_ms): (&str, f64)) -> Result<()> {
    if shorter_ms <= longer_ms {
        return Ok(());
    }
    Err(Error::user(format!(
        "device.{longer} = {longer_ms} ms is less than device.{shorter} = {shorter_ms} ms"
    ))
    .with_remedy("a seek over more cylinders takes longer: raise the one or lower the other"))
}

/// The seek table, if it has at least `min_points` points, begins at one cylinder, and rises except for the noise of
/// measurements.
fn checked_table(params: &DiskParams, min_points: usize) -> Result<&[(u64, f64)]> {
    let table = &params.seek_table[..];
    if table.len() < min_points {
        return Err(Error::user(format!(
            "device.seek_table has {} points, the seek curve needs {min_points}",
            table.len()
        ))
        .with_remedy("list pairs of a distance in cylinders and a time in ms"));
    }
    if table[0].0 != 1 {
        return Err(Error::user(format!("device.seek_table begins at {} cylinders", table[0].0))
            .with_remedy("begin with the seek to the next cylinder"));
    }
    if let Some(pair) = table.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
        let ((before, _), (distance, _)) = (pair[0], pair[1]);
        return Err(Error::user(format!("device.seek_table: {distance} cylinders follow {before}"))
            .with_remedy("list distances in ascending order, each once"));
    }
    let medians: Vec<(u64, f64)> = table.windows(3).map(median).collect();
    let smooth = if medians.len() < 2 { table } else { &medians[..] };
    let mut slowest = smooth[0];
    for point in &smooth[1..] {
        check_dip("device.seek_table", slowest, *point)?;
        if point.1 > slowest.1 {
            slowest = *point;
        }
    }
    Ok(table)
}

/// Returns the point of `points` with the median time.
fn median(points: &[(u64, f64)]) -> (u64, f64) {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    sorted[sorted.len() / 2]
}

fn check_dip(subject: &str, (shorter, slower_ms): (u64, f64), (longer, ms): (u64, f64)) -> Result<()> {
    if ms >= slower_ms * (1.0 - MAX_DIP) {
        return Ok(());
    }
    Err(Error::user(format!(
        "{subject}: a seek over {longer} cylinders takes {ms} ms, one over {shorter} takes {slower_ms} ms"
    ))
    .with_remedy(format!(
        "seek times must increase with distance; decreases of up to {} %, or a single outlier, count as \
             measurement noise",
        MAX_DIP * 100.0
    )))
}

/// Interpolates between the points by straight lines; beyond the table the last line is extended.
#[inline]
fn interpolate(table: &[(u64, f64)], cylinders: f64) -> f64 {
    let place =
        table.partition_point(|(distance, _)| (*distance as f64) < cylinders).clamp(1, table.len() - 1);
    let ((from, from_ms), (to, to_ms)) = (table[place - 1], table[place]);
    from_ms + (to_ms - from_ms) * (cylinders - from as f64) / (to - from) as f64
}

/// Returns a curve that follows the table up to its last distance, then a square root, then a straight line.
fn root_and_line(params: &DiskParams, cylinders: u64) -> Result<impl Fn(f64) -> f64> {
    let DiskNumbers {
        root_constant_ms,
        root_factor_ms,
        line_from_cylinders,
        line_constant_ms,
        line_slope_us,
        ..
    } = params.flat;
    let table = if params.seek_table.is_empty() { &[][..] } else { checked_table(params, 2)? };
    let last_listed = table.last().map_or(0, |(distance, _)| *distance);
    let time_ms = move |cylinders: f64| {
        if cylinders <= last_listed as f64 {
            interpolate(table, cylinders)
        } else if cylinders < line_from_cylinders as f64 {
            root_constant_ms + root_factor_ms * cylinders.sqrt()
        } else {
            line_constant_ms + line_slope_us * cylinders / 1e3
        }
    };
    // Each part of the curve rises on its own: the curve can only fall from the last distance of a part to the next.
    for last_of_part in [last_listed, line_from_cylinders - 1] {
        if (1..cylinders - 1).contains(&last_of_part) {
            let point = |distance: u64| (distance, time_ms(distance as f64));
            check_dip("the seek curve", point(last_of_part), point(last_of_part + 1))?;
        }
    }
    if let Some(distance_below_zero) = (1..cylinders).find(|distance| time_ms(*distance as f64) < 0.0) {
        return Err(Error::user(format!("the seek curve is negative over {distance_below_zero} cylinders"))
            .with_remedy("raise device.root_constant_ms or device.line_constant_ms"));
    }
    Ok(time_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build_curve(flat: DiskNumbers, seek_table: &[(u64, f64)]) -> Result<SeekCurve> {
        let params = DiskParams::with_one_zone(3001, 1, (0, 0), flat);
        SeekCurve::new(&DiskParams { seek_table: seek_table.to_vec(), ..params })
    }

    fn curve(single: f64, average: f64, full: f64) -> Result<SeekCurve> {
        let numbers = DiskNumbers {
            single_cylinder_seek_ms: single,
            average_seek_ms: average,
            full_stroke_seek_ms: full,
            ..DiskNumbers::default()
        };
        build_curve(numbers, &[])
    }

    fn disk_numbers(kind: SeekCurveKind) -> DiskNumbers {
        DiskNumbers { seek_curve: kind, ..DiskNumbers::default() }
    }

    #[test]
    fn goes_through_its_three_points() {
        let curve = curve(3.0, 17.0, 30.0).unwrap();
        let times = [0, 1, 1000, 3000].map(|cylinders| curve.time(cylinders));
        assert_eq!(times, [0.0, 3.0, 17.0, 30.0].map(Span::from_ms));
    }

    #[test]
    fn mean_over_random_places_is_just_below_average() {
        let params = DiskParams::default();
        let curve = SeekCurve::new(&params).unwrap();
        let cylinders = params.cylinders() as u32;
        // Number of pairs of cylinders at distance `d`.
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
        assert!(message(3.0, 17.0, 17.5).contains("decreases in between"), "{:?}", curve(3.0, 17.0, 17.5));
        assert!(message(3.0, 3.1, 30.0).contains("decreases in between"));
        assert!(curve(5.0, 5.0, 5.0).is_ok());
    }

    #[test]
    fn table_is_interpolated_and_extrapolated() {
        let curve =
            build_curve(disk_numbers(SeekCurveKind::Table), &[(1, 2.0), (3, 4.0), (4, 3.9), (1004, 13.9)])
                .unwrap();
        let times = [0, 1, 2, 3, 4, 104, 1004, 2004].map(|cylinders| curve.time(cylinders));
        assert_eq!(times, [0.0, 2.0, 3.0, 4.0, 3.9, 4.9, 13.9, 23.9].map(Span::from_ms));
    }

    #[test]
    fn refuses_tables_that_make_no_sense() {
        let message = |table: &[(u64, f64)]| {
            build_curve(disk_numbers(SeekCurveKind::Table), table).unwrap_err().to_string()
        };
        assert!(message(&[(1, 2.0)]).contains("device.seek_table has 1 points, the seek curve needs 2"));
        assert!(message(&[(2, 2.0), (3, 2.0)]).contains("begins at 2 cylinders"));
        assert!(message(&[(1, 2.0), (5, 2.1), (5, 2.2)]).contains("5 cylinders follow 5"));
        let error = message(&[(1, 2.0), (5, 4.0), (6, 4.1), (7, 2.9), (8, 2.9)]);
        assert!(error.contains("a seek over 8 cylinders takes 2.9 ms, one over 5 takes 4 ms"), "{error}");
        assert!(error.contains("decreases of up to 20 %"), "{error}");
        assert!(
            build_curve(
                disk_numbers(SeekCurveKind::Table),
                &[(1, 2.0), (5, 4.0), (6, 0.4), (7, 4.1), (8, 4.2)]
            )
            .is_ok()
        );
    }

    fn root_and_line() -> DiskNumbers {
        DiskNumbers {
            root_constant_ms: 3.0,
            root_factor_ms: 0.25,
            line_from_cylinders: 400,
            line_constant_ms: 7.0,
            line_slope_us: 5.0,
            ..disk_numbers(SeekCurveKind::RootAndLine)
        }
    }

    #[test]
    fn a_root_and_a_line_follow_the_table() {
        let curve = build_curve(root_and_line(), &[(1, 2.0), (3, 3.0)]).unwrap();
        let times = [1, 2, 3, 4, 100, 399, 400, 3000].map(|cylinders| curve.time(cylinders));
        let root = 3.0 + 0.25 * 399_f64.sqrt();
        assert_eq!(times, [2.0, 2.5, 3.0, 3.5, 5.5, root, 9.0, 22.0].map(Span::from_ms));
        assert_eq!(build_curve(root_and_line(), &[]).unwrap().time(1), Span::from_ms(3.25));
        let params_with_gap = DiskNumbers { line_constant_ms: 3.0, ..root_and_line() };
        let message = build_curve(params_with_gap, &[]).unwrap_err().to_string();
        assert!(message.contains("the seek curve: a seek over 400 cylinders takes 5 ms"), "{message}");
        let negative = DiskNumbers { root_constant_ms: -0.3, ..root_and_line() };
        let message = build_curve(negative, &[]).unwrap_err().to_string();
        assert!(message.contains("negative over 1 cylinders"), "{message}");
    }

    proptest! {
        #[test]
        fn seek_time_never_decreases(single in 0.1..5.0, more in 0.0..20.0, further in 0.0..20.0) {
            let Ok(curve) = curve(single, single + more, single + more + further) else { return Ok(()) };
            let times: Vec<Span> = (0..=3000).map(|cylinders| curve.time(cylinders)).collect();
            prop_assert!(times.is_sorted());
        }
    }
}
