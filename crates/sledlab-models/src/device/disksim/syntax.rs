//! The syntax of DiskSim parameter files: blocks of `key = value`, which may lie in several files.
//!
//! A file is a sequence of blocks `type name { key = value, ... }`, of `source FILE`, and of statements of other
//! kinds, which are ignored. Keys are words with blanks between them; a value is a word, a list in brackets, a block
//! or `source FILE`, which stands for the block in that file; `#` starts a comment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sledlab_core::{Error, Result};

/// Reads the text of a file that another file names.
pub type OpenFile<'a> = &'a dyn Fn(&Path) -> std::io::Result<String>;

/// Place of a token, an entry or a block. Lines and columns count from 1.
#[derive(Clone, Debug)]
pub(in crate::device) struct SyntaxPlace {
    pub file: Arc<Path>,
    pub line: u64,
    pub column: u64,
}

impl SyntaxPlace {
    /// Makes `error` name this place and `text`, unless it names a place already.
    pub fn error(&self, error: Error, text: &str) -> Error {
        if error.location().is_some() {
            return error;
        }
        error.with_location(self.file.to_string_lossy(), self.line, self.column, text.as_bytes())
    }
}

/// One `key = value` of a block.
#[derive(Clone, Debug)]
pub(in crate::device) struct KeyValue {
    /// The words of the key, one blank between them.
    pub key: String,
    pub value: Value,
    pub place: SyntaxPlace,
}

impl KeyValue {
    /// Makes `error` name the place of this entry.
    pub fn error(&self, error: Error) -> Error {
        let value = match &self.value {
            Value::Words(text) => text.as_str(),
            Value::Block(_) => "{ ... }",
            Value::List(_) => "[ ... ]",
        };
        self.place.error(error, &format!("{} = {value}", self.key))
    }
}

/// The value of an entry or an item of a list.
#[derive(Clone, Debug)]
pub(in crate::device) enum Value {
    /// A word; several words only where the file is wrong.
    Words(String),
    Block(Block),
    List(Vec<Value>),
}

/// A block.
#[derive(Clone, Debug)]
pub(in crate::device) struct Block {
    pub kind: String,
    pub name: String,
    pub place: SyntaxPlace,
    pub entries: Vec<KeyValue>,
}

impl Block {
    /// Sets the location of `error` to that of the block.
    pub fn error(&self, error: Error) -> Error {
        self.place.error(error, &format!("{} {}", self.kind, self.name))
    }

    /// Checks that no key is given twice.
    pub fn check_unique(&self) -> Result<()> {
        for (number, entry) in self.entries.iter().enumerate() {
            if let Some(first) = self.entries[..number].iter().find(|seen| seen.key == entry.key) {
                let error = Error::user(format!("`{}` is given twice", entry.key))
                    .with_remedy(format!("it is on line {} already", first.place.line));
                return Err(entry.error(error));
            }
        }
        Ok(())
    }
}

/// Returns all blocks of the kind `expected` in `text` and in the files that it includes, in order.
pub(in crate::device) fn read(text: &str, file: &Path, expected: &str, open: OpenFile) -> Result<Vec<Block>> {
    let mut result = Vec::new();
    Parser::new(text, file, open, 0).find(expected, &mut result)?;
    Ok(result)
}

/// Greatest depth to which blocks, lists and files may nest; DiskSim's own files nest seven deep.
const DEPTH: u32 = 32;

