//! Registries: the models of one kind by name. The command line, the Python API, the documentation and the conformance
//! tests read the registries, so adding a model takes one file and one line.

use std::ops::Deref;

use serde::Serialize;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::params::{self, Choices, ParamSpec, ParamValue, Params};

/// A registered model: name, meaning, parameters and constructor.
///
/// `Make` is the type of the constructor, whose arguments depend on the kind of model; `Facts` contains further
/// properties that models of this kind declare.
#[derive(Clone, Copy, Debug)]
pub struct Entry<Make, Facts = ()> {
    /// Name in configurations.
    pub name: &'static str,
    /// Other names for the model.
    pub aliases: &'static [&'static str],
    /// One-line description of at most 100 characters: see [`one_line`].
    pub meaning: &'static str,
    /// Further properties that models of this kind declare.
    pub facts: Facts,
    /// The model's parameters.
    pub specs: fn() -> Vec<ParamSpec>,
    /// Returns all parameters of the model: those of a table, and defaults for the others. `path` names the table in
    /// messages.
    ///
    /// # Errors
    /// Unknown keys, and values out of range.
    pub resolve: fn(&str, &Table) -> Result<Table>,
    /// Constructs the model from a table of parameters.
    pub make: Make,
}

impl<Make, Facts> Entry<Make, Facts> {
    /// Returns the entry as a line of a printed list.
    pub fn to_catalog_line(&self) -> CatalogLine {
        CatalogLine { name: self.name, meaning: self.meaning, specs: (self.specs)() }
    }
}

/// Returns the meaning of an entry after checking, at compile time, that it fits a line.
///
/// # Panics
/// More than 100 bytes.
pub const fn one_line(meaning: &'static str) -> &'static str {
    assert!(meaning.len() <= 100, "a meaning has at most 100 characters");
    meaning
}

/// The [`Entry::resolve`] of parameters declared with [`params!`](crate::params!).
///
/// # Errors
/// Unknown keys, and values out of range.
pub fn resolve<P: Params>(path: &str, table: &Table) -> Result<Table> {
    Ok(P::from_table(path, table)?.to_table())
}

/// All models of one kind, in the order of printed lists.
#[derive(Debug)]
pub struct Registry<Make: 'static, Facts: 'static = ()> {
    /// The name of the kind in messages, such as `power policy`.
    pub noun: &'static str,
    /// The configuration table with the name and parameters of the model, such as `power`.
    pub path: &'static str,
    /// A name with parameters, such as `fixed:timeout_ms=10`, for messages.
    pub example: &'static str,
    /// Words that are valid in place of a model name.
    pub extra_words: &'static [&'static str],
    /// The models.
    pub entries: &'static [Entry<Make, Facts>],
}

impl<Make, Facts> Registry<Make, Facts> {
    /// Returns the model whose name or alias is `name`, in upper or lower case.
    ///
    /// # Errors
    /// An unknown name; the message suggests the nearest.
    pub fn find(&self, name: &str) -> Result<&'static Entry<Make, Facts>> {
        let names_of = |entry: &'static Entry<Make, Facts>| {
            std::iter::once(entry.name).chain(entry.aliases.iter().copied())
        };
        let names = self.entries.iter().flat_map(names_of);
        self.entries
            .iter()
            .find(|entry| names_of(entry).any(|known| known.eq_ignore_ascii_case(name)))
            .ok_or_else(|| {
                Error::unknown_name(self.noun, name, names.chain(self.extra_words.iter().copied()))
            })
    }

    /// Splits `name:key=value:key=value` into a name and parameters. A value is a TOML value or text.
    ///
    /// # Errors
    /// A word of another form.
    pub fn parse(&self, word: &str) -> Result<(String, Table)> {
        params::parse_word(self.path, word, self.example)
    }

    /// Returns the model `name` with `params` and defaults for the other parameters.
    ///
    /// # Errors
    /// An unknown name, unknown keys, and values out of range.
    pub fn choose(&self, name: &str, params: &Table) -> Result<ConfiguredModel<Make, Facts>> {
        let entry = self.find(name)?;
        Ok(ConfiguredModel { entry, params: (entry.resolve)(self.path, params)? })
    }

    /// Returns all models as a printed list.
    pub fn list(&self) -> Vec<CatalogLine> {
        self.entries.iter().map(Entry::to_catalog_line).collect()
    }
}

