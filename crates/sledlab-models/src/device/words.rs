//! What people call the states of a kind of device, and how they tell what its positioning is made up of.

/// What a device does in each state of power.
#[derive(Clone, Copy, Debug)]
pub struct States {
    /// Sentences on its states but the inactive one.
    pub awake: &'static str,
    /// The parameter whose word people call the inactive state by, where there is one.
    pub rest: Option<&'static str>,
    /// What it does then, after each such word, or after `inactive`: the rest of a sentence.
    pub asleep: &'static [(&'static str, &'static str)],
}

/// How the positioning of an access is made up.
#[derive(Clone, Copy, Debug)]
pub struct Positioning {
    /// How its parts come together; empty where there are none.
    pub meaning: &'static str,
    /// What people call each part, and its name in a timing.
    pub parts: &'static [(&'static str, &'static str)],
}

impl Positioning {
    /// Of a device without.
    pub const NONE: Positioning = Positioning { meaning: "", parts: &[] };
}
