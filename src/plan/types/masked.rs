//! The plan as the analysis sees it: without comments, and with the context's type declared.

use emmylua_parser::{LuaChunk, LuaClosureExpr, LuaExpr, LuaStat, LuaVarExpr};

use luaplan_syntax::Span;

use crate::names::found::{comments, span_of};

/// The class of the context in the declarations.
pub(super) const CONTEXT: &str = "Context";

/// Source of the same length as the plan's, except for inserted lines.
#[derive(Clone)]
pub(super) struct Masked {
    /// The plan without its comments.
    plain: String,
    /// Places in the plan, in order, and the lines inserted there.
    inserted: Vec<(usize, String)>,
    /// `plain` with the lines.
    pub(super) text: String,
}

impl Masked {
    /// The plan without its comments; `run`'s parameter is declared where `with_context` says so.
    pub(super) fn new(chunk: &LuaChunk, source: &str, with_context: bool) -> Self {
        let mut bytes = source.as_bytes().to_vec();
        for (start, end) in comments(chunk) {
            for byte in bytes.get_mut(start..end).unwrap_or_default() {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        for byte in &mut bytes {
            if matches!(*byte, b'\x0b' | b'\x0c') {
                *byte = b' ';
            }
        }
        // Whole comments are blanked, so the rest is as valid as before.
        let plain = String::from_utf8(bytes).unwrap_or_default();
        let entry = with_context.then(|| entry(chunk)).flatten();
        let line = |(at, parameter)| (at, format!("\n---@param {parameter} {CONTEXT}\n"));
        Self { text: plain.clone(), plain, inserted: Vec::new() }.with(entry.map(line))
    }

    /// The same with further lines, each at its place in the plan as written.
    pub(super) fn with(&self, lines: impl IntoIterator<Item = (usize, String)>) -> Self {
        let mut inserted = self.inserted.clone();
        inserted.extend(lines);
        inserted.sort();
        let mut text = self.plain.clone();
        for (at, line) in inserted.iter().rev() {
            if text.is_char_boundary(*at) {
                text.insert_str(*at, line);
            }
        }
        Self { plain: self.plain.clone(), inserted, text }
    }

    /// The bytes in the plan as written.
    pub(super) fn original(&self, (start, end): Span) -> Span {
        (self.original_place(start), self.original_place(end))
    }

    /// The place in the plan as written.
    pub(super) fn original_place(&self, offset: usize) -> usize {
        let mut shift = 0;
        for (at, line) in &self.inserted {
            let start = at + shift;
            if offset >= start + line.len() {
                shift += line.len();
            } else if offset > start {
                return *at;
            } else {
                break;
            }
        }
        offset - shift
    }
}

/// The start of the last top-level statement that defines `run`, and its first parameter.
fn entry(chunk: &LuaChunk) -> Option<(usize, String)> {
    let defining = |statement: LuaStat| {
        let (closure, at) = match &statement {
            LuaStat::FuncStat(function) => match function.get_func_name()? {
                LuaVarExpr::NameExpr(name) if name.get_name_text()? == "run" => {
                    (function.get_closure()?, span_of(&statement).0)
                }
                _ => return None,
            },
            LuaStat::AssignStat(assignment) => {
                let (targets, values) = assignment.get_var_and_expr_list();
                match (targets.as_slice(), values.as_slice()) {
                    ([LuaVarExpr::NameExpr(name)], [LuaExpr::ClosureExpr(closure)])
                        if name.get_name_text()? == "run" =>
                    {
                        (closure.clone(), span_of(&statement).0)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some((at, first_parameter(&closure)?))
    };
    chunk.get_block()?.get_stats().filter_map(defining).last()
}

fn first_parameter(closure: &LuaClosureExpr) -> Option<String> {
    let first = closure.get_params_list()?.get_params().next()?;
    Some(first.get_name_token()?.get_name_text().to_owned())
}
