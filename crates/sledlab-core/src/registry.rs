//! Registries: the models of one sort by name. From them the command line, the Python API, the docs and the conformance
//! tests learn which models exist, so that adding a model is one file and one line.

use std::ops::Deref;

use serde::Serialize;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::params::{self, Choices, ParamSpec, ParamValue, Params};

/// A model: its name, its meaning, its parameters, and the function that makes it.
///
/// `Make` is the function that makes the model from its parameters and from whatever else that sort of model needs;
/// `Facts` holds further properties that models of that sort declare.
#[derive(Clone, Copy, Debug)]
pub struct Entry<Make, Facts = ()> {
    /// Name in configurations.
    pub name: &'static str,
    /// Other names for the model.
    pub aliases: &'static [&'static str],
    /// One line for people, of at most 100 characters: see [`one_line`].
    pub meaning: &'static str,
    /// Further properties of the model, as its sort declares them.
    pub facts: Facts,
    /// The model's parameters.
    pub specs: fn() -> Vec<ParamSpec>,
    /// All parameters of the model: those that a table says, over the defaults. The path names the table in messages.
    ///
    /// # Errors
    /// Unknown keys, and values out of range.
    pub resolve: fn(&str, &Table) -> Result<Table>,
    /// Makes a model from a table of parameters.
    pub make: Make,
}

impl<Make, Facts> Entry<Make, Facts> {
    /// The entry as one line of a list for people.
    pub fn listed(&self) -> Listed {
        Listed { name: self.name, meaning: self.meaning, specs: (self.specs)() }
    }
}

/// The meaning of an entry, which must fit a line. Checked at compile time.
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

/// All models of one sort, in the order in which they are listed.
#[derive(Debug)]
pub struct Registry<Make: 'static, Facts: 'static = ()> {
    /// What one model of the sort is called in messages, such as `power policy`.
    pub noun: &'static str,
    /// The configuration table that holds the model's name and parameters, such as `power`.
    pub path: &'static str,
    /// A name with parameters, such as `fixed:timeout_ms=10`, for messages.
    pub example: &'static str,
    /// Words that may stand instead of a model's name.
    pub also: &'static [&'static str],
    /// The models.
    pub entries: &'static [Entry<Make, Facts>],
}

impl<Make, Facts> Registry<Make, Facts> {
    /// The model that has `name` as its name or an alias, in upper or lower case.
    ///
    /// # Errors
    /// An unknown name; the message suggests the nearest.
    pub fn find(&self, name: &str) -> Result<&'static Entry<Make, Facts>> {
        let text = |entry: &'static Entry<Make, Facts>| {
            std::iter::once(entry.name).chain(entry.aliases.iter().copied())
        };
        let names = self.entries.iter().flat_map(text);
        self.entries
            .iter()
            .find(|entry| text(entry).any(|known| known.eq_ignore_ascii_case(name)))
            .ok_or_else(|| Error::unknown(self.noun, name, names.chain(self.also.iter().copied())))
    }

    /// Splits `name:key=value:key=value` into a name and parameters. A value is a TOML value or text.
    ///
    /// # Errors
    /// A word that is not of that form.
    pub fn parse(&self, word: &str) -> Result<(String, Table)> {
        params::parse_word(self.path, word, self.example)
    }

    /// The model called `name` with `params` over its defaults.
    ///
    /// # Errors
    /// An unknown name, unknown keys, and values out of range.
    pub fn choose(&self, name: &str, params: &Table) -> Result<Chosen<Make, Facts>> {
        let entry = self.find(name)?;
        Ok(Chosen { entry, params: (entry.resolve)(self.path, params)? })
    }

    /// Every model, as a list for people.
    pub fn list(&self) -> Vec<Listed> {
        self.entries.iter().map(Entry::listed).collect()
    }
}

impl<Make, Facts> Deref for Registry<Make, Facts> {
    type Target = [Entry<Make, Facts>];

    fn deref(&self) -> &Self::Target {
        self.entries
    }
}

/// A model with all its parameters, each as said or its default.
#[derive(Debug)]
pub struct Chosen<Make: 'static, Facts: 'static = ()> {
    /// The model.
    pub entry: &'static Entry<Make, Facts>,
    /// All parameters of the model.
    pub params: Table,
}

// A derived `Clone` would require `Make` and `Facts` to be cloneable.
impl<Make, Facts> Clone for Chosen<Make, Facts> {
    fn clone(&self) -> Self {
        Chosen { entry: self.entry, params: self.params.clone() }
    }
}

impl<Make, Facts> Chosen<Make, Facts> {
    /// The configuration table that says this model and its parameters in full.
    pub fn to_table(&self) -> Table {
        table(self.entry.name, &self.params)
    }
}

/// A configuration table: the `kind` and its parameters.
pub fn table(kind: &str, params: &Table) -> Table {
    let kind = ("kind".to_owned(), Value::from(kind));
    std::iter::once(kind).chain(params.clone()).collect()
}

