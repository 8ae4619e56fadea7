//! The plan library in a prompt: every function by name and parameters, those nearest to the task declared in full.
//!
//! The first is the same for every task, so it stands in the part of the prompt that a provider can keep.

use std::cmp::Reverse;

use luaplan_catalog::{WeightedWords, relevance};
use luaplan_llm::count_tokens;

/// The most tokens of the declarations in full.
pub(super) const TOKENS_MAX: u64 = 400;

/// How much a word counts: in a function's name, among the words of tasks that it is for, in its description.
const NAME_WEIGHT: u32 = 3;
const TASK_WEIGHT: u32 = 3;
/// What a function of wide use has before any word of the task is looked at.
const WIDE_USE: f64 = 5.0;

/// `FUNCTION: words`: the words with which tasks ask for a function and that its description lacks; `+` before a
/// function of wide use.
pub(super) const TASK_WORDS: &str = include_str!("library_words.txt");

/// Types that stand in many declarations, and how the note of `list` calls them.
const SHORT_TYPES: [(&str, &str); 2] = [
    ("string|fun(item: any, index: integer): any", "key"),
    ("table|fun(item: any, index: integer): any", "test"),
];

const INDEX_NOTE: &str = "\
Every function by its parameters; `?` marks one that may be left out. Those nearest to the task are declared with it.";

/// One function of the library.
#[derive(Debug)]
struct LibraryFunction {
    /// `list.sort_by`
    name: String,
    /// `sort_by(items, key, direction?)`
    signature: String,
    /// With types and what it does, on one line.
    declaration: String,
    description: String,
    /// Its place among the libraries.
    library: usize,
}

impl LibraryFunction {
    /// Whether it belongs to no library. Plans without need of it are more than those with: it is shown where the task
    /// has one of its words, or the conversation its name.
    fn is_global(&self) -> bool {
        !self.name.contains('.')
    }
}

/// One library: `list` and others.
#[derive(Debug)]
struct Library {
    name: String,
    /// What holds for all of its functions.
    note: String,
    /// Types that its declarations name: `(name, declaration)`.
    aliases: Vec<(String, String)>,
    /// Its members that are no functions.
    values: Vec<String>,
}

/// The library of a prompt during trimming.
#[derive(Debug)]
pub(super) struct LibraryChoice {
    libraries: Vec<Library>,
    functions: Vec<LibraryFunction>,
    index: String,
    declared: String,
}

impl LibraryChoice {
    /// All functions by name, and those nearest to `words` in full. Functions that `conversation` names come first.
    pub(super) fn new(stubs: &str, words: &str, conversation: &str) -> Self {
        let (libraries, functions) = read(stubs);
        let mut choice = Self { libraries, functions, index: String::new(), declared: String::new() };
        if !choice.functions.is_empty() {
            choice.index = choice.write_index();
            choice.declared = choice.fit(&choice.order(words, conversation));
        }
        choice
    }

    /// The section that is the same for every task.
    pub(super) fn index(&self) -> &str {
        &self.index
    }

    /// The section of the functions nearest to the task.
    pub(super) fn declared(&self) -> &str {
        &self.declared
    }

    /// Leaves out the declarations in full. Says whether there were any.
    pub(super) fn leave_out_declared(&mut self) -> bool {
        !std::mem::take(&mut self.declared).is_empty()
    }

    /// Leaves out the functions by name. Says whether there were any.
    pub(super) fn leave_out_index(&mut self) -> bool {
        !std::mem::take(&mut self.index).is_empty()
    }

    fn write_index(&self) -> String {
        let line = |(at, library): (usize, &Library)| {
            let functions =
                self.functions.iter().filter(|function| function.library == at && !function.is_global());
            let members: Vec<&str> = library
                .values
                .iter()
                .map(String::as_str)
                .chain(functions.map(|function| function.signature.as_str()))
                .collect();
            let note = if library.note.is_empty() { String::new() } else { format!(" ({})", library.note) };
            format!("- `{}`{note}: {}", library.name, members.join(", "))
        };
        let lines: Vec<String> = self.libraries.iter().enumerate().map(line).collect();
        format!("## Library\n\n{INDEX_NOTE}\n\n{}", lines.join("\n"))
    }

