//! Walks the tree once: resolves names, and notes every use of a global for the judges.

use emmylua_parser::{
    LuaAssignStat, LuaAstNode, LuaAstToken, LuaBlock, LuaCallExpr, LuaChunk, LuaClosureExpr, LuaExpr,
    LuaFuncStat, LuaIndexExpr, LuaIndexKey, LuaLocalStat, LuaNameExpr, LuaNameToken, LuaParamName,
    LuaRepeatStat, LuaStat, LuaTableField, LuaVarExpr,
};

use luaplan_base::ErrorCode;
use luaplan_syntax::Span;

use super::found::{GlobalUse, GlobalWrite, Walk, plain_kind, span_of};
use super::scope::NameScope;
use crate::report::Report;

/// Walks `chunk`, reporting what stock Lua would refuse.
pub(crate) fn walk(chunk: &LuaChunk, report: &mut Report<'_>) -> Walk {
    let mut walker = Walker { scope: NameScope::new(), report, found: Walk::new() };
    walker.scope.enter_function(true);
    if let Some(block) = chunk.get_block() {
        walker.statements(&block, true);
    }
    walker.scope.leave_function(walker.report);
    walker.found
}

fn token_span(token: &impl LuaAstToken) -> Span {
    let range = token.get_range();
    (usize::from(range.start()), usize::from(range.end()))
}

struct Walker<'a, 'source> {
    scope: NameScope,
    report: &'a mut Report<'source>,
    found: Walk,
}

impl Walker<'_, '_> {
    fn statements(&mut self, block: &LuaBlock, end_ends_block: bool) {
        let statements: Vec<LuaStat> = block.get_stats().collect();
        let code_after = statements
            .iter()
            .rposition(|statement| !matches!(statement, LuaStat::LabelStat(_) | LuaStat::EmptyStat(_)));
        for (index, statement) in statements.iter().enumerate() {
            let is_last = code_after.is_none_or(|last| index > last);
            self.statement(statement, end_ends_block && is_last);
        }
    }

    fn block(&mut self, block: Option<LuaBlock>, is_loop: bool) {
        self.scope.enter_block(is_loop);
        if let Some(block) = block {
            self.statements(&block, true);
        }
        self.scope.leave_block(self.report);
    }

    fn statement(&mut self, statement: &LuaStat, ends_block: bool) {
        match statement {
            LuaStat::LocalStat(statement) => self.local(statement),
            LuaStat::LocalFuncStat(statement) => {
                if let Some(name) = statement.get_local_name().and_then(|name| name.get_name_token()) {
                    self.declare(&name, false);
                }
                self.closure(statement.get_closure(), false);
            }
            LuaStat::FuncStat(statement) => self.function(statement),
            LuaStat::AssignStat(statement) => self.assignment(statement),
            LuaStat::CallExprStat(statement) => {
                if let Some(call) = statement.get_call_expr() {
                    self.call(&call);
                }
            }
            LuaStat::IfStat(statement) => {
                self.maybe(statement.get_condition_expr());
                self.block(statement.get_block(), false);
                for clause in statement.get_all_clause() {
                    self.maybe(clause.get_condition_expr());
                    self.block(clause.get_block(), false);
                }
            }
            LuaStat::WhileStat(statement) => {
                self.maybe(statement.get_condition_expr());
                self.block(statement.get_block(), true);
            }
            LuaStat::DoStat(statement) => self.block(statement.get_block(), false),
            LuaStat::ForStat(statement) => {
                statement.get_iter_expr().for_each(|limit| self.expression(&limit));
                self.loop_over(3, statement.get_var_name(), statement.get_block());
            }
            LuaStat::ForRangeStat(statement) => {
                statement.get_expr_list().for_each(|iterator| self.expression(&iterator));
                self.loop_over(4, statement.get_var_name_list(), statement.get_block());
            }
            LuaStat::RepeatStat(statement) => self.repeat(statement),
            LuaStat::BreakStat(statement) => self.scope.break_at(span_of(statement), self.report),
            LuaStat::ReturnStat(statement) => {
                statement.get_expr_list().for_each(|value| self.expression(&value));
            }
            LuaStat::GotoStat(statement) => {
                if let Some(name) = statement.get_label_name_token() {
                    self.scope.goto(name.get_name_text(), span_of(statement));
                }
            }
            LuaStat::LabelStat(statement) => {
                if let Some(name) = statement.get_label_name_token() {
                    let text = name.get_name_text();
                    self.scope.label(text, ends_block, span_of(statement), self.report);
                }
            }
            LuaStat::EmptyStat(_) | LuaStat::GlobalStat(_) | LuaStat::ContinueStat(_) => {}
        }
    }

    fn declare(&mut self, name: &LuaNameToken, constant: bool) {
        let text = name.get_name_text();
        if text == "run" && self.found.local_run.is_none() {
            self.found.local_run = Some(token_span(name));
        }
        self.local_name(text, constant, token_span(name));
    }

