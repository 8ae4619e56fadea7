//! Judges the global names of a plan: tools, the sandbox's own, forbidden ones and unknown ones.

use std::collections::{BTreeMap, HashSet};

use emmylua_parser::{LuaAstNode as _, LuaCallExpr, LuaChunk};

use luaplan_base::{ErrorCode, nearest};
use luaplan_catalog::{Catalog, ToolSpec};
use luaplan_syntax::{Span, swapped_environment};

use super::calls::{Calls, ToolCall};
use super::found::{GlobalUse, GlobalWrite, Walk, span_of};
use super::globals;
use crate::arguments;
use crate::guards::{Surrounding, is_behind_a_look, is_looked_at, place};
use crate::report::Report;

/// Reports on every global the plan uses, and on `run`.
/// Returns the calls of tools and library functions it found.
pub(crate) fn judge(chunk: &LuaChunk, walk: &Walk, catalog: &Catalog, report: &mut Report<'_>) -> Calls {
    let defined: HashSet<&str> = walk.writes.iter().map(|write| write.name.as_str()).collect();
    let mut judge =
        Judge { chunk, walk, catalog, defined, report, said: BTreeMap::new(), calls: Calls::default() };
    for used in &walk.uses {
        judge.use_of(used);
    }
    judge.say();
    judge.replaced();
    judge.environment();
    judge.run();
    judge.calls
}

/// Local variables whose names are compared with an unknown one; the comparison is quadratic.
const NEAR_LOCALS_MAX: usize = 500;

struct Judge<'a, 'source> {
    chunk: &'a LuaChunk,
    walk: &'a Walk,
    catalog: &'a Catalog,
    defined: HashSet<&'a str>,
    report: &'a mut Report<'source>,
    /// One verdict per name, with its number of uses.
    said: BTreeMap<(String, bool), NameVerdict>,
    calls: Calls,
}

struct NameVerdict {
    code: ErrorCode,
    is_error: bool,
    span: Span,
    message: String,
    help: String,
    times: usize,
}

impl Judge<'_, '_> {
    fn use_of(&mut self, used: &GlobalUse) {
        let name = used.name.as_str();
        if self.defined.contains(name) {
            return;
        }
        if let Some(member) = used.member.as_deref() {
            if self.walk.members.contains_key(&format!("{name}.{member}")) {
                return;
            }
            if self.is_server(name) {
                self.server_member(used, member);
                return;
            }
        }
        if let Some(spec) = self.catalog.get(name) {
            match (&used.member, &used.call) {
                (Some(member), _) => self.member_of_tool(used, member),
                (None, Some(call)) => self.tool_call(spec, call, 0),
                (None, None) => {}
            }
        } else if let Some(help) = globals::instead_of(name, used.member.as_deref())
            .filter(|_| !globals::is_allowed(name) || self.is_absent_member(used))
        {
            self.forbidden(used, help);
        } else if globals::is_allowed(name) {
            self.allowed(used);
        } else if self.is_server(name) {
            self.server(used);
        } else {
            self.unknown(used);
        }
    }

    fn tool_call(&mut self, spec: &ToolSpec, call: &LuaCallExpr, skip: usize) {
        self.calls.tools.push(ToolCall { tool: spec.name.clone(), span: span_of(call), skip });
        arguments::check(spec, call, skip, self.report);
    }

    /// A tool is a function, and has no members.
    fn member_of_tool(&mut self, used: &GlobalUse, member: &str) {
        let name = &used.name;
        let message = format!("`{name}` is a tool, and has no `{member}`");
        let help = format!("call the tool itself: `{name}{{…}}`");
        let is_error = !is_behind_a_look(used.expression.syntax(), &path_of(used));
        self.note(used, ErrorCode::PlanUnknownTool, is_error, message, help);
    }

    fn is_absent_member(&self, used: &GlobalUse) -> bool {
        let members = globals::members_of(&used.name);
        members.is_some_and(|members| used.member.as_deref().is_some_and(|member| !members.contains(&member)))
    }

