//! Judges the global names of a plan: tools, the sandbox's own, forbidden ones and unknown ones.

use std::collections::{BTreeMap, HashSet};

use crate::base::{ErrorCode, nearest};
use crate::catalog::Catalog;

use super::arguments;
use super::found::{GlobalUse, Walk};
use super::globals;
use super::report::{Report, Span};

/// Reports on every global the plan uses, and on `run`.
pub(super) fn judge(walk: &Walk, catalog: &Catalog, report: &mut Report<'_>) {
    let defined: HashSet<&str> = walk.writes.iter().map(|write| write.name.as_str()).collect();
    let mut judge = Judge { walk, catalog, defined, report, said: BTreeMap::new() };
    for used in &walk.uses {
        judge.use_of(used);
    }
    judge.say();
    judge.run();
}

struct Judge<'a, 'source> {
    walk: &'a Walk,
    catalog: &'a Catalog,
    defined: HashSet<&'a str>,
    report: &'a mut Report<'source>,
    /// One verdict per name, with how often it was reached.
    said: BTreeMap<(String, bool), Verdict>,
}

struct Verdict {
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
            if self.walk.members.contains(&format!("{name}.{member}")) {
                return;
            }
            if self.is_server(name) {
                self.server_member(used, member);
                return;
            }
        }
        if let Some(spec) = self.catalog.get(name) {
            if let Some(call) = used.call.as_ref().filter(|_| used.member.is_none()) {
                arguments::check(spec, call, 0, self.report);
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

    fn is_absent_member(&self, used: &GlobalUse) -> bool {
        let members = globals::library_members(&used.name);
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

    /// A name the sandbox has: its member may still be unknown.
    fn allowed(&mut self, used: &GlobalUse) {
        if let ("pcall", None, Some(call)) = (used.name.as_str(), &used.member, &used.call) {
            self.protected_call(call);
            return;
        }
        if !self.is_absent_member(used) {
            return;
        }
        let (name, member) = (used.name.as_str(), used.member.as_deref().unwrap_or_default());
        let members = globals::library_members(name).unwrap_or_default();
        let help = match (nearest(member, members.iter().copied()), name) {
            (Some(near), _) => format!("did you mean `{name}.{near}`?"),
            (None, "string") => "the library `text` has trim, split, lines, words and more".to_owned(),
            (None, "table") => "the library `list` has map, filter, sort_by and more".to_owned(),
            (None, _) => format!("`{name}` has {}", members.join(", ")),
        };
        let message = format!("Lua's `{name}` has no `{member}`");
        self.note(used, ErrorCode::PlanUnknownTool, used.call.is_some(), message, help);
    }

    /// `pcall(tool, …)`: the arguments after the tool are the tool's.
    fn protected_call(&mut self, call: &emmylua_parser::LuaCallExpr) {
        let Some(name) = arguments::first_name(call) else { return };
        let is_tool = self.walk.uses.iter().any(|used| {
            let first = arguments::first_span(call);
            Some(used.span) == first && path_of(used) == name && !self.defined.contains(used.name.as_str())
        });
        if let (true, Some(spec)) = (is_tool, self.catalog.get(&name)) {
            arguments::check(spec, call, 1, self.report);
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
            arguments::check(spec, call, 0, self.report);
            return;
        }
        let tools = self.tools_of(&used.name);
        let help = match nearest(&path, tools.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`{}` has {}", used.name, tools.join(", ")),
        };
        let message = format!("there is no tool `{path}`");
        self.note(used, ErrorCode::PlanUnknownTool, used.call.is_some(), message, help);
    }

    fn tools_of(&self, server: &str) -> Vec<String> {
        let belongs = |name: &&str| name.split_once('.').is_some_and(|(own, _)| own == server);
        self.catalog.names().filter(belongs).map(str::to_owned).collect()
    }

    fn unknown(&mut self, used: &GlobalUse) {
        let path = path_of(used);
        let called = used.call.is_some();
        let key = (path_of(used), called && !self.walk.dynamic);
        if let Some(verdict) = self.said.get_mut(&key) {
            verdict.times += 1;
            return;
        }
        let mut known: Vec<&str> = self.defined.iter().copied().collect();
        known.extend(self.catalog.names());
        known.extend(globals::all().map(|name| -> &str { name }));
        // The order must not depend on a hash.
        known.sort_unstable();
        let near =
            nearest(&path, known.iter().copied()).or_else(|| nearest(&used.name, known.iter().copied()));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if called => match self.catalog.names().collect::<Vec<_>>() {
                tools if tools.is_empty() => {
                    "no tools are enabled; define the function in the plan".to_owned()
                }
                tools => format!("define it in the plan, or use a tool: {}", tools.join(", ")),
            },
            None => "it is always nil; define it, or pass it in as an argument".to_owned(),
        };
        let message = match (called, &used.member) {
            (true, None) => format!("`{path}` is called, but is neither a tool nor defined in the plan"),
            (true, Some(_)) => {
                format!("`{path}` is called, but `{}` is neither a tool nor defined in the plan", used.name)
            }
            (false, _) => format!("`{}` is read, but never defined", used.name),
        };
        self.note(used, ErrorCode::PlanUnknownTool, called, message, help);
    }

    fn note(&mut self, used: &GlobalUse, code: ErrorCode, is_error: bool, message: String, help: String) {
        let unknown_for_sure = !self.walk.dynamic || code == ErrorCode::PlanForbiddenGlobal;
        let is_error = is_error && unknown_for_sure;
        let verdict = Verdict { code, is_error, span: used.span, message, help, times: 0 };
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
            let near = self.defined.iter().copied().collect::<std::collections::BTreeSet<_>>();
            let help = match nearest("run", near).or_else(|| self.usual_name()) {
                Some(other) => format!("rename `{other}` to `run`"),
                None => define.to_owned(),
            };
            ((0, 0), "the plan defines no global function `run`".to_owned(), help)
        };
        self.report.error(ErrorCode::PlanNoRun, span, message, help);
    }

    /// A function that looks like the entry under another name.
    fn usual_name(&self) -> Option<&'static str> {
        ["main", "Run", "RUN", "plan", "execute"].into_iter().find(|name| self.defined.contains(name))
    }
}

fn path_of(used: &GlobalUse) -> String {
    match &used.member {
        Some(member) => format!("{}.{member}", used.name),
        None => used.name.clone(),
    }
}
