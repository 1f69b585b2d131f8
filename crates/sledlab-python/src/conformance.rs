//! Checks models, built-in or plug-in, against the conformance rules of their kind.

use pyo3::prelude::*;
use sledlab_core::conformance::Rule;
use sledlab_core::registry::split_plug_in;
use sledlab_core::{Error, Result};
use sledlab_models::conformance::{device, replacement, scheduler};
use sledlab_models::device::preset::DeviceFile;
use sledlab_trace::conformance as workload;
use sledlab_trace::synthetic;
use toml::Table;

use crate::class::{Allowlist, ClassKind, is_plugin, matching_kinds};
use crate::error::{clear_stored_exception, raise};
use crate::interrupt::check_signals;

/// The kinds of models that a class can implement.
const KINDS: [ClassKind; 5] = [
    crate::device_class::KIND,
    crate::scheduler::KIND,
    crate::power::KIND,
    crate::replacement::KIND,
    crate::workload::KIND,
];

/// A model, and the rules of its kind.
#[pyclass(frozen, module = "sledlab._native")]
pub(crate) struct Conformance {
    /// Name of the model in messages.
    title: String,
    is_plugin: bool,
    model: Model,
}

enum Model {
    Device(Box<DeviceFile>),
    Scheduler(sledlab_models::scheduler::Choice),
    Replacement(sledlab_models::replacement::Choice),
    Workload(synthetic::Choice),
}

impl Model {
    /// The model that `word` names; `name` is `word` without its parameters, which are in `params`.
    fn new(
        py: Python<'_>,
        kind: &str,
        word: &str,
        (name, params): (&str, Table),
        allowed: &Allowlist,
    ) -> PyResult<Self> {
        let is_built_in = !is_plugin(word);
        Ok(match kind {
            "device" => {
                let mut experiment = sledlab_sim::Experiment::from_toml("check", "").map_err(raise)?;
                experiment.set_device(word).map_err(raise)?;
                let settings = experiment.clone();
                crate::experiment::add_plugins(py, &settings, &mut experiment, allowed)?;
                Model::Device(Box::new(experiment.device().map_err(raise)?))
            }
            "scheduler" if is_built_in => {
                let choice = sledlab_models::scheduler::parse(word)
                    .and_then(|(name, params)| sledlab_models::scheduler::Choice::new(&name, &params));
                Model::Scheduler(choice.map_err(raise)?)
            }
            "scheduler" => Model::Scheduler(crate::scheduler::choice(py, name, params, allowed)?),
            "replacement" => Model::Replacement(crate::replacement::parse_choice(py, word, allowed)?),
            "workload" if is_built_in => {
                let choice = synthetic::LIST
                    .parse(word)
                    .and_then(|(name, params)| synthetic::Choice::new(&name, &params));
                Model::Workload(choice.map_err(raise)?)
            }
            "workload" => Model::Workload(crate::workload::choice(py, name, params, allowed)?),
            other => return Err(raise(Error::internal(format!("no conformance rules exist for a {other}")))),
        })
    }

    /// Checks the model against the rule whose sentence is `requirement`.
    fn check_cases(&self, title: &str, requirement: &str, seed: u64, cases: u64) -> Result<()> {
        match self {
            Model::Device(device) => {
                find_rule(&device::RULES, requirement)?.check_cases(title, seed, cases, |check, number| {
                    check_signals()?;
                    check(&|| device.params.device(), &device::Case::random(seed, number))
                })
            }
            Model::Scheduler(choice) => {
                find_rule(&scheduler::RULES, requirement)?.check_cases(title, seed, cases, |check, number| {
                    check_signals()?;
                    scheduler::check_case(*check, &|mechanics| choice.make(mechanics), seed, number)
                })
            }
            Model::Replacement(choice) => find_rule(&replacement::RULES, requirement)?.check_cases(
                title,
                seed,
                cases,
                |check, number| {
                    check_signals()?;
                    check(&|capacity| choice.make(capacity), &replacement::Case::random(seed, number))
                },
            ),
            Model::Workload(choice) => {
                find_rule(&workload::RULES, requirement)?.check_cases(title, seed, cases, |check, number| {
                    check_signals()?;
                    let make = |setting: synthetic::GeneratorSetting| {
                        choice.build(setting.seed, setting.capacity_blocks)
                    };
                    check(&make, &workload::Case::random(seed, number))
                })
            }
        }
    }
}

#[pymethods]
impl Conformance {
    /// The model of a kind that `word` names; `plugins` are those that may run.
    #[new]
    #[pyo3(signature = (kind, word, plugins))]
    fn new(py: Python<'_>, kind: &str, word: &str, plugins: Option<Vec<String>>) -> PyResult<Self> {
        let mut params = Table::new();
        let name = split_plug_in(kind, word, &mut params).map_err(raise)?;
        let model = Model::new(py, kind, word, (&name, params), &Allowlist::new(plugins))?;
        let noun = if kind == "replacement" { "replacement policy" } else { kind };
        let is_plugin = match &model {
            Model::Device(device) => is_plugin(device.params.kind()),
            _ => is_plugin(word),
        };
        Ok(Conformance { title: format!("{noun} `{word}`"), is_plugin, model })
    }

    /// The rules of the model's kind, in the order in which they are to be checked.
    fn rules(&self) -> Vec<&'static str> {
        match self.model {
            Model::Device(_) => requirements(&device::RULES, self.is_plugin),
            Model::Scheduler(_) => requirements(&scheduler::RULES, self.is_plugin),
            Model::Replacement(_) => requirements(&replacement::RULES, self.is_plugin),
            Model::Workload(_) => requirements(&workload::RULES, self.is_plugin),
        }
    }

    /// Checks the model against a rule in `cases` cases, which follow from `seed`; an error if the model violates the
    /// rule.
    fn check_cases(&self, py: Python<'_>, rule: &str, seed: u64, cases: u64) -> PyResult<()> {
        py.detach(|| self.model.check_cases(&self.title, rule, seed, cases)).map_err(|error| {
            // The error contains the exception of a plug-in, and more.
            if !error.is_interrupt() {
                clear_stored_exception();
            }
            raise(error)
        })
    }
}

/// The kinds of model whose methods the class `word` has, by their names in messages; `plugins` are those that may run.
#[pyfunction]
#[pyo3(signature = (word, plugins))]
pub(crate) fn kinds_of_plugin(
    py: Python<'_>,
    word: &str,
    plugins: Option<Vec<String>>,
) -> PyResult<Vec<&'static str>> {
    let name = split_plug_in("plug-in", word, &mut Table::new()).map_err(raise)?;
    let kinds = matching_kinds(py, &KINDS, &name, &Allowlist::new(plugins))?;
    Ok(kinds.iter().map(|kind| kind.name).collect())
}

/// The sentences of a list of rules: of those that plug-ins must satisfy, or of all.
fn requirements<Check>(rules: &[Rule<Check>], plugins_only: bool) -> Vec<&'static str> {
    let applicable = rules.iter().filter(|rule| rule.applies_to_plug_ins || !plugins_only);
    applicable.map(|rule| rule.requirement).collect()
}

fn find_rule<'a, Check>(rules: &'a [Rule<Check>], requirement: &str) -> Result<&'a Rule<Check>> {
    let rule = rules.iter().find(|rule| rule.requirement == requirement);
    rule.ok_or_else(|| Error::internal(format!("unknown rule `{requirement}`")))
}
