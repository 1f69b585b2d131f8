//! Registries: the models of one sort by name. From them the command line, the Python API, the docs and the conformance
//! tests learn what there is, so that adding a model is one file and one line.

use std::ops::Deref;

use serde::Serialize;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::params::{self, Choices, ParamSpec, ParamValue, Params};

/// A model: what it is called and told, and how it is made.
///
/// `Make` is the function that makes one of its parameters and whatever else that sort of model needs; `Facts` is what
/// else is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<Make, Facts = ()> {
    /// Name in configurations.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line for people, of at most 100 characters: see [`one_line`].
    pub meaning: &'static str,
    /// What else is known of it.
    pub facts: Facts,
    /// Its parameters.
    pub specs: fn() -> Vec<ParamSpec>,
    /// All its parameters: those of a table, which the path names in messages, over the defaults.
    ///
    /// # Errors
    /// Unknown keys, and values out of range.
    pub resolve: fn(&str, &Table) -> Result<Table>,
    /// Makes one, of a table of parameters.
    pub make: Make,
}

impl<Make, Facts> Entry<Make, Facts> {
    /// The same for people.
    pub fn listed(&self) -> Listed {
        Listed { name: self.name, meaning: self.meaning, specs: (self.specs)() }
    }
}

/// The meaning of an entry, which must fit a line. Checked when it is compiled.
///
/// # Panics
/// More than 100 bytes.
pub const fn one_line(meaning: &'static str) -> &'static str {
    assert!(meaning.len() <= 100, "a meaning has at most 100 characters");
    meaning
}

/// What [`Entry::resolve`] is for parameters declared with [`params!`](crate::params!).
///
/// # Errors
/// Unknown keys, and values out of range.
pub fn resolve<P: Params>(path: &str, table: &Table) -> Result<Table> {
    Ok(P::from_table(path, table)?.to_table())
}

/// All models of one sort, in the order in which they are listed.
#[derive(Debug)]
pub struct Registry<Make: 'static, Facts: 'static = ()> {
    /// What one of them is called in messages, such as `power policy`.
    pub noun: &'static str,
    /// The configuration table with its name and parameters, such as `power`.
    pub path: &'static str,
    /// A name with parameters, such as `fixed:timeout_ms=10`, for messages.
    pub example: &'static str,
    /// What may be said instead of a name.
    pub also: &'static [&'static str],
    /// The models.
    pub entries: &'static [Entry<Make, Facts>],
}

impl<Make, Facts> Registry<Make, Facts> {
    /// The model called `name`, or an alias of it.
    ///
    /// # Errors
    /// An unknown name; the message suggests the nearest.
    pub fn find(&self, name: &str) -> Result<&'static Entry<Make, Facts>> {
        let known = |entry: &&Entry<Make, Facts>| entry.name == name || entry.aliases.contains(&name);
        let words = |entry: &'static Entry<Make, Facts>| {
            std::iter::once(entry.name).chain(entry.aliases.iter().copied())
        };
        let names = self.entries.iter().flat_map(words);
        self.entries
            .iter()
            .find(known)
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

    /// Every model, for people.
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

/// A model with all its parameters.
#[derive(Debug)]
pub struct Chosen<Make: 'static, Facts: 'static = ()> {
    /// Which one.
    pub entry: &'static Entry<Make, Facts>,
    /// All its parameters.
    pub params: Table,
}

// Derived, it would ask that functions can be cloned.
impl<Make, Facts> Clone for Chosen<Make, Facts> {
    fn clone(&self) -> Self {
        Chosen { entry: self.entry, params: self.params.clone() }
    }
}

impl<Make, Facts> Chosen<Make, Facts> {
    /// The configuration table that says all of it.
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

/// The name of a model as `word` says it: of a plug-in `module:Class`, with the parameters after that put into `said`,
/// where those said otherwise win. `path` is the name of the configuration table, for messages.
///
/// # Errors
/// Parameters that are not of the form `key=value`.
pub fn split_plug_in(path: &str, word: &str, said: &mut Table) -> Result<String> {
    let end = word.match_indices(':').nth(1).map(|(at, _)| at);
    let Some((name, rest)) = end.filter(|_| is_plug_in(word)).map(|at| word.split_at(at)) else {
        return Ok(word.to_owned());
    };
    let (_, params) = params::parse_word(path, &format!("plug-in{rest}"), "module:Class:key=value")?;
    for (key, value) in params {
        said.entry(key).or_insert(value);
    }
    Ok(name.to_owned())
}

/// A word of a list of [`choices!`](crate::choices!) that says which of several things is built, as one table of
/// parameters tells them all: how devices are put together, say.
pub trait KindWord: ParamValue + Choices {
    /// One line for people, of at most 100 characters.
    fn meaning(self) -> &'static str;
    /// Whether it heeds the parameter `key` of that table.
    fn heeds(self, key: &str) -> bool;
}

/// One line of a list for people: a name, what it means, and the parameters to tell.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Name in configurations.
    pub name: &'static str,
    /// One line for people.
    pub meaning: &'static str,
    /// Its parameters.
    #[serde(rename = "parameters")]
    pub specs: Vec<ParamSpec>,
}

/// Every kind, with those of the parameters `P` that it heeds.
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
        let told: Vec<_> = kinds.iter().map(|kind| (kind.name, kind.meaning, kind.specs[0].name)).collect();
        assert_eq!(told, [("circle", "round", "radius"), ("box", "with corners", "edge")]);
    }

    #[test]
    fn plug_ins_are_told_from_models_and_split_from_their_parameters() {
        let words = [("a.b:Class", true), ("a:Class:x=1", true), ("sptf", false), ("zsptf:grid=4", false)];
        assert!(words.iter().all(|(word, is_one)| is_plug_in(word) == *is_one));
        let mut said: Table = "x = 1".parse().unwrap();
        assert_eq!(split_plug_in("device", "a:Class:x=2:y=off", &mut said).unwrap(), "a:Class");
        assert_eq!(said, "x = 1\ny = 'off'".parse().unwrap());
        for word in ["a:Class", "sptf", "zsptf:grid=4:parity=false"] {
            assert_eq!(split_plug_in("device", word, &mut said).unwrap(), word);
        }
        assert_eq!(said.len(), 2);
        let wrong = split_plug_in("device", "a:Class:x", &mut said).unwrap_err().to_string();
        assert!(wrong.contains("`x` is not of the form key=value"), "{wrong}");
    }
}
