//! An inferred type in short: what a value may be.

use std::collections::{BTreeSet, HashMap, HashSet};

use emmylua_code_analysis::{LuaMemberKey, LuaSignatureId, LuaType, SemanticModel};
use emmylua_parser::{LuaAstNode, LuaExpr, LuaNameExpr};

use luaplan_base::Value;

use super::masked::{CONTEXT, Masked};
use super::question::Question;

/// A plan whose types are known.
pub(super) struct Typed<'a> {
    pub(super) model: SemanticModel<'a>,
    pub(super) tools: &'a HashMap<LuaSignatureId, String>,
    pub(super) question: &'a Question,
    /// The text that was analysed.
    pub(super) masked: &'a Masked,
}

/// One thing a value may be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueKind {
    Nil,
    /// A value that is known.
    Known(Value),
    /// A plain kind by its name in JSON Schema.
    Plain(&'static str),
    Function,
    /// A list.
    List,
    /// A table with the fields declared for it.
    Fields(Fields),
    /// A table made in the plan.
    Made(LuaType),
    /// Any table.
    Table,
    /// The result of a failed call.
    Failure,
}

/// The fields a declared table has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fields {
    pub(super) names: BTreeSet<String>,
    /// Whether there may be others.
    pub(super) open: bool,
    /// The name of the class; none for a table within one.
    pub(super) class: Option<String>,
}

impl Typed<'_> {
    /// What `expression` may be; `None` where that is not fully known.
    pub(super) fn kinds_of(&self, expression: &LuaExpr) -> Option<Vec<ValueKind>> {
        if self.names_any(expression, &self.question.changing) {
            return None;
        }
        if is_truth(expression) {
            return Some(vec![ValueKind::Plain("boolean")]);
        }
        let mut kinds = Vec::new();
        self.kinds(&self.model.infer_expr(expression.clone()).ok()?, &mut kinds)?;
        if self.names_any(expression, &self.question.assigned) {
            for kind in &mut kinds {
                if matches!(kind, ValueKind::Known(Value::Integer(_))) {
                    *kind = ValueKind::Plain("integer");
                }
            }
        }
        Some(kinds)
    }

    /// What a value of the type `lua` may be.
    pub(super) fn kinds(&self, lua: &LuaType, kinds: &mut Vec<ValueKind>) -> Option<()> {
        let kind = match lua {
            LuaType::Nil => ValueKind::Nil,
            LuaType::Boolean => ValueKind::Plain("boolean"),
            LuaType::BooleanConst(value) | LuaType::DocBooleanConst(value) => {
                ValueKind::Known(Value::Bool(*value))
            }
            LuaType::String | LuaType::Language(_) => ValueKind::Plain("string"),
            LuaType::StringConst(text) | LuaType::DocStringConst(text) => {
                ValueKind::Known(Value::String(text.as_str().to_owned()))
            }
            LuaType::Integer => ValueKind::Plain("integer"),
            LuaType::IntegerConst(value) | LuaType::DocIntegerConst(value) => {
                ValueKind::Known(Value::Integer(*value))
            }
            LuaType::Number | LuaType::FloatConst(_) => ValueKind::Plain("number"),
            LuaType::Function | LuaType::DocFunction(_) | LuaType::Signature(_) => ValueKind::Function,
            LuaType::Array(_) | LuaType::Tuple(_) => ValueKind::List,
            LuaType::Table | LuaType::TableGeneric(_) => ValueKind::Table,
            LuaType::TableConst(_) => ValueKind::Made(lua.clone()),
            LuaType::Object(object) => ValueKind::Fields(Fields {
                names: object.get_fields().keys().filter_map(name_of).collect(),
                open: !object.get_index_access().is_empty(),
                class: None,
            }),
            LuaType::Ref(id) | LuaType::Def(id) => return self.class(id.get_name(), lua, kinds),
            LuaType::Union(types) => {
                return types.into_vec().iter().try_for_each(|lua| self.kinds(lua, kinds));
            }
            LuaType::MultiLineUnion(types) => return self.kinds(&types.to_union(), kinds),
            _ => return None,
        };
        kinds.push(kind);
        Some(())
    }

    fn class(&self, name: &str, lua: &LuaType, kinds: &mut Vec<ValueKind>) -> Option<()> {
        if name == "ToolError" {
            kinds.push(ValueKind::Failure);
            return Some(());
        }
        if !is_context(name) && !is_result(name) {
            return None;
        }
        let members = self.model.get_member_infos(lua)?;
        let names: BTreeSet<String> = members.iter().filter_map(|member| name_of(&member.key)).collect();
        let open = members.iter().any(|member| matches!(member.key, LuaMemberKey::TypeKey(_)));
        kinds.push(ValueKind::Fields(Fields { names, open, class: Some(name.to_owned()) }));
        Some(())
    }

    /// Whether a value depends on one of the variables `names`.
    fn names_any(&self, expression: &LuaExpr, names: &HashSet<String>) -> bool {
        let is_one = |name: &LuaNameExpr| name.get_name_text().is_some_and(|name| names.contains(&name));
        !names.is_empty() && expression.descendants::<LuaNameExpr>().any(|name| is_one(&name))
    }

    /// The bytes of a node in the plan as it was written.
    pub(super) fn span(&self, node: &impl LuaAstNode) -> (usize, usize) {
        let range = node.get_range();
        self.masked.original((usize::from(range.start()), usize::from(range.end())))
    }
}

