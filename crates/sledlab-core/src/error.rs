//! One error type that tells a person what went wrong, where in which file, and what to do about it.

use std::fmt;

/// The result of anything that can fail in sledlab.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose mistake an error was; decides the exit code of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOrigin {
    /// The input, the options or the environment: exit code 2.
    User,
    /// A defect of sledlab: exit code 1.
    Sledlab,
    /// Nobody: the user has interrupted the work. Exit code 130.
    Interrupt,
}

/// Where in a file the error is. Lines and columns count from 1; 0 means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePlace {
    /// File name as the user gave it, or `<stdin>`.
    pub file: String,
    /// Line, or record number in a binary format.
    pub line: u64,
    /// Column, or byte offset in a binary record.
    pub column: u64,
    /// The offending text, shortened.
    pub text: String,
}

/// What went wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Detail {
    origin: ErrorOrigin,
    message: String,
    place: Option<FilePlace>,
    remedy: Option<String>,
}

impl Error {
    /// A mistake the user can mend.
    pub fn user(message: impl Into<String>) -> Self {
        Self::new(ErrorOrigin::User, message.into())
    }

    /// A violated promise of sledlab itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorOrigin::Sledlab, message.into())
            .with_remedy("this is a defect of sledlab: please report it with the configuration and the seed")
    }

    /// The user has interrupted the work.
    pub fn interrupted() -> Self {
        Self::new(ErrorOrigin::Interrupt, "interrupted".to_owned())
    }

    /// An unknown name, with the nearest known one suggested.
    pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let error = Self::user(format!("unknown {kind} `{name}`"));
        match nearest(name, &known) {
            Some(best) => error.with_remedy(format!("did you mean `{best}`?")),
            None => error.with_remedy(format!("known: {}", known.join(", "))),
        }
    }

    fn new(origin: ErrorOrigin, message: String) -> Self {
        Error(Box::new(Detail { origin, message, place: None, remedy: None }))
    }

    /// Adds the remedy: what the user can do about the error.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// Adds the place of the error. Control characters in the text are escaped and long text is cut.
    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: u64, column: u64, text: &[u8]) -> Self {
        self.0.place = Some(FilePlace { file: file.into(), line, column, text: printable(text) });
        self
    }

    /// Whose mistake the error was.
    pub fn origin(&self) -> ErrorOrigin {
        self.0.origin
    }

    /// Whether this is the user's interrupt of the work rather than a mistake.
    pub fn is_interrupt(&self) -> bool {
        self.origin() == ErrorOrigin::Interrupt
    }

    /// What went wrong, without place and remedy.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The place of the error, if a file is involved.
    pub fn place(&self) -> Option<&FilePlace> {
        self.0.place.as_ref()
    }

    /// What the user can do about the error, if known.
    pub fn remedy(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.0.place {
            f.write_str(&place.file)?;
            if place.line > 0 {
                write!(f, ":{}", place.line)?;
            }
            if place.column > 0 {
                write!(f, ":{}", place.column)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(place) = self.0.place.as_ref().filter(|place| !place.text.is_empty()) {
            write!(f, "\n  found: {}", place.text)?;
        }
        if let Some(remedy) = &self.0.remedy {
            write!(f, "\n  help: {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The known name closest to `name`, if one is close enough to be a slip of the hand.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = &name.to_lowercase();
    let distance = |candidate: &&str| strsim::damerau_levenshtein(name, &candidate.to_lowercase());
    let best = known.iter().copied().min_by_key(distance)?;
    let tolerated = 1 + name.chars().count().max(best.chars().count()) / 4;
    (distance(&best) <= tolerated).then_some(best)
}

fn printable(text: &[u8]) -> String {
    const LONGEST: usize = 80;
    let cut = &text[..text.len().min(LONGEST)];
    let mut shown: String = String::from_utf8_lossy(cut).chars().flat_map(escape).collect();
    if text.len() > LONGEST {
        shown.push_str(" ...");
    }
    shown
}

fn escape(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_where_and_what_to_do() {
        let error = Error::user("negative time").with_remedy("sort the file").at("a.csv", 3, 1, b"-5,R\x00");
        assert_eq!(error.to_string(), "a.csv:3:1: negative time\n  found: -5,R\\u{0}\n  help: sort the file");
        assert_eq!(error.origin(), ErrorOrigin::User);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let close = Error::unknown("scheduler", "sptff", ["fcfs", "sptf"]);
        assert_eq!(close.remedy(), Some("did you mean `sptf`?"));
        let far = Error::unknown("scheduler", "elephant", ["fcfs", "sptf"]);
        assert_eq!(far.remedy(), Some("known: fcfs, sptf"));
    }
}
