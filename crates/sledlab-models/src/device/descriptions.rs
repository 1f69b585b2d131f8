//! Texts for users: descriptions of the power states of a kind of device and of the parts of its positioning time.

/// Descriptions of what a device does in each power state.
#[derive(Clone, Copy, Debug)]
pub struct States {
    /// Sentences on all power states except the inactive one.
    pub active: &'static str,
    /// The parameter whose value names the inactive state, if there is one.
    pub inactive_parameter: Option<&'static str>,
    /// For each value of that parameter, or for `inactive`: description of that state, as the second part of a
    /// sentence.
    pub inactive: &'static [(&'static str, &'static str)],
}

/// The parts of the positioning time of an access.
#[derive(Clone, Copy, Debug)]
pub struct PositioningParts {
    /// How the parts combine; empty if there are none.
    pub meaning: &'static str,
    /// Each part: its name for people, and its field in [`Timing`](super::Timing).
    pub parts: &'static [(&'static str, &'static str)],
}

impl PositioningParts {
    /// For a device without positioning.
    pub const NONE: PositioningParts = PositioningParts { meaning: "", parts: &[] };
}