impl<Make, Facts> Deref for Registry<Make, Facts> {
    type Target = [Entry<Make, Facts>];

    fn deref(&self) -> &Self::Target {
        self.entries
    }
}

/// A model with all parameters: configured values, and defaults for the others.
#[derive(Debug)]
pub struct ConfiguredModel<Make: 'static, Facts: 'static = ()> {
    /// The model.
    pub entry: &'static Entry<Make, Facts>,
    /// All parameters of the model.
    pub params: Table,
}

// A derived `Clone` would require `Make` and `Facts` to be cloneable.
impl<Make, Facts> Clone for ConfiguredModel<Make, Facts> {
    fn clone(&self) -> Self {
        ConfiguredModel { entry: self.entry, params: self.params.clone() }
    }
}

impl<Make, Facts> ConfiguredModel<Make, Facts> {
    /// Returns the complete configuration table of the model.
    pub fn to_table(&self) -> Table {
        table(self.entry.name, &self.params)
    }
}

/// Returns a configuration table: the `kind` and its parameters.
pub fn table(kind: &str, params: &Table) -> Table {
    let kind = ("kind".to_owned(), Value::from(kind));
    std::iter::once(kind).chain(params.clone()).collect()
}

/// Returns whether `word` refers to a plug-in, `module:Class` or `module:Class:key=value`, rather than a model with
/// parameters, `name:key=value`.
pub fn is_plug_in(word: &str) -> bool {
    word.split(':').nth(1).is_some_and(|class| !class.contains('='))
}

/// Returns the model name in `word` and adds the parameters of a plug-in, `module:Class:key=value`, to `table`.
///
/// Parameters that `table` already has are not replaced. `path` is the name of the configuration table, for messages.
///
/// # Errors
/// Parameters that are not of the form `key=value`.
pub fn split_plug_in(path: &str, word: &str, table: &mut Table) -> Result<String> {
    let end = word.match_indices(':').nth(1).map(|(at, _)| at);
    let Some((name, suffix)) = end.filter(|_| is_plug_in(word)).map(|at| word.split_at(at)) else {
        return Ok(word.to_owned());
    };
    let (_, params) = params::parse_word(path, &format!("plug-in{suffix}"), "module:Class:key=value")?;
    for (key, value) in params {
        table.entry(key).or_insert(value);
    }
    Ok(name.to_owned())
}

/// A word of a list of [`choices!`](crate::choices!) that selects one of several things to build, where one table holds
/// the parameters of all of them: the kinds of systems of devices, for example.
pub trait KindWord: ParamValue + Choices {
    /// Returns the one-line description, of at most 100 characters.
    fn meaning(self) -> &'static str;
    /// Returns whether this kind uses the parameter `key` of that table.
    fn uses_parameter(self, key: &str) -> bool;
    /// Returns a parameter with the range and the default that it has for this kind.
    fn limit_parameter(self, spec: ParamSpec) -> ParamSpec {
        spec
    }
}

/// One line of a printed list: name, meaning and parameters.
#[derive(Clone, Debug, Serialize)]
pub struct CatalogLine {
    /// Name in configurations.
    pub name: &'static str,
    /// One-line description.
    pub meaning: &'static str,
    /// The parameters to print.
    #[serde(rename = "parameters")]
    pub specs: Vec<ParamSpec>,
}