    fn local_name(&mut self, name: &str, constant: bool, span: Span) {
        self.found.dynamic |= name == "_ENV";
        self.found.locals.entry(name.to_owned()).or_insert(span);
        self.scope.declare(name, constant, span, self.report);
    }

    fn local(&mut self, statement: &LuaLocalStat) {
        statement.get_value_exprs().for_each(|value| self.expression(&value));
        let mut closed = false;
        for name in statement.get_local_name_list() {
            let attribute = name.get_attrib().and_then(|attribute| attribute.get_name_token());
            let kind = attribute.as_ref().map(LuaNameToken::get_name_text);
            if let (Some(token), Some(unknown)) =
                (&attribute, kind.filter(|kind| !matches!(*kind, "const" | "close")))
            {
                let message = format!("`<{unknown}>` is no attribute of Lua");
                let help = "the attributes are `<const>` and `<close>`".to_owned();
                self.report.error(ErrorCode::PlanSyntax, token_span(token), message, help);
            }
            if let (Some(token), Some("close"), true) = (&attribute, kind, closed) {
                let message = "one `local` statement can have one `<close>` variable only".to_owned();
                let help = "write a `local` statement for each".to_owned();
                self.report.error(ErrorCode::PlanSyntax, token_span(token), message, help);
            }
            closed |= kind == Some("close");
            if let Some(token) = name.get_name_token() {
                self.declare(&token, kind.is_some());
            }
        }
    }

    fn function(&mut self, statement: &LuaFuncStat) {
        let mut is_method = false;
        match statement.get_func_name() {
            Some(LuaVarExpr::NameExpr(name)) => {
                if let Some(token) = name.get_name_token() {
                    self.write(&token, Some("function"));
                }
            }
            Some(LuaVarExpr::IndexExpr(index)) => {
                is_method = index.get_index_token().is_some_and(|token| token.is_colon());
                self.member_write(&index, Some("function"));
            }
            None => {}
        }
        self.closure(statement.get_closure(), is_method);
    }

    fn assignment(&mut self, statement: &LuaAssignStat) {
        let (targets, values) = statement.get_var_and_expr_list();
        values.iter().for_each(|value| self.expression(value));
        for (index, target) in targets.iter().enumerate() {
            let kind = values.get(index).and_then(plain_kind);
            match target {
                LuaVarExpr::NameExpr(name) => {
                    if let Some(token) = name.get_name_token() {
                        self.write(&token, kind);
                    }
                }
                LuaVarExpr::IndexExpr(index) => self.member_write(index, kind),
            }
        }
    }

    fn write(&mut self, token: &LuaNameToken, kind: Option<&'static str>) {
        let name = token.get_name_text();
        if self.scope.is_local(name) {
            self.found.assigned.insert(name.to_owned());
            self.capture(name);
            self.scope.assign(name, token_span(token), self.report);
        } else {
            self.found.dynamic |= name == "_ENV";
            self.found.writes.push(GlobalWrite { name: name.to_owned(), kind, span: token_span(token) });
        }
    }

    fn capture(&mut self, name: &str) {
        if self.scope.is_outside(name) {
            self.found.captured.insert(name.to_owned());
        }
    }

    fn member_write(&mut self, index: &LuaIndexExpr, kind: Option<&'static str>) {
        let target = LuaExpr::IndexExpr(index.clone());
        match self.global_path(&target).as_deref() {
            Some([global]) => {
                // `_G.name = …` is the same as `name = …`.
                self.found.writes.push(GlobalWrite { name: global.clone(), kind, span: span_of(index) });
            }
            Some([global, member]) => {
                self.found.members.entry(format!("{global}.{member}")).or_insert(span_of(index));
                self.maybe(index.get_prefix_expr());
            }
            _ => self.index(index, None),
        }
    }

    fn loop_over(
        &mut self,
        hidden: usize,
        names: impl IntoIterator<Item = LuaNameToken>,
        block: Option<LuaBlock>,
    ) {
        self.scope.enter_block(true);
        for _ in 0..hidden {
            self.scope.declare("(for state)", false, (0, 0), self.report);
        }
        for name in names {
            self.declare(&name, false);
        }
        self.block(block, false);
        self.scope.leave_block(self.report);
    }

    fn repeat(&mut self, statement: &LuaRepeatStat) {
        self.scope.enter_block(true);
        self.scope.enter_block(false);
        if let Some(block) = statement.get_block() {
            // The condition sees the block's locals, so no label ends this block.
            self.statements(&block, false);
        }
        self.maybe(statement.get_condition_expr());
        self.scope.leave_block(self.report);
        self.scope.leave_block(self.report);
    }

