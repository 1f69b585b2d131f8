//! The syntax of DiskSim parameter files, as far as device blocks need it.
//!
//! A file is a sequence of blocks `type name { key = value, ... }` and statements of other
//! kinds. Keys are words with blanks between them; a value is a word, a list in brackets or a block
//! of its own; `#` starts a comment. Only blocks of one type are read, all else is passed over.

use sledlab_core::{Error, Result};

/// A word or a mark, with its place. Lines and columns count from 1.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    line: u64,
    column: u64,
}

impl Token<'_> {
    fn is(&self, mark: &str) -> bool {
        self.text == mark
    }
}

/// One `key = value` of a block.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The words of the key, one blank between them.
    pub key: String,
    /// The value where it is a word.
    pub value: Value,
    pub line: u64,
    pub column: u64,
}

/// The value of an entry.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Word(String),
    Block(Vec<Entry>),
    /// A list; no parameter of the devices here takes one.
    List,
}

impl Entry {
    /// An error at this entry.
    pub(super) fn error(&self, file: &str, error: Error) -> Error {
        let value = match &self.value {
            Value::Word(word) => word,
            Value::Block(_) => "{ ... }",
            Value::List => "[ ... ]",
        };
        error.at(file, self.line, self.column, format!("{} = {value}", self.key).as_bytes())
    }
}

/// A block of the wanted type.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub name: String,
    pub line: u64,
    pub entries: Vec<Entry>,
}

/// All blocks of type `wanted` in `text`, in order. `file` is for error messages.
pub(super) fn read(text: &str, file: &str, wanted: &str) -> Result<Vec<Block>> {
    let mut parser = Parser { tokens: tokens(text), next: 0, file };
    let mut blocks = Vec::new();
    while let Some(token) = parser.take() {
        match token.text {
            word if word == wanted => blocks.push(parser.block(token)?),
            "{" | "[" => parser.skip(token)?,
            "}" | "]" => return Err(parser.error(token, "no block or list to close here")),
            _ => {}
        }
    }
    Ok(blocks)
}

/// How deep blocks may nest: DiskSim's own go three deep.
const DEPTH: u32 = 16;

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    file: &'a str,
}

impl<'a> Parser<'a> {
    fn take(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.next).copied();
        self.next += 1;
        token
    }

    fn error(&self, at: Token, message: impl Into<String>) -> Error {
        Error::user(message).at(self.file, at.line, at.column, at.text.as_bytes())
    }

    /// The next token of a block or list that `opening` opened.
    fn within(&mut self, opening: Token) -> Result<Token<'a>> {
        self.take().ok_or_else(|| {
            self.error(opening, "the file ends before this is closed")
                .with_remedy("the file may be cut off; look for a missing `}` or `]`")
        })
    }

    /// The rest of a block after its type, `start`.
    fn block(&mut self, start: Token) -> Result<Block> {
        let mut name = Vec::new();
        loop {
            match self.take() {
                Some(token) if token.is("{") => {
                    let entries = self.entries(token, 1)?;
                    return Ok(Block { name: name.join(" "), line: start.line, entries });
                }
                Some(token) if !is_mark(token.text) => name.push(token.text),
                other => {
                    let message = format!("expected a name and `{{` after `{}`", start.text);
                    return Err(self.error(other.unwrap_or(start), message));
                }
            }
        }
    }

    /// The entries of a block up to its closing brace.
    fn entries(&mut self, opening: Token, depth: u32) -> Result<Vec<Entry>> {
        if depth > DEPTH {
            return Err(self.error(opening, format!("blocks nest more than {DEPTH} deep")));
        }
        let mut entries = Vec::new();
        loop {
            let first = self.within(opening)?;
            match first.text {
                "}" => return Ok(entries),
                // An empty place between commas does no harm.
                "," => continue,
                _ => {}
            }
            let key = self.key(first, opening)?;
            let (value, last) = self.value(opening, depth)?;
            entries.push(Entry { key, value, line: first.line, column: first.column });
            if last.is("}") {
                return Ok(entries);
            }
        }
    }

    /// The words before `=`, of which `first` is the first.
    fn key(&mut self, first: Token<'a>, opening: Token) -> Result<String> {
        let mut key = Vec::new();
        let mut token = first;
        while !token.is("=") {
            if is_mark(token.text) {
                return Err(self.error(token, "expected `key = value`"));
            }
            key.push(token.text);
            token = self.within(opening)?;
        }
        if key.is_empty() { Err(self.error(first, "expected a key before `=`")) } else { Ok(key.join(" ")) }
    }

    /// A value and the mark after it, `,` or `}`.
    fn value(&mut self, opening: Token, depth: u32) -> Result<(Value, Token<'a>)> {
        let mut words = Vec::new();
        loop {
            let token = self.within(opening)?;
            let value = match token.text {
                "{" => Value::Block(self.entries(token, depth + 1)?),
                "[" => {
                    self.skip(token)?;
                    Value::List
                }
                "," | "}" => return self.word(&words, token).map(|word| (word, token)),
                "=" | "]" => return Err(self.error(token, "expected `,` between parameters")),
                word => {
                    words.push(word);
                    continue;
                }
            };
            let mark = self.within(opening)?;
            return match mark.text {
                "," | "}" => Ok((value, mark)),
                _ => Err(self.error(mark, "expected `,` between parameters")),
            };
        }
    }

    fn word(&self, words: &[&str], end: Token) -> Result<Value> {
        match words {
            [word] => Ok(Value::Word((*word).to_owned())),
            [] => Err(self.error(end, "expected a value after `=`")),
            several => {
                Err(self.error(end, format!("expected one value, found `{}`", shortened(&several.join(" ")))))
            }
        }
    }

    /// Passes over the rest of a block or list, whatever it holds.
    fn skip(&mut self, opening: Token) -> Result<()> {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.within(opening)?.text {
                "{" | "[" => depth += 1,
                "}" | "]" => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 {
        text.to_owned()
    } else {
        text.chars().take(60).collect::<String>() + " ..."
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
        let mut rest = line.split('#').next().unwrap_or_default();
        let mut column = 1;
        loop {
            let word = rest.trim_start();
            column += rest[..rest.len() - word.len()].chars().count() as u64;
            let Some(first) = word.chars().next() else { break };
            let length = if MARKS.contains(&first) {
                1
            } else {
                word.find(|c: char| c.is_whitespace() || MARKS.contains(&c)).unwrap_or(word.len())
            };
            let (text, after) = word.split_at(length);
            tokens.push(Token { text, line: number, column });
            column += text.chars().count() as u64;
            rest = after;
        }
    }
    tokens
}
