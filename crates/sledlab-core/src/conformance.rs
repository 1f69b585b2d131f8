//! Rules that every model of a kind keeps, whoever wrote it, and how one is broken.
//!
//! A kind of model has a list of rules. A rule is held against a model and a case: requests, drawn from a seed or by a
//! test. What a model must keep is thus written once, for tests of the lists and for plug-ins.

use std::fmt;

use crate::Error;

/// A rule that every model of a kind keeps; `Check` holds it against a model and a case.
#[derive(Clone, Copy, Debug)]
pub struct Rule<Check> {
    /// What holds, in a sentence.
    pub says: &'static str,
    /// What whoever wrote a model that breaks it can do.
    pub remedy: &'static str,
    /// Whether it is asked of plug-ins too, which do not promise all that models of the list do.
    pub of_plug_ins: bool,
    /// Says how it is broken, if it is.
    pub check: Check,
}

impl<Check> Rule<Check> {
    /// Holds the rule against so many cases of the model that people call `model`; `check` makes the case of a number,
    /// which follows from `seed`, and looks at it.
    ///
    /// # Errors
    /// The rule, where it is broken, with the case, the request and the remedy; why a model cannot be made; and the
    /// user's interrupt.
    pub fn hold(
        &self,
        model: &str,
        seed: u64,
        cases: u64,
        mut check: impl FnMut(&Check, u64) -> Kept,
    ) -> crate::Result<()> {
        for number in 0..cases {
            let Err(broken) = check(&self.check, number) else { continue };
            let unmade = broken.request.is_empty();
            if let Some(failure) = broken.failure.as_ref().filter(|failure| unmade || failure.is_interrupt())
            {
                return Err(failure.clone());
            }
            let message =
                format!("{model} breaks a rule: {} In case {number} of seed {seed}, {broken}", self.says);
            return Err(Error::user(message).with_remedy(self.remedy));
        }
        Ok(())
    }
}

/// Whether a rule is kept.
pub type Kept<T = ()> = Result<T, Broken>;

/// How a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The request that broke it, where one did.
    pub request: String,
    /// What was found.
    pub found: String,
    /// Why the model has given up, where it has: the rest follows from that.
    pub failure: Option<Error>,
}

impl Broken {
    /// By `request`, with which `found` was found.
    pub fn by(request: impl fmt::Display, found: impl fmt::Display) -> Self {
        Broken { request: request.to_string(), found: found.to_string(), failure: None }
    }

    /// By `request`, with which the model gave up.
    pub fn failed(request: impl fmt::Display, failure: Error) -> Self {
        let found = failure.message().to_owned();
        Broken { request: request.to_string(), found, failure: Some(failure) }
    }

    /// Unless `kept`, by `request`, with which `found` was found.
    pub fn unless<F: fmt::Display>(
        kept: bool,
        request: impl fmt::Display,
        found: impl FnOnce() -> F,
    ) -> Kept {
        if kept { Ok(()) } else { Err(Broken::by(request, found())) }
    }
}

/// A model that cannot be made neither keeps nor breaks a rule.
impl From<Error> for Broken {
    fn from(failure: Error) -> Self {
        Broken::failed("", failure)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Broken { request, found, .. } = self;
        if request.is_empty() { f.write_str(found) } else { write!(f, "{request}: {found}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(number: u64) -> Kept {
        Broken::unless(number < 3, format!("request {number}"), || "too large")
    }

    const RULE: Rule<fn(u64) -> Kept> =
        Rule { says: "Numbers are small.", remedy: "take small ones", of_plug_ins: true, check: small };

    #[test]
    fn the_first_case_that_breaks_a_rule_is_told() {
        assert_eq!(RULE.hold("counter `x`", 7, 3, |check, number| check(number)), Ok(()));
        let error = RULE.hold("counter `x`", 7, 9, |check, number| check(number)).unwrap_err();
        let told = "counter `x` breaks a rule: Numbers are small. In case 3 of seed 7, request 3: too large";
        assert_eq!((error.message(), error.remedy()), (told, Some("take small ones")));
    }

    #[test]
    fn neither_an_interrupt_nor_what_cannot_be_made_breaks_a_rule() {
        let unmade = Error::user("no room");
        assert_eq!(RULE.hold("counter `x`", 7, 9, |_, _| Err(unmade.clone().into())), Err(unmade));
        let interrupted = |_: &_, _| Err(Broken::failed("request 0", Error::interrupted()));
        assert!(RULE.hold("counter `x`", 7, 9, interrupted).unwrap_err().is_interrupt());
    }
}
