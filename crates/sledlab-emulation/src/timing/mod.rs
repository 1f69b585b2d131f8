//! When the server acts, how late it is and why: clock, pacer, budget, and the processor's part in both.

pub mod budget;
pub mod clock;
pub mod cpu_idle;
pub mod lateness;
pub mod pacer;
pub mod priority;
