//! One axis of motion: its actuator and its spring.

use super::params::{MemsParams, SpringConvention};

/// The mechanics of one axis. The spring pulls towards the center, position 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Acceleration of the actuator, the same in both directions.
    pub acceleration_m_s2: f64,
    /// Spring stiffness over mass, in 1/s^2; 0 without a spring.
    pub omega_squared: f64,
    /// 1/omega, in seconds per radian; 0 without a spring.
    pub s_per_radian: f64,
    /// Travel of the sled: positions lie at most half of it from the center.
    pub travel_m: f64,
    /// Spring force over actuator force at the displacement that the spring convention names.
    pub spring_factor: f64,
}

impl Axis {
    /// An axis whose spring force reaches `spring_factor` of the actuator force at the
    /// displacement that `convention` names.
    pub fn new(
        acceleration_m_s2: f64,
        travel_m: f64,
        spring_factor: f64,
        convention: SpringConvention,
    ) -> Axis {
        let reach_m = match convention {
            SpringConvention::Edge => travel_m / 2.0,
            SpringConvention::Travel => travel_m,
        };
        let omega_squared = spring_factor * acceleration_m_s2 / reach_m;
        let s_per_radian = if omega_squared > 0.0 { 1.0 / omega_squared.sqrt() } else { 0.0 };
        Axis { acceleration_m_s2, omega_squared, s_per_radian, travel_m, spring_factor }
    }

    /// The x axis of a device: along the cylinders.
    pub fn x(params: &MemsParams) -> Axis {
        Axis::new(
            params.acceleration_x_m_s2,
            params.travel_x_um * 1e-6,
            params.spring_factor,
            params.spring_convention,
        )
    }

    /// The y axis of a device: along the rows, the direction of access.
    pub fn y(params: &MemsParams) -> Axis {
        Axis::new(
            params.acceleration_y_m_s2,
            params.travel_y_um * 1e-6,
            params.spring_factor,
            params.spring_convention,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spring_reaches_its_factor_where_the_convention_says() {
        let edge = Axis::new(800.0, 100e-6, 0.75, SpringConvention::Edge);
        assert!((edge.omega_squared * 50e-6 - 600.0).abs() < 1e-9);
        let travel = Axis::new(800.0, 100e-6, 0.75, SpringConvention::Travel);
        assert!((travel.omega_squared * 100e-6 - 600.0).abs() < 1e-9);
    }
}
