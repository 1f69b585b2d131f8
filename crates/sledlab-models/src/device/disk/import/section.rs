//! One block of a parameter file, entry by entry.

use sledlab_core::params::Params;
use sledlab_core::{Error, Result};
use toml::Value as Toml;

use super::keys::{ImportRule, Keys};
use crate::device::disksim::{
    Block, KeyValue, Value, check_non_negative, count, number, scaled_number, text, whole_number, word,
};

/// A block whose keys are all known; no key is given twice, and no required one is missing.
pub(super) struct Section<'a> {
    block: &'a Block,
}

impl<'a> Section<'a> {
    /// Reads a block of the kind `kind`: sets `params`, which messages call `path`, according to `keys`, and adds
    /// remarks.
    pub fn read<P: Params>(
        block: &'a Block,
        kind: &str,
        keys: Keys,
        (path, params): (&str, &mut P),
        remarks: &mut Vec<String>,
    ) -> Result<Self> {
        if block.kind != kind {
            return Err(block.error(
                Error::user(format!("expected a `{kind}` block, found `{}`", block.kind))
                    .with_remedy(format!("only disks of the `{kind}` kind are modeled")),
            ));
        }
        block.check_unique()?;
        for entry in &block.entries {
            let meaning = keys.iter().find(|(key, _)| *key == entry.key).map(|(_, meaning)| meaning);
            let read = match meaning {
                Some(meaning) => apply(entry, meaning, path, params, remarks),
                None => Err(Error::unknown_name("parameter", &entry.key, keys.iter().map(|(key, _)| *key))),
            };
            read.map_err(|error| entry.error(error))?;
        }
        let section = Section { block };
        section.check_complete(keys)?;
        Ok(section)
    }

    fn check_complete(&self, keys: Keys) -> Result<()> {
        let missing: Vec<String> = keys
            .iter()
            .filter(|(_, meaning)| {
                use ImportRule::{Ignored, Must, Optional, Remark};
                !matches!(meaning, Ignored | Must(_) | Optional | Remark(..))
            })
            .filter(|(key, _)| self.entry(key).is_none())
            .map(|(key, _)| format!("`{key}`"))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(self
            .error(Error::user("parameters are missing").with_remedy(format!("add {}", missing.join(", ")))))
    }

    /// Sets the location of `error` to that of the block.
    pub fn error(&self, error: Error) -> Error {
        self.block.error(error)
    }

    /// Returns the entry `key`, if the block contains it.
    pub fn entry(&self, key: &str) -> Option<&'a KeyValue> {
        self.block.entries.iter().find(|entry| entry.key == key)
    }

    /// The entry called `key` as `read` understands it; errors name the entry's place, or the block's if it is
    /// missing.
    pub fn parse_required<T>(&self, key: &str, read: impl FnOnce(&'a KeyValue) -> Result<T>) -> Result<T> {
        match self.entry(key) {
            Some(entry) => read(entry).map_err(|error| entry.error(error)),
            None => {
                Err(self
                    .error(Error::user(format!("`{key}` is missing")).with_remedy(format!("add `{key}`"))))
            }
        }
    }

    /// The block that `key` holds.
    pub fn block(&self, key: &str) -> Result<&'a Block> {
        self.parse_required(key, |entry| match &entry.value {
            Value::Block(block) => Ok(block),
            _ => Err(Error::user(format!("`{key}`: expected a block"))
                .with_remedy("write it out, or `source FILE` where FILE holds it")),
        })
    }

    /// The list that `key` holds.
    pub fn list(&self, key: &str) -> Result<&'a [Value]> {
        self.parse_required(key, |entry| match &entry.value {
            Value::List(items) => Ok(&items[..]),
            _ => Err(Error::user(format!("`{key}`: expected a list in brackets"))),
        })
    }

    /// The numbers in the list that `key` holds.
    pub fn numbers(&self, key: &str) -> Result<Vec<f64>> {
        let items = self.list(key)?;
        self.parse_required(key, |_| {
            items.iter().map(|item| text(key, item).and_then(|word| scaled_number(key, word, 0))).collect()
        })
    }

    /// The sectors, tracks or pairs of them in the list that `key` holds; empty if the key is missing.
    pub fn sectors(&self, key: &str) -> Result<Vec<u64>> {
        if self.entry(key).is_none() {
            return Ok(Vec::new());
        }
        let items = self.list(key)?;
        self.parse_required(key, |_| {
            let sector = |item| whole_number(key, text(key, item)?);
            items.iter().map(|item| check_non_negative(key, sector(item)?)).collect()
        })
    }
}

fn apply<P: Params>(
    entry: &KeyValue,
    meaning: &ImportRule,
    path: &str,
    params: &mut P,
    remarks: &mut Vec<String>,
) -> Result<()> {
    match meaning {
        ImportRule::Number(key, power) => params.set(path, key, &Toml::Float(number(entry, *power)?)),
        ImportRule::Count(key) => params.set(path, key, &Toml::Integer(count(entry)?)),
        ImportRule::SwitchAt(code, key) => params.set(path, key, &Toml::Boolean(count(entry)? == *code)),
        ImportRule::Switch(key) => params.set(path, key, &Toml::Boolean(count(entry)? != 0)),
        ImportRule::Choice(key, codes) => {
            let code = count(entry)?;
            let Some((_, word)) = codes.iter().find(|(known, _)| *known == code) else {
                let known: Vec<String> =
                    codes.iter().map(|(code, word)| format!("{code} ({word})")).collect();
                return Err(Error::user(format!("`{} = {code}` is not modeled", entry.key))
                    .with_remedy(format!("known: {}", known.join(", "))));
            };
            params.set(path, key, &Toml::from(*word))
        }
        ImportRule::Must(needed) if count(entry)? != *needed => {
            Err(Error::user(format!("`{}` is only modeled at {needed}", entry.key))
                .with_remedy(format!("set it to {needed}")))
        }
        ImportRule::Remark(usual, why) => {
            if (number(entry, 0)? - *usual as f64).abs() > 0.0 {
                remarks.push(format!("`{} = {}` is ignored: {why}.", entry.key, word(entry)?));
            }
            Ok(())
        }
        ImportRule::Must(_) | ImportRule::Ignored | ImportRule::Needed | ImportRule::Optional => Ok(()),
    }
}