    fn is_server(&self, name: &str) -> bool {
        self.catalog.names().any(|tool| tool.split_once('.').is_some_and(|(server, _)| server == name))
    }

    fn forbidden(&mut self, used: &GlobalUse, help: &str) {
        let path = path_of(used);
        let message = format!("`{path}` does not exist in the sandbox");
        self.note(used, ErrorCode::PlanForbiddenGlobal, true, message, help.to_owned());
    }

    /// A name of the sandbox; its member may still be unknown.
    fn allowed(&mut self, used: &GlobalUse) {
        if let (None, Some(call)) = (&used.member, &used.call) {
            match used.name.as_str() {
                "pcall" => return self.call_through(call, 0),
                "retry" => return self.call_through(call, 1),
                _ => {}
            }
        }
        if !self.is_absent_member(used) {
            if let (Some(_), Some(call), false) = (&used.member, &used.call, used.by_colon) {
                self.calls.library.push(ToolCall { tool: path_of(used), span: span_of(call), skip: 0 });
            }
            return;
        }
        let (name, member) = (used.name.as_str(), used.member.as_deref().unwrap_or_default());
        let members = globals::members_of(name).unwrap_or_default();
        let near = nearest(member, members.iter().copied());
        let help = match (globals::usual(name, Some(member)), near, name) {
            (Some(usual), _, _) => usual.to_owned(),
            (None, Some(near), _) => format!("did you mean `{name}.{near}`?"),
            (None, None, "string") => "the library `text` has trim, split, lines, words and more".to_owned(),
            (None, None, "table") => "the library `list` has map, filter, sort_by and more".to_owned(),
            (None, None, _) => format!("`{name}` has {}", members.join(", ")),
        };
        let whose = if globals::library_members(name).is_some() { "Lua's" } else { "the library" };
        let message = format!("{whose} `{name}` has no `{member}`");
        let is_error = self.fails(used, true);
        self.note(used, ErrorCode::PlanUnknownTool, is_error, message, help);
    }

    /// `pcall(tool, …)` and `retry(n, tool, …)`: the arguments after the tool are the tool's.
    fn call_through(&mut self, call: &LuaCallExpr, place: usize) {
        let Some(name) = arguments::name_at(call, place) else { return };
        let is_tool = self.walk.uses.iter().any(|used| {
            let tool = arguments::span_at(call, place);
            Some(used.span) == tool && path_of(used) == name && !self.defined.contains(used.name.as_str())
        });
        if let (true, Some(spec)) = (is_tool, self.catalog.get(&name)) {
            self.tool_call(spec, call, place + 1);
        }
    }

    fn server(&mut self, used: &GlobalUse) {
        if used.call.is_some() {
            let name = &used.name;
            let message = format!("`{name}` is a group of tools, not a tool");
            let help = format!("call one of {}", self.tools_of(name).join(", "));
            self.note(used, ErrorCode::PlanUnknownTool, true, message, help);
        }
    }

    fn server_member(&mut self, used: &GlobalUse, member: &str) {
        let path = format!("{}.{member}", used.name);
        if let Some(spec) = self.catalog.get(&path) {
            let Some(call) = &used.call else { return };
            if used.by_colon {
                let message = format!("`{path}` is called with a colon");
                let help = format!("call it with a dot: `{path}{{…}}`");
                self.report.error(ErrorCode::PlanBadArgument, used.span, message, help);
                return;
            }
            self.tool_call(spec, call, 0);
            return;
        }
        let tools = self.tools_of(&used.name);
        let help = match nearest(&path, tools.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`{}` has {}", used.name, tools.join(", ")),
        };
        let message = format!("there is no tool `{path}`");
        let is_error = self.fails(used, true);
        self.note(used, ErrorCode::PlanUnknownTool, is_error, message, help);
    }

    fn tools_of(&self, server: &str) -> Vec<String> {
        let belongs = |name: &&str| name.split_once('.').is_some_and(|(own, _)| own == server);
        self.catalog.names().filter(belongs).map(str::to_owned).collect()
    }