    /// The places of all functions, nearest first.
    fn order(&self, words: &str, conversation: &str) -> Vec<usize> {
        let hints = task_words();
        let asked = words.to_lowercase();
        let hint = |name: &str| hints.iter().find(|hint| hint.function == name);
        let texts: Vec<WeightedWords> = self
            .functions
            .iter()
            .map(|function| {
                let mut words = WeightedWords::default();
                // The name of its library says little: tasks are full of lists, texts and dates.
                words.add(function.signature.split('(').next().unwrap_or_default(), NAME_WEIGHT);
                words.add(&function.description, 1);
                words.add(hint(&function.name).map_or("", |hint| hint.words), TASK_WEIGHT);
                words
            })
            .collect();
        let mut ranked: Vec<(usize, bool, f64)> = self
            .functions
            .iter()
            .zip(relevance(&texts, words))
            .enumerate()
            .map(|(at, (function, score))| {
                let is_wide = hint(&function.name).is_some_and(|hint| hint.is_of_wide_use);
                let is_named = conversation.contains(&format!("{}(", function.name));
                (at, is_named, score + if is_wide { WIDE_USE } else { 0.0 })
            })
            .collect();
        ranked.retain(|(at, is_named, _)| {
            let function = self.functions.get(*at).filter(|function| function.is_global());
            *is_named
                || function.is_none_or(|function| {
                    hint(&function.name)
                        .is_some_and(|hint| hint.words.split(' ').any(|word| has_word(&asked, word)))
                })
        });
        ranked.sort_by(|(a_at, a_named, a), (b_at, b_named, b)| {
            Reverse(a_named).cmp(&Reverse(b_named)).then_with(|| b.total_cmp(a)).then_with(|| a_at.cmp(b_at))
        });
        ranked.into_iter().map(|(at, ..)| at).collect()
    }

    /// As many of the first as fit, in the order of the library.
    fn fit(&self, order: &[usize]) -> String {
        let mut used = count_tokens(&self.write_declared(&[]));
        let mut shown = Vec::new();
        for at in order {
            let Some(function) = self.functions.get(*at) else { continue };
            used += count_tokens(&function.declaration) + 1;
            if used > TOKENS_MAX {
                break;
            }
            shown.push(*at);
        }
        // The types that the functions name come on top.
        while count_tokens(&self.write_declared(&shown)) > TOKENS_MAX && shown.pop().is_some() {}
        if shown.is_empty() { String::new() } else { self.write_declared(&shown) }
    }

    fn write_declared(&self, shown: &[usize]) -> String {
        let mut lines: Vec<&str> = Vec::new();
        let mut functions: Vec<&str> = Vec::new();
        for (_, function) in self.functions.iter().enumerate().filter(|(at, _)| shown.contains(at)) {
            functions.push(&function.declaration);
            let aliases = self.libraries.get(function.library).map(|library| library.aliases.as_slice());
            self.name_types(aliases.unwrap_or_default(), &function.declaration, &mut lines);
        }
        lines.extend(functions);
        format!("## Library functions near to the task\n\n```lua\n{}\n```", lines.join("\n"))
    }

    /// Adds the declarations of the types that `text` names, and of those that they name, before the first use.
    fn name_types<'a>(&'a self, aliases: &'a [(String, String)], text: &str, lines: &mut Vec<&'a str>) {
        for (name, declaration) in aliases {
            if has_word(text, name) && !lines.contains(&declaration.as_str()) {
                let rest: &str = declaration.split_once(name.as_str()).map_or("", |(_, rest)| rest);
                self.name_types(aliases, rest, lines);
                lines.push(declaration);
            }
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|part| part == word)
}

struct TaskWords {
    function: &'static str,
    words: &'static str,
    is_of_wide_use: bool,
}

fn task_words() -> Vec<TaskWords> {
    let read = |line: &'static str| {
        let (function, words) = line.split_once(':')?;
        let wide = function.strip_prefix('+');
        Some(TaskWords {
            function: wide.unwrap_or(function),
            words: words.trim(),
            is_of_wide_use: wide.is_some(),
        })
    };
    TASK_WORDS.lines().filter(|line| !line.starts_with('#')).filter_map(read).collect()
}