/// Whether an expression gives a boolean whatever stands in it.
fn is_truth(expression: &LuaExpr) -> bool {
    use emmylua_parser::{BinaryOperator as Binary, UnaryOperator};
    match expression {
        LuaExpr::ParenExpr(inner) => inner.get_expr().is_some_and(|inner| is_truth(&inner)),
        LuaExpr::UnaryExpr(unary) => {
            unary.get_op_token().is_some_and(|token| token.get_op() == UnaryOperator::OpNot)
        }
        LuaExpr::BinaryExpr(binary) => {
            matches!(binary.get_op_token().map(|token| token.get_op()), Some(Binary::OpEq | Binary::OpNe))
        }
        _ => false,
    }
}

/// Whether a class is a tool's result or one inside it.
pub(super) fn is_result(class: &str) -> bool {
    class.ends_with(".result") || class.contains(".result.")
}

/// Whether a class is the context's or one inside it.
pub(super) fn is_context(class: &str) -> bool {
    class.strip_prefix(CONTEXT).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

pub(super) fn name_of(key: &LuaMemberKey) -> Option<String> {
    match key {
        LuaMemberKey::Name(name) => Some(name.to_string()),
        _ => None,
    }
}

impl ValueKind {
    /// The kind in JSON Schema's words, one or both of a table's.
    pub(super) fn json_kinds(&self, made_is_list: Option<bool>) -> &'static [&'static str] {
        match self {
            Self::Nil => &["null"],
            Self::Known(Value::Bool(_)) => &["boolean"],
            Self::Known(Value::Integer(_)) => &["integer"],
            Self::Known(Value::String(_)) => &["string"],
            Self::Known(_) => &[],
            Self::Plain("boolean") => &["boolean"],
            Self::Plain("string") => &["string"],
            Self::Plain("integer") => &["integer"],
            // A float without a fraction counts as an integer.
            Self::Plain(_) => &["number", "integer"],
            Self::Function | Self::Failure => &[],
            Self::List => &["array"],
            Self::Fields(_) => &["object"],
            Self::Made(_) => match made_is_list {
                Some(true) => &["array"],
                Some(false) => &["object"],
                None => &["array", "object"],
            },
            Self::Table => &["array", "object"],
        }
    }

    /// The kind as a message names it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Known(Value::Bool(_)) | Self::Plain("boolean") => "a boolean",
            Self::Known(Value::String(_)) | Self::Plain("string") => "a string",
            Self::Known(_) | Self::Plain(_) => "a number",
            Self::Function => "a function",
            Self::List => "a list",
            Self::Fields(_) | Self::Made(_) | Self::Table => "a table",
            Self::Failure => "the result of a failed call",
        }
    }
}
