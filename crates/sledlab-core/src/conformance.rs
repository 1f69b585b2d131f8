//! Conformance rules: properties that every model of a kind must satisfy, built-in or plug-in.
//!
//! Each kind of model has a list of rules. A rule is checked on a model and a case: a sequence of requests drawn from a
//! seed or by a test. The tests of built-in models and `sledlab check` for plug-ins use the same rules.

use std::fmt;

use crate::Error;

/// A rule that every model of a kind must satisfy; `Check` is the function that checks a model on a case.
#[derive(Clone, Copy, Debug)]
pub struct Rule<Check> {
    /// The requirement, as a sentence.
    pub requirement: &'static str,
    /// The remedy for the author of a model that violates the rule.
    pub remedy: &'static str,
    /// Whether the rule also applies to plug-ins. Some rules apply to built-in models only.
    pub applies_to_plug_ins: bool,
    /// Checks the rule and returns the violation, if any.
    pub check: Check,
}

impl<Check> Rule<Check> {
    /// Returns a rule that also applies to plug-ins.
    pub const fn new(requirement: &'static str, remedy: &'static str, check: Check) -> Self {
        Rule { requirement, remedy, applies_to_plug_ins: true, check }
    }

    /// Returns a rule for built-in models only.
    pub const fn built_in(requirement: &'static str, remedy: &'static str, check: Check) -> Self {
        Rule { requirement, remedy, applies_to_plug_ins: false, check }
    }

    /// Checks the rule on `cases` cases; `model` is the name of the model in messages. `check` derives the case of a
    /// number from `seed` and checks the rule on it.
    ///
    /// # Errors
    /// A violation, with the case, the request and the remedy; a model that cannot be constructed; an interrupt by the
    /// user.
    pub fn check_cases(
        &self,
        model: &str,
        seed: u64,
        cases: u64,
        mut check: impl FnMut(&Check, u64) -> CheckResult,
    ) -> crate::Result<()> {
        for number in 0..cases {
            let Err(violation) = check(&self.check, number) else { continue };
            let concerns_no_request = violation.request.is_empty();
            if let Some(failure) =
                violation.failure.as_ref().filter(|failure| concerns_no_request || failure.is_interrupt())
            {
                return Err(failure.clone());
            }
            let message = format!(
                "{model} breaks a rule: {} In case {number} of seed {seed}, {violation}",
                self.requirement
            );
            return Err(Error::user(message).with_remedy(self.remedy));
        }
        Ok(())
    }
}

/// The result of a check: `Err` if the rule is violated.
pub type CheckResult<T = ()> = Result<T, Violation>;

/// A violation of a rule by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The request at which the model violated the rule; empty if the violation concerns no request, or if the model
    /// could not be constructed.
    pub request: String,
    /// The observed result.
    pub observed: String,
    /// The error of the model or of its construction; `observed` is then its message.
    pub failure: Option<Error>,
}

impl Violation {
    /// Returns the violation at `request`; `observed` is what the model did.
    pub fn new(request: impl fmt::Display, observed: impl fmt::Display) -> Self {
        Violation { request: request.to_string(), observed: observed.to_string(), failure: None }
    }

    /// Returns the violation by a model that failed with `failure` at `request`.
    pub fn from_failure(request: impl fmt::Display, failure: Error) -> Self {
        let observed = failure.message().to_owned();
        Violation { request: request.to_string(), observed, failure: Some(failure) }
    }

    /// Returns the violation at `request` unless the rule `is_satisfied`; `observe` describes what the model did.
    pub fn check<F: fmt::Display>(
        is_satisfied: bool,
        request: impl fmt::Display,
        observe: impl FnOnce() -> F,
    ) -> CheckResult {
        if is_satisfied { Ok(()) } else { Err(Violation::new(request, observe())) }
    }
}

/// Converts the error of a model that cannot be constructed, which neither satisfies nor violates a rule.
impl From<Error> for Violation {
    fn from(failure: Error) -> Self {
        Violation::from_failure("", failure)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { request, observed, .. } = self;
        if request.is_empty() { f.write_str(observed) } else { write!(f, "{request}: {observed}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_small(number: u64) -> CheckResult {
        Violation::check(number < 3, format!("request {number}"), || "too large")
    }

    const RULE: Rule<fn(u64) -> CheckResult> =
        Rule::new("Numbers are small.", "take small ones", check_small);

    #[test]
    fn violation_reports_first_failing_case() {
        assert_eq!(RULE.check_cases("counter `x`", 7, 3, |check, number| check(number)), Ok(()));
        let error = RULE.check_cases("counter `x`", 7, 9, |check, number| check(number)).unwrap_err();
        let message =
            "counter `x` breaks a rule: Numbers are small. In case 3 of seed 7, request 3: too large";
        assert_eq!((error.message(), error.remedy()), (message, Some("take small ones")));
    }

    #[test]
    fn interrupt_or_construction_failure_is_no_violation() {
        let construction_error = Error::user("out of memory");
        assert_eq!(
            RULE.check_cases("counter `x`", 7, 9, |_, _| Err(construction_error.clone().into())),
            Err(construction_error)
        );
        let interrupt = |_: &_, _| Err(Violation::from_failure("request 0", Error::interrupted()));
        assert!(RULE.check_cases("counter `x`", 7, 9, interrupt).unwrap_err().is_interrupt());
    }
}