/// Whether `word` names a plug-in, `module:Class` or `module:Class:key=value`, rather than a model with parameters,
/// `name:key=value`.
pub fn is_plug_in(word: &str) -> bool {
    word.split(':').nth(1).is_some_and(|class| !class.contains('='))
}

/// The name of a model as `word` says it. The word of a plug-in is `module:Class`; parameters after that are put into
/// `said`, unless `said` already has them. `path` is the name of the configuration table, for messages.
///
/// # Errors
/// Parameters that are not of the form `key=value`.
pub fn split_plug_in(path: &str, word: &str, text: &mut Table) -> Result<String> {
    let end = word.match_indices(':').nth(1).map(|(at, _)| at);
    let Some((name, remaining)) = end.filter(|_| is_plug_in(word)).map(|at| word.split_at(at)) else {
        return Ok(word.to_owned());
    };
    let (_, params) = params::parse_word(path, &format!("plug-in{remaining}"), "module:Class:key=value")?;
    for (key, value) in params {
        text.entry(key).or_insert(value);
    }
    Ok(name.to_owned())
}

/// A word of a list of [`choices!`](crate::choices!) that selects one of several things to build, where one table holds
/// the parameters of all of them: the ways to put devices together, for example.
pub trait KindWord: ParamValue + Choices {
    /// One line for people, of at most 100 characters.
    fn meaning(self) -> &'static str;
    /// Whether this kind uses the parameter `key` of that table.
    fn heeds(self, key: &str) -> bool;
}

/// One line of a list for people: a name, what it means, and the parameters to show.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Name in configurations.
    pub name: &'static str,
    /// One line for people.
    pub meaning: &'static str,
    /// Its parameters that the list shows.
    #[serde(rename = "parameters")]
    pub specs: Vec<ParamSpec>,
}

/// Every kind, with those of the parameters `P` that this kind uses.
pub fn kinds<K: KindWord, P: Params>() -> Vec<Listed> {
    let listed = |(kind, name): (&K, &&'static str)| Listed {
        name,
        meaning: kind.meaning(),
        specs: P::specs().into_iter().filter(|spec| kind.heeds(spec.name)).collect(),
    };
    K::ALL.iter().zip(K::WORDS).map(listed).collect()
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

        fn heeds(self, key: &str) -> bool {
            match self {
                Shape::Circle => key == "radius",
                Shape::Box => key == "edge",
            }
        }
    }

    type Area = fn(&Table) -> f64;

    const fn of(name: &'static str, aliases: &'static [&'static str], make: Area) -> Entry<Area, u32> {
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

    static SHAPES: Registry<Area, u32> = Registry {
        noun: "shape",
        path: "shape",
        example: "circle:radius=2",
        also: &["none"],
        entries: &[
            of("circle", &["disc", "round"], |table| table["radius"].as_float().unwrap_or(0.0).powi(2)),
            of("box", &[], |_| 4.0),
        ],
    };

    fn refused(word: &str) -> String {
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
    fn says_what_is_wrong() {
        assert!(refused("cirkle").contains("did you mean `circle`?"));
        assert!(refused("disk").contains("did you mean `disc`?"));
        assert!(refused("nome").contains("did you mean `none`?"));
        assert!(refused("box:edges=1").contains("did you mean `shape.edge`?"));
        assert!(SHAPES.parse("box:edge").unwrap_err().to_string().contains("circle:radius=2"));
    }

    #[test]
    fn lists_kinds_with_what_they_heed() {
        let kinds = kinds::<Shape, Sizes>();
        let rows: Vec<_> = kinds.iter().map(|kind| (kind.name, kind.meaning, kind.specs[0].name)).collect();
        assert_eq!(rows, [("circle", "round", "radius"), ("box", "with corners", "edge")]);
    }

    #[test]
    fn plug_ins_are_told_from_models_and_split_from_their_parameters() {
        let text = [("a.b:Class", true), ("a:Class:x=1", true), ("sptf", false), ("zsptf:grid=4", false)];
        assert!(text.iter().all(|(word, is_one)| is_plug_in(word) == *is_one));
        let mut message: Table = "x = 1".parse().unwrap();
        assert_eq!(split_plug_in("device", "a:Class:x=2:y=off", &mut message).unwrap(), "a:Class");
        assert_eq!(message, "x = 1\ny = 'off'".parse().unwrap());
        for word in ["a:Class", "sptf", "zsptf:grid=4:parity=false"] {
            assert_eq!(split_plug_in("device", word, &mut message).unwrap(), word);
        }
        assert_eq!(message.len(), 2);
        let wrong = split_plug_in("device", "a:Class:x", &mut message).unwrap_err().to_string();
        assert!(wrong.contains("`x` is not of the form key=value"), "{wrong}");
    }
}