/// Returns every kind with the parameters of `P` that it uses.
pub fn kinds<K: KindWord, P: Params>() -> Vec<CatalogLine> {
    let line = |(kind, name): (&K, &&'static str)| CatalogLine {
        name,
        meaning: kind.meaning(),
        specs: P::specs()
            .into_iter()
            .filter(|spec| kind.uses_parameter(spec.name))
            .map(|spec| kind.limit_parameter(spec))
            .collect(),
    };
    K::ALL.iter().zip(K::WORDS).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::choices! {
        /// A shape.
        pub enum Shape {
            /// Round.
            Circle = "circle",
            /// With corners.
            Box = "box",
        }
    }

    crate::params! {
        /// For the tests below.
        pub struct Sizes {
            /// Which shape.
            kind: Shape = Shape::Circle;
            /// Of a circle.
            radius: f64 = 1.0, "m", 0.0..10.0;
            /// Of a box.
            edge: f64 = 2.0, "m", 0.0..10.0;
        }
    }

    impl KindWord for Shape {
        fn meaning(self) -> &'static str {
            match self {
                Shape::Circle => "round",
                Shape::Box => "with corners",
            }
        }

        fn uses_parameter(self, key: &str) -> bool {
            match self {
                Shape::Circle => key == "radius",
                Shape::Box => key == "edge",
            }
        }
    }

    type AreaFunction = fn(&Table) -> f64;

    const fn entry(
        name: &'static str,
        aliases: &'static [&'static str],
        make: AreaFunction,
    ) -> Entry<AreaFunction, u32> {
        Entry {
            name,
            aliases,
            meaning: "a shape",
            facts: 4,
            specs: Sizes::specs,
            resolve: resolve::<Sizes>,
            make,
        }
    }

    static SHAPES: Registry<AreaFunction, u32> = Registry {
        noun: "shape",
        path: "shape",
        example: "circle:radius=2",
        extra_words: &["none"],
        entries: &[
            entry("circle", &["disc", "round"], |table| table["radius"].as_float().unwrap_or(0.0).powi(2)),
            entry("box", &[], |_| 4.0),
        ],
    };

    fn error_message(word: &str) -> String {
        let (name, params) = SHAPES.parse(word).unwrap();
        SHAPES.choose(&name, &params).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn finds_and_makes_by_name_and_alias() {
        let (name, params) = SHAPES.parse("disc:radius=3").unwrap();
        let chosen = SHAPES.choose(&name, &params).unwrap().clone();
        assert_eq!((chosen.entry.name, chosen.entry.facts, SHAPES.len()), ("circle", 4, 2));
        assert!(((chosen.entry.make)(&chosen.params) - 9.0).abs() < 1e-12);
        assert_eq!(chosen.to_table().to_string(), "kind = \"circle\"\nradius = 3.0\nedge = 2.0\n");
        assert_eq!(SHAPES.list()[1].name, "box");
        assert_eq!(SHAPES.find("Box").unwrap().name, "box");
        assert_eq!(SHAPES.find("ROUND").unwrap().name, "circle");
    }

    #[test]
    fn invalid_names_and_parameters_are_rejected() {
        assert!(error_message("cirkle").contains("did you mean `circle`?"));
        assert!(error_message("disk").contains("did you mean `disc`?"));
        assert!(error_message("nome").contains("did you mean `none`?"));
        assert!(error_message("box:edges=1").contains("did you mean `shape.edge`?"));
        assert!(SHAPES.parse("box:edge").unwrap_err().to_string().contains("circle:radius=2"));
    }

    #[test]
    fn list_shows_parameters_each_kind_uses() {
        let kinds = kinds::<Shape, Sizes>();
        let rows: Vec<_> = kinds.iter().map(|kind| (kind.name, kind.meaning, kind.specs[0].name)).collect();
        assert_eq!(rows, [("circle", "round", "radius"), ("box", "with corners", "edge")]);
    }

    #[test]
    fn plug_in_words_are_recognized_and_split() {
        let words = [("a.b:Class", true), ("a:Class:x=1", true), ("sptf", false), ("zsptf:grid=4", false)];
        assert!(words.iter().all(|(word, is_class)| is_plug_in(word) == *is_class));
        let mut table: Table = "x = 1".parse().unwrap();
        assert_eq!(split_plug_in("device", "a:Class:x=2:y=off", &mut table).unwrap(), "a:Class");
        assert_eq!(table, "x = 1\ny = 'off'".parse().unwrap());
        for word in ["a:Class", "sptf", "zsptf:grid=4:parity=false"] {
            assert_eq!(split_plug_in("device", word, &mut table).unwrap(), word);
        }
        assert_eq!(table.len(), 2);
        let message = split_plug_in("device", "a:Class:x", &mut table).unwrap_err().to_string();
        assert!(message.contains("`x` is not of the form key=value"), "{message}");
    }
}
