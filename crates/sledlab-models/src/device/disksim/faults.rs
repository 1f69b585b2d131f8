//! Faults of a parameter file, collected so that one run reports all of them.

use std::path::Path;

use sledlab_core::{Error, Result};

/// The maximum number of faults in a message. A file of another kind has a fault on every line.
const MAX_FAULTS: usize = 100;

/// The faults found so far in a parameter file and in the files that it names.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Faults {
    errors: Vec<Error>,
    is_aborted: bool,
}

impl Faults {
    /// Adds a fault. The one after the maximum ends the search for more.
    pub fn add(&mut self, fault: Error) {
        // A file that two others name has its faults twice.
        if self.is_aborted || self.errors.contains(&fault) {
            return;
        }
        self.errors.push(fault);
        self.is_aborted = self.errors.len() >= MAX_FAULTS;
    }

    /// Adds the faults of another part of the file.
    pub fn extend(&mut self, other: &Faults) {
        for fault in &other.errors {
            self.add(fault.clone());
        }
        self.is_aborted |= other.is_aborted;
    }

    /// Adds a fault after which the files cannot be read on.
    pub fn abort(&mut self, fault: Error) {
        self.add(fault);
        self.is_aborted = true;
    }

    /// Returns the value of `result`, or adds its error.
    pub fn check<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|fault| self.add(fault)).ok()
    }

    /// Returns whether the search for faults has ended early.
    pub fn is_aborted(&self) -> bool {
        self.is_aborted
    }

    /// Returns the number of faults, to see whether a part of a file has any.
    pub fn count(&self) -> usize {
        self.errors.len()
    }

    /// Returns the only fault, or an error that lists all of them with location and remedy, by file and line: those
    /// of `main_file` first.
    ///
    /// # Errors
    /// There are faults.
    pub fn into_result(mut self, main_file: &Path) -> Result<()> {
        if self.errors.len() <= 1 {
            return self.errors.pop().map_or(Ok(()), Err);
        }
        let mut files = vec![main_file.to_string_lossy().into_owned()];
        for fault in &self.errors {
            let file = fault.location().map(|location| &location.file);
            files.extend(file.filter(|file| !files.contains(file)).cloned());
        }
        self.errors.sort_by_cached_key(|fault| {
            fault.location().map_or((files.len(), 0, 0), |location| {
                let file = files.iter().position(|file| *file == location.file);
                (file.unwrap_or(files.len()), location.line, location.column)
            })
        });
        let has_faults = |file: &String| {
            self.errors.iter().any(|fault| fault.location().is_some_and(|location| location.file == *file))
        };
        files.retain(has_faults);
        let list: String =
            self.errors.iter().map(|fault| format!("\n{fault}").replace('\n', "\n  ")).collect();
        let count = self.errors.len();
        let prefix = if count >= MAX_FAULTS { "the first " } else { "" };
        Err(Error::user(format!("{prefix}{count} faults in {}:{list}", files.join(", ")))
            .with_remedy("correct all of these faults, then import the file again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(file: &str, line: u64) -> Error {
        Error::user("wrong").with_remedy("correct it").with_location(file, line, 1, b"x")
    }

    #[test]
    fn single_fault_is_its_own_error() {
        let mut faults = Faults::default();
        assert!(faults.clone().into_result(Path::new("b")).is_ok());
        faults.add(fault("a", 3));
        assert_eq!(faults.into_result(Path::new("b")).unwrap_err(), fault("a", 3));
    }

    #[test]
    fn faults_are_listed_once_by_line() {
        let mut faults = Faults::default();
        for (file, line) in [("a", 3), ("b", 1), ("a", 2), ("b", 1)] {
            faults.add(fault(file, line));
        }
        let item = |place| format!("\n  {place}: wrong\n    found: x\n    help: correct it");
        let expected = ["3 faults in b, a:".to_owned(), item("b:1:1"), item("a:2:1"), item("a:3:1")].concat();
        assert_eq!(faults.into_result(Path::new("b")).unwrap_err().message(), expected);
    }

    #[test]
    fn number_of_faults_is_limited() {
        let mut faults = Faults::default();
        for line in 1..1000 {
            faults.add(fault("a", line));
        }
        assert!(faults.is_aborted());
        let message = faults.into_result(Path::new("b")).unwrap_err().to_string();
        assert!(message.starts_with("the first 100 faults in a:"), "{message}");
    }
}
