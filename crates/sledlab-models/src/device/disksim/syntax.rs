//! The syntax of DiskSim parameter files: blocks of `key = value`, which may lie in several files.
//!
//! A file is a sequence of blocks `type name { key = value, ... }`, of `source FILE`, and of statements of other
//! kinds, which are ignored. Keys are words with blanks between them; a value is a word, a list in brackets, a block
//! or `source FILE`, which stands for the block in that file; `#` starts a comment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sledlab_core::Error;

use super::faults::Faults;
use super::text::decode;

/// Reads a file that another file names.
pub type OpenFile<'a> = &'a dyn Fn(&Path) -> std::io::Result<Vec<u8>>;

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
    /// Whether all entries could be read. Otherwise entries that seem to be missing may be among those with faults.
    pub is_complete: bool,
}

impl Block {
    /// Sets the location of `error` to that of the block.
    pub fn error(&self, error: Error) -> Error {
        self.place.error(error, &format!("{} {}", self.kind, self.name))
    }

    /// Checks that no key is given twice.
    pub fn check_unique(&self, faults: &mut Faults) {
        for (number, entry) in self.entries.iter().enumerate() {
            if let Some(first) = self.entries[..number].iter().find(|earlier| earlier.key == entry.key) {
                let error = Error::user(format!("`{}` is given twice", entry.key))
                    .with_remedy(format!("it is on line {} already", first.place.line));
                faults.add(entry.error(error));
            }
        }
    }
}

/// A block that is in no other block, with the faults of its syntax.
#[derive(Clone, Debug)]
pub(in crate::device) struct TopLevelBlock {
    pub block: Block,
    pub faults: Faults,
}

/// The blocks of some kinds in a file and in the files that it includes, in order.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct TopLevelBlocks {
    pub blocks: Vec<TopLevelBlock>,
    /// Faults of the syntax outside the blocks.
    pub faults: Faults,
    /// Faults of included files that cannot be read. Devices in the other files may do without them.
    pub unread_files: Faults,
}

/// Returns all blocks of the `kinds` in `text` and in the files that it includes.
pub(in crate::device) fn read(text: &str, file: &Path, kinds: &[&str], open: OpenFile) -> TopLevelBlocks {
    let mut result = TopLevelBlocks::default();
    let mut faults = Faults::default();
    Parser::new(text, file, open, 0, &mut faults).find(kinds, &mut result);
    result.faults = faults;
    result
}

/// The kind of the blocks that describe a bus.
pub(super) const BUS: &str = "disksim_bus";

/// Greatest depth to which blocks, lists and files may nest; DiskSim's own files nest seven deep.
const DEPTH: u32 = 32;

#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    line: u64,
    column: u64,
}

