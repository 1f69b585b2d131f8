//! A MEMS sled: a spring-mounted media sled moving in x and y under fixed probe tips.

pub mod axis;
pub mod geometry;
pub mod kinematics;
pub mod layout;
pub mod params;

pub use params::MemsParams;
