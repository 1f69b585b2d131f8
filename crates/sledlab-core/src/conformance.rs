//! Rules that every model of a kind keeps, whether sledlab or a plug-in brings it, and how a model breaks one.
//!
//! A kind of model has a list of rules. A rule is checked against a model and a case: requests, drawn from a seed or by
//! a test. Each rule is thus written once, for the tests of sledlab's own models and for plug-ins.

use std::fmt;

use crate::Error;

/// A rule that every model of a kind keeps; `Check` is the function that checks it on a model and a case.
#[derive(Clone, Copy, Debug)]
pub struct Rule<Check> {
    /// What the rule demands, in a sentence.
    pub says: &'static str,
    /// What the author of a model that breaks the rule can do.
    pub remedy: &'static str,
    /// Whether plug-ins must keep the rule too; they do not promise all that sledlab's own models do.
    pub of_plug_ins: bool,
    /// Checks the rule and says how the model breaks it, if it does.
    pub check: Check,
}

impl<Check> Rule<Check> {
    /// Checks the rule on `cases` cases of the model that people call `model`; `check` makes the case of a number,
    /// which follows from `seed`, and checks the rule on it.
    ///
    /// # Errors
    /// A broken rule, with the case, the request and the remedy; the reason why a model cannot be made; and the user's
    /// interrupt.
    pub fn hold(
        &self,
        model: &str,
        seed: u64,
        cases: u64,
        mut check: impl FnMut(&Check, u64) -> Checked,
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
pub type Checked<T = ()> = Result<T, Violation>;

/// How a model breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The request at which the model broke the rule; empty where it was at none, or where no model could be made.
    pub request: String,
    /// What the check found.
    pub found: String,
    /// The error with which the model gave up, or for which it cannot be made; `found` is then its message.
    pub failure: Option<Error>,
}

impl Violation {
    /// The rule is broken at `request`, where the check found `found`.
    pub fn by(request: impl fmt::Display, result: impl fmt::Display) -> Self {
        Violation { request: request.to_string(), found: result.to_string(), failure: None }
    }

    /// The rule is broken at `request`, at which the model gave up with `failure`.
    pub fn failed(request: impl fmt::Display, failure: Error) -> Self {
        let result = failure.message().to_owned();
        Violation { request: request.to_string(), found: result, failure: Some(failure) }
    }

    /// Broken at `request`, with the measured `result`, unless the rule `is_satisfied`.
    pub fn unless<F: fmt::Display>(
        is_satisfied: bool,
        request: impl fmt::Display,
        result: impl FnOnce() -> F,
    ) -> Checked {
        if is_satisfied { Ok(()) } else { Err(Violation::by(request, result())) }
    }
}

/// A model that cannot be made neither keeps nor breaks a rule.
impl From<Error> for Violation {
    fn from(failure: Error) -> Self {
        Violation::failed("", failure)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { request, found: result, .. } = self;
        if request.is_empty() { f.write_str(result) } else { write!(f, "{request}: {result}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(number: u64) -> Checked {
        Violation::unless(number < 3, format!("request {number}"), || "too large")
    }

    const RULE: Rule<fn(u64) -> Checked> =
        Rule { says: "Numbers are small.", remedy: "take small ones", of_plug_ins: true, check: small };

    #[test]
    fn the_first_case_that_breaks_a_rule_is_told() {
        assert_eq!(RULE.hold("counter `x`", 7, 3, |check, number| check(number)), Ok(()));
        let error = RULE.hold("counter `x`", 7, 9, |check, number| check(number)).unwrap_err();
        let text = "counter `x` breaks a rule: Numbers are small. In case 3 of seed 7, request 3: too large";
        assert_eq!((error.message(), error.remedy()), (text, Some("take small ones")));
    }

    #[test]
    fn neither_an_interrupt_nor_what_cannot_be_made_breaks_a_rule() {
        let unmade = Error::user("no room");
        assert_eq!(RULE.hold("counter `x`", 7, 9, |_, _| Err(unmade.clone().into())), Err(unmade));
        let interrupted = |_: &_, _| Err(Violation::failed("request 0", Error::interrupted()));
        assert!(RULE.hold("counter `x`", 7, 9, interrupted).unwrap_err().is_interrupt());
    }
}