#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    line: u64,
    column: u64,
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    file: Arc<Path>,
    open: OpenFile<'a>,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: &Path, open: OpenFile<'a>, depth: u32) -> Self {
        Parser { tokens: tokens(text), next: 0, file: file.into(), open, depth }
    }

    fn take(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.next).copied();
        self.next += 1;
        token
    }

    fn place(&self, at: Token) -> SyntaxPlace {
        SyntaxPlace { file: self.file.clone(), line: at.line, column: at.column }
    }

    fn error(&self, at: Token, message: impl Into<String>) -> Error {
        self.place(at).error(Error::user(message), at.text)
    }

    /// The next token of the block or list that `opening` opened.
    fn next_inner_token(&mut self, opening: Token) -> Result<Token<'a>> {
        self.take().ok_or_else(|| {
            self.error(opening, "the file ends before this is closed")
                .with_remedy("the file may be cut off; look for a missing `}` or `]`")
        })
    }

    /// Collects the blocks of the kind `expected` and skips all other tokens.
    fn find(&mut self, expected: &str, result: &mut Vec<Block>) -> Result<()> {
        while let Some(token) = self.take() {
            match token.text {
                "source" => {
                    let (path, text) = self.open_source(token)?;
                    Parser::new(&text, &path, self.open, self.depth + 1).find(expected, result)?;
                }
                word if word == expected => result.push(self.block(token)?),
                "{" | "[" => self.skip(token)?,
                "}" | "]" => return Err(self.error(token, "no block or list to close here")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Path and text of the file whose name is the next token; `source` is the token before.
    fn open_source(&mut self, source: Token) -> Result<(PathBuf, String)> {
        let name = self
            .take()
            .filter(|token| !is_mark(token.text))
            .ok_or_else(|| self.error(source, "expected the name of a file after `source`"))?;
        let path = self.file.parent().unwrap_or(Path::new("")).join(name.text);
        if self.depth >= DEPTH {
            return Err(self.error(name, format!("source files are nested more than {DEPTH} levels deep")));
        }
        let text = (self.open)(&path).map_err(|error| {
            self.error(name, format!("cannot read {}: {error}", path.display()))
                .with_remedy("put it in the directory of the file that names it")
        })?;
        Ok((path, text))
    }

    /// Reads a block after the token of its kind, `start`.
    fn block(&mut self, start: Token) -> Result<Block> {
        let mut name = Vec::new();
        loop {
            match self.take() {
                Some(token) if token.text == "{" => {
                    let (kind, name) = (start.text.to_owned(), name.join(" "));
                    return Ok(Block { kind, name, place: self.place(start), entries: self.entries(token)? });
                }
                Some(token) if !is_mark(token.text) => name.push(token.text),
                other => {
                    let message = format!("expected a name and `{{` after `{}`", start.text);
                    return Err(self.error(other.unwrap_or(start), message));
                }
            }
        }
    }

    fn enter_block(&mut self, opening: Token) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(opening, format!("blocks nest more than {DEPTH} deep")));
        }
        Ok(())
    }

    /// The entries of a block up to its closing brace.
    fn entries(&mut self, opening: Token<'a>) -> Result<Vec<KeyValue>> {
        self.enter_block(opening)?;
        let mut entries = Vec::new();
        loop {
            let first = self.next_inner_token(opening)?;
            match first.text {
                "}" => break,
                // An empty place between commas is ignored.
                "," => continue,
                _ => {}
            }
            let key = self.key(first, opening)?;
            let (value, mark) = self.value(opening)?;
            let value = value.ok_or_else(|| self.error(mark, "expected a value after `=`"))?;
            entries.push(KeyValue { key, value, place: self.place(first) });
            match mark.text {
                "}" => break,
                "," => {}
                _ => return Err(self.error(mark, "expected `,` between parameters")),
            }
        }
        self.depth -= 1;
        Ok(entries)
    }

    /// Reads the words before `=`, which begin with `first`.
    fn key(&mut self, first: Token<'a>, opening: Token) -> Result<String> {
        let mut key = Vec::new();
        let mut token = first;
        while token.text != "=" {
            if is_mark(token.text) {
                return Err(self.error(token, "expected `key = value`"));
            }
            key.push(token.text);
            token = self.next_inner_token(opening)?;
        }
        if key.is_empty() { Err(self.error(first, "expected a key before `=`")) } else { Ok(key.join(" ")) }
    }

    /// Reads a value, if there is one, and the mark after it.
    fn value(&mut self, opening: Token<'a>) -> Result<(Option<Value>, Token<'a>)> {
        let mut text: Vec<Token> = Vec::new();
        loop {
            let token = self.next_inner_token(opening)?;
            let value = match (token.text, &text[..]) {
                ("[", []) => Value::List(self.list(token)?),
                ("{", [kind, name @ ..]) => {
                    let name: Vec<&str> = name.iter().map(|word| word.text).collect();
                    let (kind, name, place) = (kind.text.to_owned(), name.join(" "), self.place(*kind));
                    Value::Block(Block { kind, name, place, entries: self.entries(token)? })
                }
                ("source", []) => self.sourced_block(token)?,
                (mark, []) if is_mark(mark) => return Ok((None, token)),
                ("," | "}" | "]", text) => {
                    let text: Vec<&str> = text.iter().map(|word| word.text).collect();
                    return Ok((Some(Value::Words(text.join(" "))), token));
                }
                (mark, _) if is_mark(mark) => {
                    return Err(self.error(token, "expected `,` between parameters"));
                }
                _ => {
                    text.push(token);
                    continue;
                }
            };
            return Ok((Some(value), self.next_inner_token(opening)?));
        }
    }

    /// Reads the block in the file whose name is the next token.
    fn sourced_block(&mut self, source: Token) -> Result<Value> {
        let (path, text) = self.open_source(source)?;
        let mut parser = Parser::new(&text, &path, self.open, self.depth + 1);
        match parser.take() {
            Some(token) if token.text == "source" => parser.sourced_block(token),
            Some(token) if !is_mark(token.text) => parser.block(token).map(Value::Block),
            Some(token) => Err(parser.error(token, "expected a block")),
            None => Err(self.error(source, format!("{} is empty", path.display()))),
        }
    }

    /// The items of a list up to its closing bracket.
    fn list(&mut self, opening: Token<'a>) -> Result<Vec<Value>> {
        self.enter_block(opening)?;
        let mut items = Vec::new();
        loop {
            let (item, mark) = self.value(opening)?;
            items.extend(item);
            match mark.text {
                "]" => break,
                "," => {}
                _ => return Err(self.error(mark, "expected `,` between the items of a list")),
            }
        }
        self.depth -= 1;
        Ok(items)
    }

    /// Skips to the end of a block or list.
    fn skip(&mut self, opening: Token) -> Result<()> {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.next_inner_token(opening)?.text {
                "{" | "[" => depth += 1,
                "}" | "]" => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }
}

const MARKS: [char; 6] = ['{', '}', '[', ']', '=', ','];

fn is_mark(text: &str) -> bool {
    text.starts_with(MARKS)
}

/// Cuts the text into words and marks, without comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut remaining = line.split('#').next().unwrap_or_default();
        let mut column = 1;
        loop {
            let word = remaining.trim_start();
            column += remaining[..remaining.len() - word.len()].chars().count() as u64;
            let Some(first) = word.chars().next() else { break };
            let length = if MARKS.contains(&first) {
                1
            } else {
                word.find(|c: char| c.is_whitespace() || MARKS.contains(&c)).unwrap_or(word.len())
            };
            let (text, after) = word.split_at(length);
            tokens.push(Token { text, line: number, column });
            column += text.chars().count() as u64;
            remaining = after;
        }
    }
    tokens
}