/// Reads LuaCATS declarations: a block is the lines up to an empty one. A block belongs to the library that it declares
/// (`NAME = {}`) or whose function it declares, else to the one before.
fn read(stubs: &str) -> (Vec<Library>, Vec<LibraryFunction>) {
    let mut libraries: Vec<Library> = Vec::new();
    let mut functions = Vec::new();
    let text = stubs.replace("\r\n", "\n");
    for block in text.split("\n\n").map(str::trim).filter(|block| !block.is_empty()) {
        let block = Block::read(block);
        let Some(at) = place(&mut libraries, block.library) else { continue };
        if let Some(library) = libraries.get_mut(at) {
            library.note = [library.note.as_str(), &block.notes.join(" ")].concat();
            library.aliases.extend(block.aliases.iter().map(|(name, line)| ((*name).into(), (*line).into())));
            library.values.extend(block.value.map(str::to_owned));
        }
        functions.extend(block.function(at));
    }
    (libraries, functions)
}

/// The place of the library of that name, which is made where there is none; without a name that of the last.
fn place(libraries: &mut Vec<Library>, name: Option<&str>) -> Option<usize> {
    let Some(name) = name else { return libraries.len().checked_sub(1) };
    let known = libraries.iter().position(|library| library.name == name);
    known.or_else(|| {
        libraries.push(Library {
            name: name.to_owned(),
            note: String::new(),
            aliases: Vec::new(),
            values: Vec::new(),
        });
        libraries.len().checked_sub(1)
    })
}

/// The lines of a block by what they say.
#[derive(Default)]
struct Block<'a> {
    library: Option<&'a str>,
    notes: Vec<&'a str>,
    description: Vec<&'a str>,
    aliases: Vec<(&'a str, &'a str)>,
    parameters: Vec<&'a str>,
    returns: Vec<&'a str>,
    /// `list.map`
    function: Option<&'a str>,
    value: Option<&'a str>,
}

impl<'a> Block<'a> {
    fn read(text: &'a str) -> Self {
        let mut block = Self::default();
        for line in text.lines() {
            if let Some(parameter) = line.strip_prefix("---@param ") {
                block.parameters.push(parameter);
            } else if let Some(result) = line.strip_prefix("---@return ") {
                block.returns.push(result);
            } else if let Some(alias) = line.strip_prefix("---@alias ") {
                let name = alias.split_once(' ').map_or(alias, |(name, _)| name);
                block.aliases.push((name, line));
            } else if line.starts_with("---@") {
            } else if let Some(description) = line.strip_prefix("---") {
                block.description.push(description);
            } else if let Some(note) = line.strip_prefix("-- ") {
                block.notes.push(note);
            } else if let Some(rest) = line.strip_prefix("function ") {
                block.function = rest.split_once('(').map(|(name, _)| name);
                block.library =
                    block.function.and_then(|name| name.split_once('.')).map(|(library, _)| library);
            } else if let Some(name) = line.strip_suffix(" = {}") {
                block.library = Some(name);
            } else if let Some((library, member)) =
                line.split_once(" = ").and_then(|(name, _)| name.split_once('.'))
            {
                (block.library, block.value) = (Some(library), Some(member));
            }
        }
        block
    }

    /// The function it declares, of the library at this place.
    fn function(&self, library: usize) -> Option<LibraryFunction> {
        let name = self.function?;
        let short = name.split_once('.').map_or(name, |(_, short)| short);
        let names: Vec<&str> = self.parameters.iter().map(|line| word(line).0).collect();
        let typed: Vec<String> = self
            .parameters
            .iter()
            .map(|line| {
                let (name, mut rest) = word(line);
                for (long, short) in SHORT_TYPES {
                    rest = if rest == long { short } else { rest };
                }
                format!("{name}: {rest}")
            })
            .collect();
        let returns =
            if self.returns.is_empty() { String::new() } else { format!(": {}", self.returns.join(", ")) };
        let description = self.description.join(" ");
        let says = if description.is_empty() { String::new() } else { format!(" -- {description}") };
        Some(LibraryFunction {
            name: name.to_owned(),
            signature: format!("{short}({})", names.join(", ")),
            declaration: format!("{name}({}){returns}{says}", typed.join(", ")),
            description,
            library,
        })
    }
}

fn word(line: &str) -> (&str, &str) {
    line.split_once(' ').unwrap_or((line, ""))
}
