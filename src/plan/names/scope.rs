//! Local variables, labels and functions during the walk: finds what parses but stock Lua refuses to
//! compile.

use luaplan_base::ErrorCode;
use luaplan_syntax::Span;

use crate::report::Report;

/// Active local variables of one function, as stock Lua counts them.
const LOCALS_MAX: usize = 200;

/// One active local variable.
struct Local {
    name: String,
    constant: bool,
}

struct Label {
    name: String,
    /// Active locals at the label.
    locals: usize,
    at: usize,
}

struct Goto {
    name: String,
    /// Active locals at the `goto`, and later of the innermost block left without finding the label.
    locals: usize,
    span: Span,
}

struct Block {
    locals_before: usize,
    labels: Vec<Label>,
    gotos: Vec<Goto>,
    is_loop: bool,
}

struct Function {
    locals_before: usize,
    takes_varargs: bool,
    blocks: Vec<Block>,
}

/// What is in scope at the current place of the walk.
pub(crate) struct NameScope {
    locals: Vec<Local>,
    functions: Vec<Function>,
}

impl NameScope {
    pub(crate) fn new() -> Self {
        Self { locals: Vec::new(), functions: Vec::new() }
    }

    pub(crate) fn enter_function(&mut self, takes_varargs: bool) {
        let locals_before = self.locals.len();
        self.functions.push(Function { locals_before, takes_varargs, blocks: Vec::new() });
        self.enter_block(false);
    }

    pub(crate) fn leave_function(&mut self, report: &mut Report<'_>) {
        self.leave_block(report);
        self.functions.pop();
    }

    pub(crate) fn enter_block(&mut self, is_loop: bool) {
        let locals_before = self.locals.len();
        if let Some(function) = self.functions.last_mut() {
            function.blocks.push(Block { locals_before, labels: Vec::new(), gotos: Vec::new(), is_loop });
        }
    }

    pub(crate) fn leave_block(&mut self, report: &mut Report<'_>) {
        let Some(function) = self.functions.last_mut() else { return };
        let Some(block) = function.blocks.pop() else { return };
        for mut pending in block.gotos {
            match block.labels.iter().find(|label| label.name == pending.name) {
                Some(label) if label.locals > pending.locals => {
                    let local = self.locals.get(pending.locals).map_or("?", |local| local.name.as_str());
                    let message = format!("this `goto` jumps into the scope of the local `{local}`");
                    let help = format!(
                        "declare `{local}` before the `goto`, or put the code after the `goto` into `do … end`"
                    );
                    report.error(ErrorCode::PlanSyntax, pending.span, message, help);
                }
                Some(_) => {}
                None => match function.blocks.last_mut() {
                    Some(outer) => {
                        pending.locals = pending.locals.min(block.locals_before);
                        outer.gotos.push(pending);
                    }
                    None => no_label(report, &pending),
                },
            }
        }
        self.locals.truncate(block.locals_before);
    }

    pub(crate) fn declare(&mut self, name: &str, constant: bool, span: Span, report: &mut Report<'_>) {
        let before = self.functions.last().map_or(0, |function| function.locals_before);
        if self.locals.len() - before == LOCALS_MAX {
            let message = format!("a function has more than {LOCALS_MAX} local variables here");
            let help = "put some of them into a table, or inner parts into functions of their own";
            report.error(ErrorCode::PlanSyntax, span, message, help.to_owned());
        }
        self.locals.push(Local { name: name.to_owned(), constant });
    }

    pub(crate) fn is_local(&self, name: &str) -> bool {
        self.locals.iter().any(|local| local.name == name)
    }

    /// Whether `name` is a local variable of a function around the one being walked.
    pub(crate) fn is_outside(&self, name: &str) -> bool {
        let own = self.functions.last().map_or(0, |function| function.locals_before);
        self.locals.iter().rposition(|local| local.name == name).is_some_and(|place| place < own)
    }

    /// An assignment to a local variable.
    pub(crate) fn assign(&self, name: &str, span: Span, report: &mut Report<'_>) {
        let nearest = self.locals.iter().rev().find(|local| local.name == name);
        if nearest.is_some_and(|local| local.constant) {
            let message = format!("`{name}` is constant and cannot be assigned");
            let help = "remove the attribute from its declaration, or use another variable";
            report.error(ErrorCode::PlanSyntax, span, message, help.to_owned());
        }
    }

    pub(crate) fn varargs(&self, span: Span, report: &mut Report<'_>) {
        if self.functions.last().is_some_and(|function| !function.takes_varargs) {
            let message = "`...` stands outside a function that takes it".to_owned();
            let help = "add `...` to the function's parameters";
            report.error(ErrorCode::PlanSyntax, span, message, help.to_owned());
        }
    }

    pub(crate) fn break_at(&self, span: Span, report: &mut Report<'_>) {
        let in_loop =
            self.functions.last().is_some_and(|function| function.blocks.iter().any(|block| block.is_loop));
        if !in_loop {
            let message = "this `break` is in no loop".to_owned();
            report.error(ErrorCode::PlanSyntax, span, message, "use `return` to leave a function".to_owned());
        }
    }

    pub(crate) fn goto(&mut self, name: &str, span: Span) {
        let locals = self.locals.len();
        if let Some(block) = self.functions.last_mut().and_then(|function| function.blocks.last_mut()) {
            block.gotos.push(Goto { name: name.to_owned(), locals, span });
        }
    }

    /// A label; one that ends its block counts as standing outside the block's local variables.
    pub(crate) fn label(&mut self, name: &str, ends_block: bool, span: Span, report: &mut Report<'_>) {
        let Some(function) = self.functions.last_mut() else { return };
        let known = function.blocks.iter().flat_map(|block| &block.labels).find(|label| label.name == name);
        if let Some(known) = known {
            let line = report.lines.line(known.at);
            let message = format!("the label `{name}` is already there on line {line}");
            report.error(ErrorCode::PlanSyntax, span, message, "give each label its own name".to_owned());
        }
        if let Some(block) = function.blocks.last_mut() {
            let locals = if ends_block { block.locals_before } else { self.locals.len() };
            block.labels.push(Label { name: name.to_owned(), locals, at: span.0 });
        }
    }
}

fn no_label(report: &mut Report<'_>, goto: &Goto) {
    let name = &goto.name;
    let message = format!("there is no label `{name}` that this `goto` can see");
    let help = match name.as_str() {
        "continue" => "put `::continue::` as the last statement of the loop".to_owned(),
        _ => format!("put `::{name}::` into the same function, in this block or one around it"),
    };
    report.error(ErrorCode::PlanSyntax, goto.span, message, help);
}
