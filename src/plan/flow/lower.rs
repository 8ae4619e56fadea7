//! Turns the syntax tree into a [`Program`].

use emmylua_parser::{
    BinaryOperator, LuaAstToken, LuaBlock, LuaCallArgList, LuaCallExpr, LuaChunk, LuaClosureExpr, LuaExpr,
    LuaFuncStat, LuaIndexExpr, LuaIndexKey, LuaLiteralExpr, LuaLiteralToken, LuaParamList, LuaStat,
    LuaTableExpr, LuaVarExpr, NumberResult, UnaryOperator,
};

use luaplan_syntax::Lines;

use super::program::{
    AssignTarget, Block, Call, CallPlace, Expr, Function, FunctionId, Literal, Operator, Program, Stat,
    Table, VarId,
};
use super::variables::Variables;
use crate::names::found::span_of;

pub(super) fn lower(chunk: &LuaChunk, source: &str) -> Program {
    let mut lowerer = Lowerer {
        lines: Lines::new(source),
        variables: Variables::default(),
        program: Program { functions: Vec::new(), owners: Vec::new(), calls: Vec::new(), unreadable: false },
    };
    lowerer.program.functions.push(Function { parameters: Vec::new(), body: Vec::new() });
    let body = lowerer.block(0, chunk.get_block().as_ref());
    if let Some(function) = lowerer.program.functions.first_mut() {
        function.body = body;
    }
    lowerer.program.owners = lowerer.variables.into_owners();
    lowerer.program
}

struct Lowerer<'a> {
    lines: Lines<'a>,
    variables: Variables,
    program: Program,
}

