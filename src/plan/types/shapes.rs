//! What the types tell of arguments that a tool takes in any form: kinds, and the names of fields.
//!
//! A field that the plan gives to any table counts as one of every table, and a table that gets fields by computed names
//! may have any.

use std::collections::BTreeMap;

use emmylua_code_analysis::{LuaMemberKey, LuaType};
use emmylua_parser::{LuaAstNode, LuaCallExpr, LuaExpr, LuaIndexKey, LuaTableExpr};
use serde_json::{Map, Value as Json, json};

use super::super::check::ArgumentShape;
use super::fields::Written;
use super::kinds::{Typed, ValueKind, is_result, name_of};
use super::operands::Operands;
use crate::arguments::expression;

/// Tables inside tables that are looked into.
const DEPTH_MAX: usize = 6;

/// The arguments of calls whose parameters take any value.
pub(super) fn of_arguments(typed: &Typed<'_>) -> Vec<ArgumentShape> {
    let Some(written) = Written::of(typed) else { return Vec::new() };
    let shapes = Shapes { typed, written, operands: Operands::of(typed) };
    let root = typed.model.get_root();
    let mut found = Vec::new();
    for call in root.descendants::<LuaCallExpr>() {
        let span = typed.span(&call);
        let Some(known) = typed.question.calls.iter().find(|known| known.span == span) else { continue };
        let Some(spec) = typed.question.catalog.get(&known.tool) else { continue };
        for (parameter, _) in spec.parameters().filter(|(_, schema)| schema.get("type").is_none()) {
            let given = expression(spec, &call, known.skip, parameter);
            let Some(schema) = given.map(|given| shapes.of(&given, 0)).filter(|schema| *schema != any())
            else {
                continue;
            };
            found.push(ArgumentShape { call: span, parameter: parameter.to_owned(), schema });
        }
    }
    found
}

struct Shapes<'a, 't> {
    typed: &'a Typed<'t>,
    written: Written,
    operands: Operands<'a, 't>,
}

fn any() -> Json {
    json!({})
}

fn list(items: &Json) -> Json {
    json!({ "type": "array", "items": items })
}

impl Shapes<'_, '_> {
    fn of(&self, value: &LuaExpr, depth: usize) -> Json {
        match value {
            _ if depth > DEPTH_MAX => any(),
            LuaExpr::ParenExpr(inner) => inner.get_expr().map_or_else(any, |inner| self.of(&inner, depth)),
            LuaExpr::TableExpr(table) => self.of_constructor(table, depth),
            _ if self.operands.kinds(value).is_none() => any(),
            _ => self
                .typed
                .model
                .infer_expr(value.clone())
                .map_or_else(|_| any(), |lua| self.of_type(&lua, depth)),
        }
    }

    /// A table where it is made: nothing else can have given it fields by then.
    fn of_constructor(&self, table: &LuaTableExpr, depth: usize) -> Json {
        let (mut items, mut members) = (Vec::new(), BTreeMap::new());
        for field in table.get_fields() {
            let Some(value) = field.get_value_expr() else { return any() };
            let shape = self.of(&value, depth + 1);
            if field.is_value_field() {
                // A call or `...` may give any number of values.
                let is_plain = !matches!(value, LuaExpr::CallExpr(_)) && value.syntax().text() != "...";
                items.push(if is_plain { shape } else { any() });
                continue;
            }
            let name = match field.get_field_key() {
                Some(LuaIndexKey::Name(name)) => name.get_name_text().to_owned(),
                Some(LuaIndexKey::String(text)) => text.get_value(),
                _ => return any(),
            };
            members.insert(name, shape);
        }
        match (items.is_empty(), members.is_empty()) {
            (true, false) => closed(members),
            (false, true) => {
                list(&items.into_iter().reduce(|one, other| either(one, &other)).unwrap_or_else(any))
            }
            _ => any(),
        }
    }

    fn of_type(&self, lua: &LuaType, depth: usize) -> Json {
        if depth > DEPTH_MAX {
            return any();
        }
        match lua {
            LuaType::Boolean | LuaType::BooleanConst(_) | LuaType::DocBooleanConst(_) => {
                json!({ "type": "boolean" })
            }
            LuaType::String | LuaType::StringConst(_) | LuaType::DocStringConst(_) => {
                json!({ "type": "string" })
            }
            LuaType::Integer | LuaType::IntegerConst(_) | LuaType::DocIntegerConst(_) => {
                json!({ "type": "integer" })
            }
            LuaType::Number | LuaType::FloatConst(_) => json!({ "type": "number" }),
            LuaType::Array(items) => list(&self.of_type(items.get_base(), depth + 1)),
            LuaType::Object(_) => self.record(lua, depth),
            LuaType::Ref(id) | LuaType::Def(id) if is_result(id.get_name()) => self.record(lua, depth),
            // Nothing fails before the tool is called, and a failed result is refused by it.
            LuaType::Union(types) => {
                let meant = types.into_vec().into_iter().filter(|lua| !is_absent(lua));
                meant
                    .map(|lua| self.of_type(&lua, depth))
                    .reduce(|one, other| either(one, &other))
                    .unwrap_or_else(any)
            }
            _ => any(),
        }
    }

    fn record(&self, lua: &LuaType, depth: usize) -> Json {
        let mut kinds = Vec::new();
        let is_closed = self.typed.kinds(lua, &mut kinds).is_some()
            && matches!(kinds.as_slice(), [ValueKind::Fields(fields)] if !fields.open && !self.written.is_open(fields));
        if !is_closed {
            return any();
        }
        let mut fields = BTreeMap::new();
        for member in self.typed.model.get_member_infos(lua).unwrap_or_default() {
            match (&member.key, name_of(&member.key)) {
                (LuaMemberKey::Name(_), Some(name)) => {
                    fields.insert(name, self.of_type(&member.typ, depth + 1));
                }
                _ => return any(),
            }
        }
        for name in &self.written.names {
            fields.insert(name.clone(), any());
        }
        closed(fields)
    }
}

fn is_absent(lua: &LuaType) -> bool {
    match lua {
        LuaType::Nil => true,
        LuaType::Ref(id) | LuaType::Def(id) => id.get_name() == "ToolError",
        _ => false,
    }
}

/// A table of exactly these fields.
fn closed(fields: BTreeMap<String, Json>) -> Json {
    let properties: Map<String, Json> = fields.into_iter().collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// A value that is one or the other.
fn either(one: Json, other: &Json) -> Json {
    if one == *other {
        return one;
    }
    match (one.get("type").and_then(Json::as_str), other.get("type").and_then(Json::as_str)) {
        (Some("array"), Some("array")) => list(&either(one["items"].clone(), &other["items"])),
        (Some("object"), Some("object")) => {
            let fields = |schema: &Json| schema["properties"].as_object().cloned().unwrap_or_default();
            let mut merged: BTreeMap<String, Json> = fields(&one).into_iter().collect();
            for (name, schema) in fields(other) {
                let known = merged.remove(&name);
                merged.insert(name, known.map_or_else(any, |known| either(known, &schema)));
            }
            closed(merged)
        }
        _ => any(),
    }
}
