//! One block of a parameter file, entry by entry.

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::Value as Toml;

use super::keys::{self, ImportRule, Keys};
use crate::device::disksim::{
    Block, Faults, KeyValue, Value, check_non_negative, count, number, scaled_number, text, whole_number,
    word,
};

/// What an import found in a file: faults and remarks.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub faults: Faults,
    /// Differences between the file and the imported device, one sentence each.
    pub remarks: Vec<String>,
}

/// A block of the expected kind. A method that returns `None` has added the fault.
pub(super) struct Section<'a> {
    block: &'a Block,
}

impl<'a> Section<'a> {
    /// Reads a block of the kind `kind`: sets `params`, which messages call `path`, according to `keys`. Adds a
    /// fault for every entry that is unknown, given twice, wrong or missing.
    pub fn read<P: Params>(
        block: &'a Block,
        kind: &str,
        keys: Keys,
        (path, params): (&str, &mut P),
        findings: &mut Findings,
    ) -> Option<Self> {
        if block.kind != kind {
            let effect = keys::effect_of_other_kind(&block.kind);
            let message = format!("expected a `{kind}` block, found `{}`{effect}", block.kind);
            let remedy = format!("describe this part of the disk as a `{kind}` block");
            findings.faults.add(block.error(Error::user(message).with_remedy(remedy)));
            return None;
        }
        block.check_unique(&mut findings.faults);
        for entry in &block.entries {
            let rule = keys.iter().find(|(key, _)| *key == entry.key).map(|(_, rule)| rule);
            let outcome = match rule {
                Some(rule) => apply(entry, rule, path, params, &mut findings.remarks),
                None => Err(Error::unknown_name("parameter", &entry.key, keys.iter().map(|(key, _)| *key))),
            };
            findings.faults.check(outcome.map_err(|error| entry.error(error)));
        }
        let section = Section { block };
        section.check_complete(keys, &mut findings.faults);
        Some(section)
    }

    fn check_complete(&self, keys: Keys, faults: &mut Faults) {
        let missing: Vec<String> = keys
            .iter()
            .filter(|(_, rule)| {
                use ImportRule::{Ignored, Must, Optional, Remark};
                !matches!(rule, Ignored | Must(..) | Optional | Remark(..))
            })
            .filter(|(key, _)| self.entry(key).is_none())
            .map(|(key, _)| format!("`{key}`"))
            .collect();
        // Entries with a fault of syntax only seem to be missing.
        if !missing.is_empty() && self.block.is_complete {
            let remedy = format!("add {}", missing.join(", "));
            faults.add(self.error(Error::user("parameters are missing").with_remedy(remedy)));
        }
    }

    /// Sets the location of `error` to that of the block.
    pub fn error(&self, error: Error) -> Error {
        self.block.error(error)
    }

    /// Returns the entry `key`, if the block contains it.
    pub fn entry(&self, key: &str) -> Option<&'a KeyValue> {
        self.block.entries.iter().find(|entry| entry.key == key)
    }

    /// The entry called `key` as `read` understands it. An entry that is missing is no fault here:
    /// [`Section::read`] has added those that are required.
    pub fn parse<T>(
        &self,
        key: &str,
        faults: &mut Faults,
        read: impl FnOnce(&'a KeyValue) -> Result<T>,
    ) -> Option<T> {
        let entry = self.entry(key)?;
        faults.check(read(entry).map_err(|error| entry.error(error)))
    }

    /// The entry called `key`, which another entry requires.
    pub fn parse_required<T>(
        &self,
        key: &str,
        faults: &mut Faults,
        read: impl FnOnce(&'a KeyValue) -> Result<T>,
    ) -> Option<T> {
        if self.entry(key).is_none() && self.block.is_complete {
            let error = Error::user(format!("`{key}` is missing")).with_remedy(format!("add `{key}`"));
            faults.add(self.error(error));
        }
        self.parse(key, faults, read)
    }

    /// The block that `key` holds.
    pub fn block(&self, key: &str, faults: &mut Faults) -> Option<&'a Block> {
        self.parse(key, faults, |entry| match &entry.value {
            Value::Block(block) => Ok(block),
            _ => Err(Error::user(format!("`{key}`: expected a block"))
                .with_remedy("write it out, or `source FILE` where FILE holds it")),
        })
    }

    /// The sectors, tracks or pairs of them in the list that `key` holds; empty if the key is missing.
    pub fn sectors(&self, key: &str, faults: &mut Faults) -> Vec<u64> {
        let sectors = self.parse(key, faults, |entry| {
            let sector = |item| whole_number(key, text(key, item)?);
            list(entry)?.iter().map(|item| check_non_negative(key, sector(item)?)).collect()
        });
        sectors.unwrap_or_default()
    }
}

/// The list that an entry holds.
pub(super) fn list(entry: &KeyValue) -> Result<&[Value]> {
    match &entry.value {
        Value::List(items) => Ok(items),
        _ => Err(Error::user(format!("`{}`: expected a list in brackets", entry.key))),
    }
}

/// The numbers in the list that an entry holds.
pub(super) fn numbers(entry: &KeyValue) -> Result<Vec<f64>> {
    let number = |item| text(&entry.key, item).and_then(|word| scaled_number(&entry.key, word, 0));
    list(entry)?.iter().map(number).collect()
}

fn apply<P: Params>(
    entry: &KeyValue,
    rule: &ImportRule,
    path: &str,
    params: &mut P,
    remarks: &mut Vec<String>,
) -> Result<()> {
    match rule {
        ImportRule::Number(key, power) => params.set(path, key, &Toml::Float(number(entry, *power)?)),
        ImportRule::Count(key) => params.set(path, key, &Toml::Integer(count(entry)?)),
        ImportRule::SwitchAt(code, key) => params.set(path, key, &Toml::Boolean(count(entry)? == *code)),
        ImportRule::Switch(key) => params.set(path, key, &Toml::Boolean(count(entry)? != 0)),
        ImportRule::Choice(key, codes, effect) => {
            let code = count(entry)?;
            let Some((_, word)) = codes.iter().find(|(known_codes, _)| *known_codes == code) else {
                let known_codes: Vec<String> =
                    codes.iter().map(|(code, word)| format!("{code} ({word})")).collect();
                return Err(Error::user(format!("`{} = {code}` is not modeled: {effect}", entry.key))
                    .with_remedy(format!("known: {}", known_codes.join(", "))));
            };
            params.set(path, key, &Toml::from(*word))
        }
        ImportRule::Must(modeled, effect) => {
            if (number(entry, 0)? - *modeled as f64).abs() > 0.0 {
                let (key, value) = (&entry.key, word(entry)?);
                return Err(Error::user(format!("`{key} = {value}` is only modeled at {modeled}: {effect}"))
                    .with_remedy(format!("set it to {modeled} to accept this difference from DiskSim")));
            }
            Ok(())
        }
        ImportRule::Remark(harmless, reason) => {
            if (number(entry, 0)? - *harmless as f64).abs() > 0.0 {
                remarks.push(format!("`{} = {}` is ignored: {reason}.", entry.key, word(entry)?));
            }
            Ok(())
        }
        ImportRule::Ignored | ImportRule::Needed | ImportRule::Optional => Ok(()),
    }
}
