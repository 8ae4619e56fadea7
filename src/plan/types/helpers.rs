//! Parameters of a plan's own functions, from the values that the plan calls them with.
//!
//! The analysis library knows the result of a function only where it knows its parameters. A function that is only called,
//! and never passed on or assigned again, gets the union of what it is called with.

use std::fmt::Write as _;

use emmylua_code_analysis::{LuaMemberKey, LuaType};
use emmylua_parser::{
    LuaAstNode, LuaCallExpr, LuaClosureExpr, LuaExpr, LuaFuncStat, LuaLocalFuncStat, LuaLocalName,
    LuaNameExpr, LuaParamName, LuaSyntaxNode, LuaVarExpr,
};

use super::kinds::{Typed, is_context, is_result};

/// Types inside types of one parameter.
const DEPTH_MAX: usize = 6;
/// The longest declaration of a parameter, in bytes.
const TYPE_BYTES_MAX: usize = 2_000;

/// A function of the plan.
struct Helper {
    name: String,
    closure: LuaClosureExpr,
    statement: LuaSyntaxNode,
}

/// The declarations to insert: the place in the plan, and the lines.
pub(super) fn declarations(typed: &Typed<'_>) -> Vec<(usize, String)> {
    let root = typed.model.get_root();
    let locals = root.descendants::<LuaLocalFuncStat>().filter_map(|function| {
        let name = function.get_local_name()?.get_name_token()?.get_name_text().to_owned();
        Some(Helper { name, closure: function.get_closure()?, statement: function.syntax().clone() })
    });
    let globals =
        root.descendants::<LuaFuncStat>().filter_map(|function| match function.get_func_name()? {
            LuaVarExpr::NameExpr(name) => {
                let name = name.get_name_text()?;
                Some(Helper { name, closure: function.get_closure()?, statement: function.syntax().clone() })
            }
            LuaVarExpr::IndexExpr(_) => None,
        });
    let mut lines: Vec<(usize, String)> = Vec::new();
    for helper in locals.chain(globals).filter(|helper| helper.name != "run") {
        let place = typed.masked.original_place(usize::from(helper.statement.text_range().start()));
        let declared = helper.parameters(typed);
        if !declared.is_empty() {
            lines.push((place, declared));
        }
    }
    lines.sort();
    lines
}

impl Helper {
    /// A line for each parameter whose kind every call shows.
    fn parameters(&self, typed: &Typed<'_>) -> String {
        let Some(calls) = self.calls(typed) else { return String::new() };
        let parameters = self.closure.get_params_list().into_iter().flat_map(|list| list.get_params());
        let mut lines = String::new();
        for (place, parameter) in parameters.enumerate() {
            let name = match parameter.get_name_token() {
                Some(name) if !parameter.is_dots() => name.get_name_text().to_owned(),
                _ => break,
            };
            if let Some(lua) = union_at(typed, &calls, place) {
                let _ = write!(lines, "\n---@param {name} {lua}");
            }
        }
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines
    }

    /// Every call of the function; `None` where it may be called elsewhere, or calls itself.
    fn calls(&self, typed: &Typed<'_>) -> Option<Vec<LuaCallExpr>> {
        let root = typed.model.get_root();
        let of_locals = root.descendants::<LuaLocalName>().filter_map(|local| local.get_name_token());
        let of_parameters = root.descendants::<LuaParamName>().filter_map(|param| param.get_name_token());
        let declared = of_locals.chain(of_parameters);
        let is_local = LuaLocalFuncStat::can_cast(self.statement.kind().into());
        let declarations = declared.filter(|token| token.get_name_text() == self.name).count();
        if declarations != usize::from(is_local) {
            return None;
        }
        let mut calls = Vec::new();
        for name in root.descendants::<LuaNameExpr>() {
            let text = name.get_name_text()?;
            if !is_local && text == "_G" {
                return None;
            }
            if text != self.name {
                continue;
            }
            let parent = name.syntax().parent()?;
            if parent == self.statement {
                continue;
            }
            let call = LuaCallExpr::cast(parent)?;
            let is_callee = call.get_prefix_expr().is_some_and(|callee| callee.syntax() == name.syntax());
            let is_inside = self.closure.syntax().text_range().contains_range(call.syntax().text_range());
            if !is_callee || is_inside {
                return None;
            }
            calls.push(call);
        }
        (!calls.is_empty()).then_some(calls)
    }
}

/// What the calls give at one place, as a type to declare; `None` where one of them does not show it.
fn union_at(typed: &Typed<'_>, calls: &[LuaCallExpr], place: usize) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for call in calls {
        let arguments: Vec<LuaExpr> = call.get_args_list()?.get_args().collect();
        let value = arguments.get(place)?;
        // The variable may hold something else by the time of the call.
        typed.kinds_of(value)?;
        declared(&typed.model.infer_expr(value.clone()).ok()?, 0, &mut names)?;
    }
    // Whether a helper is ever given nothing is its caller's affair.
    names.retain(|name| name != "nil");
    let lua = names.join("|");
    (!names.is_empty() && lua.len() <= TYPE_BYTES_MAX).then_some(lua)
}

/// Adds the parts of a type as they are declared; `None` for what has no declaration.
fn declared(lua: &LuaType, depth: usize, names: &mut Vec<String>) -> Option<()> {
    if depth > DEPTH_MAX {
        return None;
    }
    let inner = |lua: &LuaType| -> Option<String> {
        let mut parts = Vec::new();
        declared(lua, depth + 1, &mut parts)?;
        (!parts.is_empty()).then(|| parts.join("|"))
    };
    let name = match lua {
        LuaType::Nil => "nil".to_owned(),
        LuaType::Boolean | LuaType::BooleanConst(_) | LuaType::DocBooleanConst(_) => "boolean".to_owned(),
        LuaType::String | LuaType::StringConst(_) | LuaType::DocStringConst(_) => "string".to_owned(),
        LuaType::Integer | LuaType::IntegerConst(_) | LuaType::DocIntegerConst(_) => "integer".to_owned(),
        LuaType::Number | LuaType::FloatConst(_) => "number".to_owned(),
        LuaType::Ref(id) | LuaType::Def(id) => {
            let name = id.get_name();
            (name == "ToolError" || is_result(name) || is_context(name)).then(|| name.to_owned())?
        }
        LuaType::Array(items) => format!("({})[]", inner(items.get_base())?),
        LuaType::TableGeneric(parts) => match parts.as_slice() {
            [LuaType::String, values] => format!("table<string, {}>", inner(values)?),
            _ => return None,
        },
        LuaType::Object(object) if object.get_index_access().is_empty() => {
            let mut fields: Vec<String> = Vec::new();
            for (key, lua) in object.get_fields() {
                let LuaMemberKey::Name(key) = key else { return None };
                let is_word = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && !key.starts_with(|first: char| first.is_ascii_digit());
                if !is_word || luaplan_catalog::is_lua_keyword(key) {
                    return None;
                }
                fields.push(format!("{key}: {}", inner(lua)?));
            }
            fields.sort_unstable();
            format!("{{ {} }}", fields.join(", "))
        }
        LuaType::Union(types) => {
            return types.into_vec().iter().try_for_each(|lua| declared(lua, depth, names));
        }
        LuaType::MultiLineUnion(types) => return declared(&types.to_union(), depth, names),
        _ => return None,
    };
    if !names.contains(&name) {
        names.push(name);
    }
    Some(())
}