    fn closure(&mut self, closure: Option<LuaClosureExpr>, is_method: bool) {
        let Some(closure) = closure else { return };
        let parameters: Vec<_> =
            closure.get_params_list().into_iter().flat_map(|list| list.get_params()).collect();
        self.scope.enter_function(parameters.iter().any(LuaParamName::is_dots));
        if is_method {
            self.scope.declare("self", false, span_of(&closure), self.report);
        }
        for name in parameters.iter().filter_map(LuaParamName::get_name_token) {
            let text = name.get_name_text();
            self.local_name(text, false, token_span(&name));
        }
        if let Some(block) = closure.get_block() {
            self.statements(&block, true);
        }
        self.scope.leave_function(self.report);
    }

    fn maybe(&mut self, expression: Option<LuaExpr>) {
        if let Some(expression) = expression {
            self.expression(&expression);
        }
    }

    fn expression(&mut self, expression: &LuaExpr) {
        match expression {
            LuaExpr::NameExpr(name) => self.name(name, None),
            LuaExpr::IndexExpr(index) => self.index(index, None),
            LuaExpr::CallExpr(call) => self.call(call),
            LuaExpr::ClosureExpr(closure) => self.closure(Some(closure.clone()), false),
            LuaExpr::ParenExpr(inner) => self.maybe(inner.get_expr()),
            LuaExpr::UnaryExpr(operation) => self.maybe(operation.get_expr()),
            LuaExpr::BinaryExpr(operation) => {
                operation.children::<LuaExpr>().for_each(|operand| self.expression(&operand));
            }
            LuaExpr::TableExpr(table) => table.get_fields().for_each(|field| self.field(&field)),
            LuaExpr::LiteralExpr(literal) => {
                if literal.get_text() == "..." {
                    self.scope.varargs(span_of(literal), self.report);
                }
            }
            LuaExpr::TernaryExpr(_) => {}
        }
    }

    fn field(&mut self, field: &LuaTableField) {
        // A computed key is an expression child of the field like its value.
        field.children::<LuaExpr>().for_each(|part| self.expression(&part));
    }

    fn call(&mut self, call: &LuaCallExpr) {
        match call.get_prefix_expr() {
            Some(LuaExpr::NameExpr(name)) => self.name(&name, Some(call)),
            Some(LuaExpr::IndexExpr(index)) => self.index(&index, Some(call)),
            other => self.maybe(other),
        }
        if let Some(arguments) = call.get_args_list() {
            arguments.get_args().for_each(|argument| self.expression(&argument));
        }
    }

    fn name(&mut self, expression: &LuaNameExpr, call: Option<&LuaCallExpr>) {
        let Some(token) = expression.get_name_token() else { return };
        let name = token.get_name_text();
        if self.scope.is_local(name) {
            self.capture(name);
            return;
        }
        if matches!(name, "_G" | "_ENV") {
            self.found.dynamic = true;
            return;
        }
        self.note(vec![name.to_owned()], LuaExpr::NameExpr(expression.clone()), call, false);
    }

    fn index(&mut self, index: &LuaIndexExpr, call: Option<&LuaCallExpr>) {
        let by_colon = index.get_index_token().is_some_and(|token| token.is_colon());
        let expression = LuaExpr::IndexExpr(index.clone());
        match self.global_path(&expression) {
            Some(path) if path.len() <= 2 => self.note(path, expression, call, by_colon),
            _ => {
                self.maybe(index.get_prefix_expr());
                if let Some(LuaIndexKey::Expr(key)) = index.get_index_key() {
                    self.expression(&key);
                }
            }
        }
    }

    fn note(&mut self, path: Vec<String>, expression: LuaExpr, call: Option<&LuaCallExpr>, by_colon: bool) {
        let mut path = path.into_iter();
        if let Some(name) = path.next() {
            let member = path.next();
            let (span, call) = (span_of(&expression), call.cloned());
            self.found.uses.push(GlobalUse { name, member, span, expression, call, by_colon });
        }
    }

    /// The names of `a.b.c` where `a` is a global and every key is plain; `_G.a` counts as `a`.
    fn global_path(&self, expression: &LuaExpr) -> Option<Vec<String>> {
        let mut path = Vec::new();
        let mut at = expression.clone();
        loop {
            match at {
                LuaExpr::NameExpr(name) => {
                    let name = name.get_name_text()?;
                    if self.scope.is_local(&name) {
                        return None;
                    }
                    if !matches!(name.as_str(), "_G" | "_ENV") {
                        path.push(name);
                    }
                    break;
                }
                LuaExpr::IndexExpr(index) => {
                    path.push(match index.get_index_key()? {
                        LuaIndexKey::Name(name) => name.get_name_text().to_owned(),
                        LuaIndexKey::String(text) => text.get_value(),
                        _ => return None,
                    });
                    at = index.get_prefix_expr()?;
                }
                _ => return None,
            }
        }
        path.reverse();
        (!path.is_empty()).then_some(path)
    }
}