    /// Whether the plan fails, or has nil in place of a value, where it reads a name that nothing sets: everywhere but in
    /// a test for nil and behind such a test. `is_slip` says that another name is meant, so that a later test of the
    /// variable it is assigned to changes nothing.
    fn fails(&self, used: &GlobalUse, is_slip: bool) -> bool {
        let node = used.expression.syntax();
        let is_nil = matches!(used.name.as_str(), "None" | "NULL" | "undefined");
        let is_boolean = matches!(used.name.as_str(), "True" | "False");
        // Indexing nil raises, whatever the plan does with the member.
        let is_indexed = used.member.is_some() && !self.has_members(&used.name);
        let fails = used.call.is_some()
            || is_indexed
            || match place(node) {
                Surrounding::Looked => is_boolean,
                Surrounding::Raises => true,
                Surrounding::HandedOn | Surrounding::Taken => !is_nil,
                Surrounding::Kept(_) if is_nil || used.name == "False" => false,
                Surrounding::Kept(_) if is_boolean => true,
                Surrounding::Kept(variable) => is_slip || !is_looked_at(self.chunk, &variable),
            };
        let path = path_of(used);
        fails && !is_behind_a_look(node, &path) && !(is_indexed && is_behind_a_look(node, &used.name))
    }

    /// Whether a name is a library's or a server's, so that what it lacks is nil.
    fn has_members(&self, name: &str) -> bool {
        globals::is_allowed(name) || self.is_server(name)
    }