/// Reads one file. A function that returns `None` has added the fault and stopped at the token with the fault.
struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    file: Arc<Path>,
    open: OpenFile<'a>,
    depth: u32,
    faults: &'a mut Faults,
    /// Whether the file ends inside a block, which is added to the faults once.
    is_cut_off: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: &Path, open: OpenFile<'a>, depth: u32, faults: &'a mut Faults) -> Self {
        Parser { tokens: tokens(text), next: 0, file: file.into(), open, depth, faults, is_cut_off: false }
    }

    fn take(&mut self) -> Option<Token<'a>> {
        let token = if self.faults.is_aborted() { None } else { self.tokens.get(self.next).copied() };
        self.next += usize::from(token.is_some());
        token
    }

    fn place(&self, token: Token) -> SyntaxPlace {
        SyntaxPlace { file: self.file.clone(), line: token.line, column: token.column }
    }

    fn error(&self, token: Token, message: impl Into<String>) -> Error {
        self.place(token).error(Error::user(message), token.text)
    }

    /// Adds a fault at a token.
    fn fault<T>(&mut self, token: Token, message: impl Into<String>, remedy: &str) -> Option<T> {
        let error = self.error(token, message).with_remedy(remedy);
        self.faults.add(error);
        None
    }

    /// The next token of the block or list that `opening` opened.
    fn next_inner_token(&mut self, opening: Token) -> Option<Token<'a>> {
        let token = self.take();
        if token.is_none() && !self.is_cut_off {
            self.is_cut_off = true;
            let error = self
                .error(opening, "the file ends before this is closed")
                .with_remedy("the file may be cut off; look for a missing `}` or `]`");
            self.faults.add(error);
        }
        token
    }

    /// Continues after a fault in a block or list: skips to its next item, and returns whether there may be one.
    fn skip_item(&mut self, closing: &str) -> bool {
        if self.is_cut_off {
            return false;
        }
        // The token with the fault may itself end the item.
        self.next = self.next.saturating_sub(1);
        let mut depth = 0_u64;
        while let Some(token) = self.take() {
            match token.text {
                "," if depth == 0 => return true,
                mark if depth == 0 && mark == closing => return false,
                "{" | "[" => depth += 1,
                "}" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.is_cut_off = true;
        false
    }

    /// Collects the blocks of the `kinds` and skips all other tokens.
    fn find(&mut self, kinds: &[&str], blocks: &mut TopLevelBlocks) {
        while let Some(token) = self.take() {
            match token.text {
                "source" => {
                    let outer_faults = std::mem::take(self.faults);
                    let source = self.open_source(token);
                    let inner_faults = std::mem::replace(self.faults, outer_faults);
                    blocks.unread_files.extend(&inner_faults);
                    if inner_faults.is_aborted() {
                        self.faults.extend(&inner_faults);
                    }
                    if let Some((path, text)) = source {
                        Parser::new(&text, &path, self.open, self.depth + 1, self.faults).find(kinds, blocks);
                    }
                }
                word if kinds.contains(&word) => {
                    // Faults of one block do not concern the device in another one.
                    let outer_faults = std::mem::take(self.faults);
                    let block = self.block(token);
                    let inner_faults = std::mem::replace(self.faults, outer_faults);
                    if inner_faults.is_aborted() || block.is_none() {
                        self.faults.extend(&inner_faults);
                    }
                    blocks.blocks.extend(block.map(|block| TopLevelBlock { block, faults: inner_faults }));
                }
                "{" | "[" => self.skip(token),
                "}" | "]" => {
                    self.fault::<()>(
                        token,
                        "no block or list to close here",
                        "delete it, or look for a missing `{` or `[`",
                    );
                }
                _ => {}
            }
        }
    }

    /// Path and text of the file whose name is the next token; `source` is the token before.
    fn open_source(&mut self, source: Token) -> Option<(PathBuf, String)> {
        let Some(name) = self.take().filter(|token| !is_mark(token.text)) else {
            let message = "expected the name of a file after `source`";
            return self.fault(source, message, "write `source FILE`");
        };
        let path = self.file.parent().unwrap_or(Path::new("")).join(name.text);
        if self.depth >= DEPTH {
            let error = self.error(name, format!("source files are nested more than {DEPTH} levels deep"));
            self.faults.abort(error);
            return None;
        }
        let data = (self.open)(&path).map_err(|error| {
            self.error(name, format!("cannot read {}: {error}", path.display()))
                .with_remedy("put it in the directory of the file that names it")
        });
        let data = self.faults.check(data)?;
        let text = self.faults.check(decode(&data, &path))?.into_owned();
        Some((path, text))
    }

    /// Reads a block after the token of its kind, `start`.
    fn block(&mut self, start: Token<'a>) -> Option<Block> {
        let mut name = Vec::new();
        loop {
            match self.take() {
                Some(token) if token.text == "{" => {
                    let place = self.place(start);
                    return Some(self.block_after(token, start.text.to_owned(), name.join(" "), place));
                }
                Some(token) if !is_mark(token.text) => name.push(token.text),
                other => {
                    let message = format!("expected a name and `{{` after `{}`", start.text);
                    return self.fault(other.unwrap_or(start), message, "write `KIND NAME { ... }`");
                }
            }
        }
    }

    /// Reads the rest of a block after its opening brace.
    fn block_after(&mut self, opening: Token<'a>, kind: String, name: String, place: SyntaxPlace) -> Block {
        let faults_before = self.faults.count();
        let entries = self.entries(opening);
        let is_complete = self.faults.count() == faults_before;
        Block { kind, name, place, entries, is_complete }
    }

    /// Enters a block or list, unless it is nested too deeply.
    fn enter(&mut self, opening: Token) -> bool {
        self.depth += 1;
        if self.depth > DEPTH {
            let error = self.error(opening, format!("blocks nest more than {DEPTH} deep"));
            self.faults.abort(error);
        }
        !self.faults.is_aborted()
    }

    /// The entries of a block up to its closing brace.
    fn entries(&mut self, opening: Token<'a>) -> Vec<KeyValue> {
        let mut entries = Vec::new();
        if self.enter(opening) {
            loop {
                match self.entry(opening, &mut entries) {
                    Some("}") => break,
                    Some(_) => {}
                    None if self.skip_item("}") => {}
                    None => break,
                }
            }
        }
        self.depth -= 1;
        entries
    }

    /// Reads an entry of a block, and returns the mark after it.
    fn entry(&mut self, opening: Token<'a>, entries: &mut Vec<KeyValue>) -> Option<&'a str> {
        let first = self.next_inner_token(opening)?;
        // An empty place between commas is ignored.
        if first.text == "}" || first.text == "," {
            return Some(first.text);
        }
        let key = self.key(first, opening)?;
        let (value, mark) = self.value(opening)?;
        let Some(value) = value else {
            return self.fault(mark, "expected a value after `=`", "write `key = value`");
        };
        entries.push(KeyValue { key, value, place: self.place(first) });
        self.end_of_item(mark, "}")
    }

    /// Checks the mark after an item. After a missing comma the next item is read.
    fn end_of_item(&mut self, mark: Token<'a>, closing: &str) -> Option<&'a str> {
        if mark.text == "," || mark.text == closing {
            return Some(mark.text);
        }
        // `mark` was read last, after the item.
        self.missing_comma(self.tokens[self.next - 2]);
        if is_mark(mark.text) {
            return None;
        }
        self.next -= 1;
        Some(",")
    }

    /// Adds a fault at the last token of the item that no comma follows: the next item may be lines below.
    fn missing_comma(&mut self, last_token: Token) {
        self.fault::<()>(last_token, "expected `,` after this", "end each item but the last with `,`");
    }

    /// Reads the words before `=`, which begin with `first`.
    fn key(&mut self, first: Token<'a>, opening: Token) -> Option<String> {
        let mut key = Vec::new();
        let mut token = first;
        while token.text != "=" {
            if is_mark(token.text) {
                return self.fault(token, "expected `key = value`", "write one parameter between two commas");
            }
            key.push(token.text);
            token = self.next_inner_token(opening)?;
        }
        if key.is_empty() {
            self.fault(first, "expected a key before `=`", "write `key = value`")
        } else {
            Some(key.join(" "))
        }
    }

    /// Reads a value, if there is one, and the mark after it.
    fn value(&mut self, opening: Token<'a>) -> Option<(Option<Value>, Token<'a>)> {
        let mut words: Vec<Token> = Vec::new();
        loop {
            let token = self.next_inner_token(opening)?;
            let value = match (token.text, &words[..]) {
                ("[", []) => Value::List(self.list(token)),
                ("{", [kind, name @ ..]) => {
                    let name: Vec<&str> = name.iter().map(|word| word.text).collect();
                    let place = self.place(*kind);
                    Value::Block(self.block_after(token, kind.text.to_owned(), name.join(" "), place))
                }
                ("source", []) => self.sourced_block(token)?,
                (mark, []) if is_mark(mark) => return Some((None, token)),
                ("," | "}" | "]", words) => {
                    let words: Vec<&str> = words.iter().map(|word| word.text).collect();
                    return Some((Some(Value::Words(words.join(" "))), token));
                }
                (mark, [value, next_key @ ..]) if is_mark(mark) => {
                    self.missing_comma(*value);
                    if mark != "=" || next_key.is_empty() {
                        return None;
                    }
                    // A comma is missing after a value of one word: the other words are the next key.
                    self.next -= 1 + next_key.len();
                    let comma = Token { text: ",", ..token };
                    return Some((Some(Value::Words(value.text.to_owned())), comma));
                }
                _ => {
                    words.push(token);
                    continue;
                }
            };
            return Some((Some(value), self.next_inner_token(opening)?));
        }
    }

    /// Reads the block in the file whose name is the next token.
    fn sourced_block(&mut self, source: Token) -> Option<Value> {
        let (path, text) = self.open_source(source)?;
        let is_empty = {
            let mut parser = Parser::new(&text, &path, self.open, self.depth + 1, self.faults);
            match parser.take() {
                Some(token) if token.text == "source" => return parser.sourced_block(token),
                Some(token) if !is_mark(token.text) => return parser.block(token).map(Value::Block),
                Some(token) => return parser.fault(token, "expected a block", "write `KIND NAME { ... }`"),
                None => !parser.faults.is_aborted(),
            }
        };
        if is_empty {
            self.fault(source, format!("{} is empty", path.display()), "copy the file again")
        } else {
            None
        }
    }

    /// The items of a list up to its closing bracket.
    fn list(&mut self, opening: Token<'a>) -> Vec<Value> {
        let mut items = Vec::new();
        if self.enter(opening) {
            loop {
                match self.item(opening, &mut items) {
                    Some("]") => break,
                    Some(_) => {}
                    None if self.skip_item("]") => {}
                    None => break,
                }
            }
        }
        self.depth -= 1;
        items
    }

    /// Reads an item of a list, and returns the mark after it.
    fn item(&mut self, opening: Token<'a>, items: &mut Vec<Value>) -> Option<&'a str> {
        let (item, mark) = self.value(opening)?;
        items.extend(item);
        self.end_of_item(mark, "]")
    }

    /// Skips to the end of a block or list.
    fn skip(&mut self, opening: Token) {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.next_inner_token(opening).map(|token| token.text) {
                Some("{" | "[") => depth += 1,
                Some("}" | "]") => depth -= 1,
                Some(_) => {}
                None => break,
            }
        }
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
        let mut unread = line.split('#').next().unwrap_or_default();
        let mut column = 1;
        loop {
            let word = unread.trim_start();
            column += unread[..unread.len() - word.len()].chars().count() as u64;
            let Some(first) = word.chars().next() else { break };
            let length = if MARKS.contains(&first) {
                1
            } else {
                word.find(|c: char| c.is_whitespace() || MARKS.contains(&c)).unwrap_or(word.len())
            };
            let (text, unparsed) = word.split_at(length);
            tokens.push(Token { text, line: number, column });
            column += text.chars().count() as u64;
            unread = unparsed;
        }
    }
    tokens
}
