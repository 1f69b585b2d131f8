//! The error type of sledlab: a message, a location in a file, and a remedy.

use std::fmt;

/// The result of anything that can fail in sledlab.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The origin of an error; decides the exit code of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOrigin {
    /// The input, the options or the environment: exit code 2.
    User,
    /// A defect of sledlab: exit code 1.
    Sledlab,
    /// An interrupt by the user (Ctrl-C): exit code 130.
    Interrupt,
}

/// The location of an error in a file. Lines and columns count from 1; 0 means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLocation {
    /// File name as the user gave it, or `<stdin>`.
    pub file: String,
    /// Line, or record number in a binary format.
    pub line: u64,
    /// Column, or byte offset in a binary record.
    pub column: u64,
    /// The offending text, shortened.
    pub text: String,
}

/// An error with a message, an optional location and an optional remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Detail {
    origin: ErrorOrigin,
    message: String,
    location: Option<FileLocation>,
    remedy: Option<String>,
}

impl Error {
    /// Returns an error that the user can fix: invalid input or a problem of the environment.
    pub fn user(message: impl Into<String>) -> Self {
        Self::new(ErrorOrigin::User, message.into())
    }

    /// Returns an error for a violated invariant of sledlab.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorOrigin::Sledlab, message.into())
            .with_remedy("this is a defect of sledlab: please report it with the configuration and the seed")
    }

    /// Returns the error for an interrupt by the user.
    pub fn interrupted() -> Self {
        Self::new(ErrorOrigin::Interrupt, "interrupted".to_owned())
    }

    /// Returns an error for an unknown name; the remedy suggests the most similar known name or lists all.
    pub fn unknown_name<'a>(kind: &str, name: &str, known_names: impl IntoIterator<Item = &'a str>) -> Self {
        let known_names: Vec<&str> = known_names.into_iter().collect();
        let error = Self::user(format!("unknown {kind} `{name}`"));
        match nearest_name(name, &known_names) {
            Some(best) => error.with_remedy(format!("did you mean `{best}`?")),
            None => error.with_remedy(format!("known: {}", known_names.join(", "))),
        }
    }

    fn new(origin: ErrorOrigin, message: String) -> Self {
        Error(Box::new(Detail { origin, message, location: None, remedy: None }))
    }

    /// Adds a remedy: what the user can do about the error.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// Adds the location of the error. Control characters in the text are escaped and long text is cut.
    #[must_use]
    pub fn with_location(mut self, file: impl Into<String>, line: u64, column: u64, text: &[u8]) -> Self {
        self.0.location = Some(FileLocation { file: file.into(), line, column, text: printable_text(text) });
        self
    }

    /// Returns the origin of the error.
    pub fn origin(&self) -> ErrorOrigin {
        self.0.origin
    }

    /// Returns whether the user interrupted the operation.
    pub fn is_interrupt(&self) -> bool {
        self.origin() == ErrorOrigin::Interrupt
    }

    /// Returns the message without location and remedy.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the location of the error, if it is in a file.
    pub fn location(&self) -> Option<&FileLocation> {
        self.0.location.as_ref()
    }

    /// Returns the remedy, if there is one.
    pub fn remedy(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.0.location {
            f.write_str(&location.file)?;
            if location.line > 0 {
                write!(f, ":{}", location.line)?;
            }
            if location.column > 0 {
                write!(f, ":{}", location.column)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(location) = self.0.location.as_ref().filter(|location| !location.text.is_empty()) {
            write!(f, "\n  found: {}", location.text)?;
        }
        if let Some(remedy) = &self.0.remedy {
            write!(f, "\n  help: {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Returns the known name that `name` is probably a misspelling of: the one with the smallest edit distance if that is
/// small, otherwise the only one that has all word parts of `name` (`disk` in `mobile-disk`).
fn nearest_name<'a>(name: &str, known_names: &[&'a str]) -> Option<&'a str> {
    const SEPARATORS: [char; 4] = ['-', '_', '.', ' '];
    let name = &name.to_lowercase();
    let distance = |candidate: &&str| strsim::damerau_levenshtein(name, &candidate.to_lowercase());
    let nearest = known_names.iter().copied().min_by_key(distance)?;
    let max_distance = 1 + name.chars().count().max(nearest.chars().count()) / 4;
    if distance(&nearest) <= max_distance {
        return Some(nearest);
    }
    let has_all_parts = |candidate: &&str| {
        let candidate = candidate.to_lowercase();
        name.split(SEPARATORS).all(|part| candidate.split(SEPARATORS).any(|known_part| known_part == part))
    };
    let mut matches = known_names.iter().copied().filter(has_all_parts);
    matches.next().filter(|_| matches.next().is_none())
}

fn printable_text(text: &[u8]) -> String {
    const MAX_LENGTH: usize = 80;
    let prefix = &text[..text.len().min(MAX_LENGTH)];
    let mut escaped: String = String::from_utf8_lossy(prefix).chars().flat_map(escape).collect();
    if text.len() > MAX_LENGTH {
        escaped.push_str(" ...");
    }
    escaped
}

fn escape(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_shows_location_message_and_remedy() {
        let error = Error::user("negative time").with_remedy("sort the file").with_location(
            "a.csv",
            3,
            1,
            b"-5,R\x00",
        );
        assert_eq!(error.to_string(), "a.csv:3:1: negative time\n  found: -5,R\\u{0}\n  help: sort the file");
        assert_eq!(error.origin(), ErrorOrigin::User);
    }

    #[test]
    fn unknown_name_suggests_only_similar_names() {
        let suggestion = Error::unknown_name("scheduler", "sptff", ["fcfs", "sptf"]);
        assert_eq!(suggestion.remedy(), Some("did you mean `sptf`?"));
        let far = Error::unknown_name("scheduler", "elephant", ["fcfs", "sptf"]);
        assert_eq!(far.remedy(), Some("known: fcfs, sptf"));
    }

    #[test]
    fn unknown_name_suggests_unique_word_part_match() {
        let devices = ["mems-g2", "mobile-disk", "atlas-10k"];
        let error = Error::unknown_name("device", "disk", devices);
        assert_eq!(error.remedy(), Some("did you mean `mobile-disk`?"));
        let error = Error::unknown_name("device", "10k_Atlas", devices);
        assert_eq!(error.remedy(), Some("did you mean `atlas-10k`?"));
        let error = Error::unknown_name("figure", "figure-9", ["hong2006-figure-9", "chiu2004-figure-9"]);
        assert_eq!(error.remedy(), Some("known: hong2006-figure-9, chiu2004-figure-9"));
    }
}