    fn unknown(&mut self, used: &GlobalUse) {
        let path = path_of(used);
        let called = used.call.is_some();
        let mut known: Vec<&str> = self.defined.iter().copied().collect();
        known.extend(self.catalog.names());
        known.extend(globals::all().map(|name| -> &str { name }));
        if self.walk.locals.len() <= NEAR_LOCALS_MAX {
            known.extend(self.walk.locals.keys().map(String::as_str));
        }
        // The order must not depend on a hash.
        known.sort_unstable();
        let near =
            nearest(&path, known.iter().copied()).or_else(|| nearest(&used.name, known.iter().copied()));
        let own = near.is_some_and(|near| self.defined.contains(near) || self.walk.locals.contains_key(near));
        let foreign = globals::usual(&used.name, None).filter(|_| !own);
        let local = self.walk.locals.get(&used.name);
        let is_error = self.fails(used, near.is_some() || foreign.is_some() || local.is_some());
        if let Some(verdict) = self.said.get_mut(&(path_of(used), is_error && !self.walk.dynamic)) {
            verdict.times += 1;
            return;
        }
        let absent = self.catalog.absent(&used.name).map(str::to_owned);
        let help = match (local, near) {
            _ if absent.is_some() => absent.unwrap_or_default(),
            (Some(local), _) => format!(
                "the local `{}` of line {} is not visible here; declare it further up, outside the block",
                used.name,
                self.report.lines.line(local.0)
            ),
            _ if foreign.is_some() => foreign.unwrap_or_default().to_owned(),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) if called => match self.catalog.names().collect::<Vec<_>>() {
                tools if tools.is_empty() => {
                    "no tools are enabled; define the function in the plan".to_owned()
                }
                tools => format!("define it in the plan, or use a tool: {}", tools.join(", ")),
            },
            (None, None) => "it is always nil; define it, or pass it in as an argument".to_owned(),
        };
        let message = match (called, &used.member) {
            (true, None) => format!("`{path}` is called, but is neither a tool nor defined in the plan"),
            (true, Some(_)) => {
                format!("`{path}` is called, but `{}` is neither a tool nor defined in the plan", used.name)
            }
            (false, _) => format!("`{}` is read, but never defined", used.name),
        };
        self.note(used, ErrorCode::PlanUnknownTool, is_error, message, help);
    }

    fn note(&mut self, used: &GlobalUse, code: ErrorCode, is_error: bool, message: String, help: String) {
        let unknown_for_sure = !self.walk.dynamic || code == ErrorCode::PlanForbiddenGlobal;
        let is_error = is_error && unknown_for_sure;
        let verdict = NameVerdict { code, is_error, span: used.span, message, help, times: 0 };
        self.said.entry((path_of(used), is_error)).or_insert(verdict).times += 1;
    }

    fn say(&mut self) {
        for verdict in std::mem::take(&mut self.said).into_values() {
            let message = match verdict.times {
                1 => verdict.message,
                times => format!("{} ({times} times)", verdict.message),
            };
            if verdict.is_error {
                self.report.error(verdict.code, verdict.span, message, verdict.help);
            } else {
                self.report.warning(verdict.code, verdict.span, message, verdict.help);
            }
        }
    }

    /// A tool's name, or a member of a server, that the plan assigns to.
    fn replaced(&mut self) {
        let names = self.walk.writes.iter().map(|write| (write.name.as_str(), write.span));
        let members = self.walk.members.iter().map(|(path, span)| (path.as_str(), *span));
        for (name, span) in names.chain(members) {
            let what = if self.catalog.get(name).is_some() {
                "a tool"
            } else if self.is_server(name) {
                "a group of tools"
            } else {
                continue;
            };
            let message = format!("`{name}` is {what}, and is given another value here");
            let help = format!("choose another name: whoever reads the plan takes `{name}` for the tool");
            self.report.error(ErrorCode::PlanToolReplaced, span, message, help);
        }
    }

    /// The plan's own `_ENV`: no name would resolve as written.
    fn environment(&mut self) {
        if let Some(place) = swapped_environment(self.chunk.syntax()) {
            let message = "the plan has an `_ENV` of its own, so that no name means what it says".to_owned();
            let help = "use a table of your own, and read its fields by its name".to_owned();
            self.report.error(ErrorCode::PlanForbiddenGlobal, (place, place + "_ENV".len()), message, help);
        }
    }

    fn run(&mut self) {
        let writes: Vec<_> = self.walk.writes.iter().filter(|write| write.name == "run").collect();
        let is_function = |kind: Option<&str>| kind.is_none_or(|kind| kind == "function");
        if writes.iter().any(|write| is_function(write.kind)) {
            return;
        }
        let define = "define `function run(context) … end` at the top level";
        let (span, message, help) = if let Some(write) = writes.first() {
            let kind = write.kind.unwrap_or("value");
            (write.span, format!("`run` is a {kind}, not a function"), define.to_owned())
        } else if let Some(span) = self.walk.local_run {
            let help =
                "only a global counts: remove `local`; returning the function has no effect".to_owned();
            (span, "`run` is local, so nobody can call it".to_owned(), help)
        } else {
            let message = "the plan defines no global function `run`".to_owned();
            match self.entry_by_another_name() {
                Some(write) => (write.span, message, format!("rename `{}` to `run`", write.name)),
                None => ((0, 0), message, define.to_owned()),
            }
        };
        self.report.error(ErrorCode::PlanNoRun, span, message, help);
    }

    /// The function that serves as the entry under another name: a name near `run`, a usual name for an entry, or
    /// the plan's only function.
    fn entry_by_another_name(&self) -> Option<&GlobalWrite> {
        const USUAL: [&str; 8] = ["main", "plan", "execute", "start", "handler", "process", "task", "solve"];
        let functions: Vec<&GlobalWrite> =
            self.walk.writes.iter().filter(|write| write.kind == Some("function")).collect();
        let named = |name: &str| functions.iter().copied().find(|write| write.name == name);
        let near = nearest("run", functions.iter().map(|write| write.name.as_str())).and_then(named);
        let only = functions.first().copied().filter(|_| functions.len() == 1);
        near.or_else(|| USUAL.into_iter().find_map(named)).or(only)
    }
}

fn path_of(used: &GlobalUse) -> String {
    match &used.member {
        Some(member) => format!("{}.{member}", used.name),
        None => used.name.clone(),
    }
}
