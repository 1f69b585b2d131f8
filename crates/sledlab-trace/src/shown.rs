//! Texts of files as messages show them: shortened.

/// Most names of a list in a message, and most characters of a text.
const MAX_LISTED_NAMES: usize = 20;
const MAX_CHARS: usize = 40;

/// The names of a list, separated by commas.
pub(crate) fn list_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let first_names: Vec<String> = names.by_ref().take(MAX_LISTED_NAMES).map(shorten).collect();
    let ellipsis = if names.next().is_some() { ", ..." } else { "" };
    format!("{}{ellipsis}", first_names.join(", "))
}

/// A text, cut after [`MAX_CHARS`].
pub(crate) fn shorten(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_CHARS).chain("...".chars()).collect()
}