impl Lowerer<'_> {
    fn declare(&mut self, name: &str) -> VarId {
        self.program.unreadable |= name == "_ENV";
        self.variables.declare(name)
    }

    fn inner_block(&mut self, block: Option<&LuaBlock>) -> Block {
        self.block(self.variables.depth(), block)
    }

    /// The statements of a block whose variables start at `start`, and end with it.
    fn block(&mut self, start: usize, block: Option<&LuaBlock>) -> Block {
        let body = self.open_block(start, block);
        self.variables.truncate(start);
        body
    }

    /// The statements; their declarations stay in scope.
    fn open_block(&mut self, start: usize, block: Option<&LuaBlock>) -> Block {
        let statements = || block.into_iter().flat_map(LuaBlock::get_stats);
        let has_label = statements().any(|statement| matches!(statement, LuaStat::LabelStat(_)));
        let outer = self.variables.open_block(start, has_label);
        let mut body = Vec::new();
        for statement in statements() {
            body.extend(self.statement(&statement));
        }
        self.variables.return_to(outer);
        body
    }

    fn statement(&mut self, statement: &LuaStat) -> Option<Stat> {
        Some(match statement {
            LuaStat::LocalStat(statement) => {
                let values = statement.get_value_exprs().map(|value| self.expression(&value)).collect();
                let mut closes = false;
                let mut variables = Vec::new();
                for name in statement.get_local_name_list() {
                    let attribute = name.get_attrib().and_then(|attribute| attribute.get_name_token());
                    closes |= attribute.is_some_and(|token| token.get_name_text() == "close");
                    let token = name.get_name_token();
                    variables.push(self.declare(token.as_ref().map_or("", |token| token.get_name_text())));
                }
                Stat::Local { variables, values, closes }
            }
            LuaStat::LocalFuncStat(statement) => {
                let token = statement.get_local_name().and_then(|name| name.get_name_token());
                let variable = self.declare(token.as_ref().map_or("", |token| token.get_name_text()));
                Stat::LocalFunction(variable, self.closure(statement.get_closure(), false))
            }
            LuaStat::FuncStat(statement) => self.function(statement),
            LuaStat::AssignStat(statement) => {
                let (targets, values) = statement.get_var_and_expr_list();
                let targets: Vec<_> = targets.iter().map(|target| self.target(target)).collect();
                let values = values.iter().map(|value| self.expression(value)).collect();
                match self.variables.replaced(&targets) {
                    Some(variables) => Stat::Local { variables, values, closes: false },
                    None => Stat::Assign { targets, values },
                }
            }
            LuaStat::CallExprStat(statement) => Stat::Call(self.call(&statement.get_call_expr()?)),
            LuaStat::IfStat(statement) => {
                let mut arms = vec![(
                    self.maybe(statement.get_condition_expr()),
                    self.inner_block(statement.get_block().as_ref()),
                )];
                let mut otherwise = None;
                for clause in statement.get_all_clause() {
                    match clause.get_condition_expr() {
                        Some(condition) => {
                            let condition = self.expression(&condition);
                            arms.push((condition, self.inner_block(clause.get_block().as_ref())));
                        }
                        None => otherwise = Some(self.inner_block(clause.get_block().as_ref())),
                    }
                }
                Stat::If { arms, otherwise }
            }
            LuaStat::WhileStat(statement) => Stat::While {
                condition: self.maybe(statement.get_condition_expr()),
                body: self.inner_block(statement.get_block().as_ref()),
            },
            LuaStat::DoStat(statement) => Stat::Do(self.inner_block(statement.get_block().as_ref())),
            LuaStat::ForStat(statement) => {
                let limits = statement.get_iter_expr().map(|limit| self.expression(&limit)).collect();
                let depth = self.variables.depth();
                let name = statement.get_var_name();
                let variable = self.declare(name.as_ref().map_or("", |token| token.get_name_text()));
                let body = self.block(depth, statement.get_block().as_ref());
                Stat::NumericFor { variable, limits, body }
            }
            LuaStat::ForRangeStat(statement) => {
                let values = statement.get_expr_list().map(|value| self.expression(&value)).collect();
                let depth = self.variables.depth();
                let variables =
                    statement.get_var_name_list().map(|token| self.declare(token.get_name_text())).collect();
                let body = self.block(depth, statement.get_block().as_ref());
                Stat::GenericFor { variables, values, body }
            }
            LuaStat::RepeatStat(statement) => {
                let depth = self.variables.depth();
                let body = self.open_block(depth, statement.get_block().as_ref());
                let condition = self.maybe(statement.get_condition_expr());
                self.variables.truncate(depth);
                Stat::Repeat { body, condition }
            }
            LuaStat::BreakStat(_) => Stat::Break,
            LuaStat::ReturnStat(statement) => {
                Stat::Return(statement.get_expr_list().map(|value| self.expression(&value)).collect())
            }
            LuaStat::GotoStat(statement) => {
                Stat::Goto(statement.get_label_name_token()?.get_name_text().into())
            }
            LuaStat::LabelStat(statement) => {
                Stat::Label(statement.get_label_name_token()?.get_name_text().into())
            }
            LuaStat::EmptyStat(_) => return None,
            LuaStat::GlobalStat(_) | LuaStat::ContinueStat(_) => {
                self.program.unreadable = true;
                return None;
            }
        })
    }

    fn function(&mut self, statement: &LuaFuncStat) -> Stat {
        let (target, is_method) = match statement.get_func_name() {
            Some(LuaVarExpr::IndexExpr(index)) => {
                let is_method = index.get_index_token().is_some_and(|token| token.is_colon());
                (self.target(&LuaVarExpr::IndexExpr(index)), is_method)
            }
            Some(name) => (self.target(&name), false),
            None => (AssignTarget::Global("".into()), false),
        };
        let function = self.closure(statement.get_closure(), is_method);
        Stat::Assign { targets: vec![target], values: vec![Expr::Function(function)] }
    }

    fn target(&mut self, target: &LuaVarExpr) -> AssignTarget {
        match target {
            LuaVarExpr::NameExpr(name) => {
                let name = name.get_name_text().unwrap_or_default();
                self.program.unreadable |= name == "_ENV";
                match self.variables.named(&name) {
                    Some(variable) => AssignTarget::Var(variable),
                    None => AssignTarget::Global(name.into()),
                }
            }
            LuaVarExpr::IndexExpr(index) => {
                let (base, key) = self.index(index);
                AssignTarget::Index(base, key)
            }
        }
    }

    fn closure(&mut self, closure: Option<LuaClosureExpr>, is_method: bool) -> FunctionId {
        let id = u32::try_from(self.program.functions.len()).unwrap_or(u32::MAX);
        self.program.functions.push(Function { parameters: Vec::new(), body: Vec::new() });
        let outer = self.variables.enter_function(id);
        let depth = self.variables.depth();
        let mut parameters = Vec::new();
        if is_method {
            parameters.push(self.declare("self"));
        }
        if let Some(closure) = closure {
            for parameter in closure.get_params_list().iter().flat_map(LuaParamList::get_params) {
                if let Some(name) = parameter.get_name_token() {
                    parameters.push(self.declare(name.get_name_text()));
                }
            }
            let body = self.block(depth, closure.get_block().as_ref());
            if let Some(function) = self.program.functions.get_mut(id as usize) {
                *function = Function { parameters, body };
            }
        }
        self.variables.truncate(depth);
        self.variables.enter_function(outer);
        id
    }

    fn maybe(&mut self, expression: Option<LuaExpr>) -> Expr {
        match expression {
            Some(expression) => self.expression(&expression),
            None => Expr::Literal(Literal::Nil),
        }
    }

    fn expression(&mut self, expression: &LuaExpr) -> Expr {
        match expression {
            LuaExpr::NameExpr(name) => {
                let name = name.get_name_text().unwrap_or_default();
                match self.variables.named(&name) {
                    Some(variable) => Expr::Var(variable),
                    None => Expr::Global(name.into()),
                }
            }
            LuaExpr::IndexExpr(index) => {
                let (base, key) = self.index(index);
                Expr::Index(Box::new(base), Box::new(key))
            }
            LuaExpr::CallExpr(call) => self.call(call),
            LuaExpr::ClosureExpr(closure) => Expr::Function(self.closure(Some(closure.clone()), false)),
            LuaExpr::ParenExpr(inner) => Expr::One(Box::new(self.maybe(inner.get_expr()))),
            LuaExpr::UnaryExpr(operation) => {
                let operand = self.maybe(operation.get_expr());
                let operator = match operation.get_op_token().map(|token| token.get_op()) {
                    Some(UnaryOperator::OpNot) => Operator::Not,
                    Some(UnaryOperator::OpLen) => Operator::Length,
                    Some(UnaryOperator::OpUnm) => Operator::Negate,
                    _ => Operator::Number,
                };
                Expr::Operation(operator, vec![operand])
            }
            LuaExpr::BinaryExpr(operation) => {
                let (left, right) = match operation.get_exprs() {
                    Some((left, right)) => (self.expression(&left), self.expression(&right)),
                    None => (Expr::Literal(Literal::Nil), Expr::Literal(Literal::Nil)),
                };
                let operator = match operation.get_op_token().map(|token| token.get_op()) {
                    Some(BinaryOperator::OpAnd) => return Expr::And(Box::new(left), Box::new(right)),
                    Some(BinaryOperator::OpOr) => return Expr::Or(Box::new(left), Box::new(right)),
                    Some(BinaryOperator::OpConcat) => Operator::Concat,
                    Some(BinaryOperator::OpAdd) => Operator::Add,
                    Some(BinaryOperator::OpSub) => Operator::Sub,
                    Some(BinaryOperator::OpMul) => Operator::Mul,
                    Some(BinaryOperator::OpEq | BinaryOperator::OpNe) => Operator::Equal,
                    Some(
                        BinaryOperator::OpLt
                        | BinaryOperator::OpLe
                        | BinaryOperator::OpGt
                        | BinaryOperator::OpGe,
                    ) => Operator::Compare,
                    _ => Operator::Number,
                };
                Expr::Operation(operator, vec![left, right])
            }
            LuaExpr::TableExpr(table) => self.table(table),
            LuaExpr::LiteralExpr(literal) => self.literal(literal),
            LuaExpr::TernaryExpr(_) => {
                self.program.unreadable = true;
                Expr::Literal(Literal::Nil)
            }
        }
    }

    fn index(&mut self, index: &LuaIndexExpr) -> (Expr, Expr) {
        let base = self.maybe(index.get_prefix_expr());
        let key = self.key(index.get_index_key());
        (base, key)
    }

    fn key(&mut self, key: Option<LuaIndexKey>) -> Expr {
        match key {
            Some(LuaIndexKey::Name(name)) => Expr::Literal(Literal::Text(name.get_name_text().into())),
            Some(LuaIndexKey::String(text)) => {
                let raw = text.get_text().to_owned();
                Expr::Literal(plain_text(&raw, text.get_value()))
            }
            Some(LuaIndexKey::Integer(number)) => match number.get_number_value() {
                NumberResult::Int(integer) => Expr::Literal(Literal::Int(integer)),
                NumberResult::Float(float) => Expr::Literal(Literal::Float(float)),
                _ => Expr::Literal(Literal::Bytes),
            },
            Some(LuaIndexKey::Expr(key)) => self.expression(&key),
            _ => {
                self.program.unreadable = true;
                Expr::Literal(Literal::Nil)
            }
        }
    }

    fn table(&mut self, table: &LuaTableExpr) -> Expr {
        let (mut items, mut fields) = (Vec::new(), Vec::new());
        for field in table.get_fields() {
            if field.is_value_field() {
                items.push(self.maybe(field.get_value_expr()));
            } else {
                let key = self.key(field.get_field_key());
                fields.push((key, self.maybe(field.get_value_expr())));
            }
        }
        Expr::Table(Box::new(Table { items, fields }))
    }

    fn call(&mut self, call: &LuaCallExpr) -> Expr {
        let (callee, method) = match call.get_prefix_expr() {
            Some(LuaExpr::IndexExpr(index)) if call.is_colon_call() => {
                let base = self.maybe(index.get_prefix_expr());
                let name = match index.get_index_key() {
                    Some(LuaIndexKey::Name(name)) => name.get_name_text().into(),
                    _ => "".into(),
                };
                (base, Some(name))
            }
            prefix => (self.maybe(prefix), None),
        };
        let arguments = call.get_args_list();
        let arguments = arguments
            .iter()
            .flat_map(LuaCallArgList::get_args)
            .map(|argument| self.expression(&argument))
            .collect();
        let place = u32::try_from(self.program.calls.len()).unwrap_or(u32::MAX);
        let span = span_of(call);
        // Lua reports a call on the line of its opening bracket.
        let opening = call.get_args_list().map_or(span.0, |list| span_of(&list).0);
        self.program.calls.push(CallPlace { line: self.lines.line(opening), span });
        Expr::Call(Box::new(Call { place, callee, method, arguments }))
    }

    fn literal(&mut self, literal: &LuaLiteralExpr) -> Expr {
        Expr::Literal(match literal.get_literal() {
            Some(LuaLiteralToken::String(text)) => {
                let raw = text.get_text().to_owned();
                plain_text(&raw, text.get_value())
            }
            Some(LuaLiteralToken::Bool(value)) => Literal::Bool(value.is_true()),
            Some(LuaLiteralToken::Nil(_)) => Literal::Nil,
            Some(LuaLiteralToken::Number(number)) => match number.get_number_value() {
                NumberResult::Int(integer) => Literal::Int(integer),
                NumberResult::Float(float) => Literal::Float(float),
                _ => Literal::Bytes,
            },
            Some(LuaLiteralToken::Dots(_)) => return Expr::Varargs,
            _ => {
                self.program.unreadable = true;
                Literal::Nil
            }
        })
    }
}

/// A string as a constant, where the meaning of its escapes is certain.
fn plain_text(raw: &str, value: String) -> Literal {
    let mut rest = raw.chars();
    while let Some(character) = rest.next() {
        if character == '\r' {
            return Literal::Bytes;
        }
        if character == '\\'
            && !matches!(rest.next(), Some('n' | 't' | '"' | '\'' | '\\'))
            && raw.starts_with(['"', '\''])
        {
            return Literal::Bytes;
        }
    }
    Literal::Text(value.into())
}
