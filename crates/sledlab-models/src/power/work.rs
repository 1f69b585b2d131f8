//! Work of a mechanism, from which its energy follows.

use sledlab_core::Span;

/// Work of the mechanism during a service, from which its energy follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MechanicalWork {
    /// Time of moving, with tips off.
    pub seek: Span,
    /// Time of reading or writing, servo included.
    pub access: Span,
    /// Number of active tips times their time, in tip-nanoseconds.
    pub tip_ns: u64,
    /// The part of `tip_ns` in which tips wrote.
    pub written_tip_ns: u64,
    /// Number of tips that stayed dark over unwanted words times their time, in tip-nanoseconds.
    pub dark_tip_ns: u64,
}

impl MechanicalWork {
    /// Time the mechanism was busy.
    pub fn busy_time(&self) -> Span {
        self.seek + self.access
    }
}

impl std::ops::AddAssign for MechanicalWork {
    fn add_assign(&mut self, other: MechanicalWork) {
        self.seek += other.seek;
        self.access += other.access;
        self.tip_ns += other.tip_ns;
        self.written_tip_ns += other.written_tip_ns;
        self.dark_tip_ns += other.dark_tip_ns;
    }
}
