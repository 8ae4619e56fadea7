//! Lua 5.4 as it comes, with the tools as plain functions.

use std::sync::{Arc, Mutex};

use luaplan::base::Value;
use mlua::{HookTriggers, Lua, MultiValue, Value as LuaValue, VmState};

use super::outcome::{End, Outcome};
use super::tools;

/// Instructions after which a program counts as endless.
const INSTRUCTIONS_MAX: u32 = 3_000_000;
const ENDLESS: &str = "endless";
/// Lua as it comes has no cap of its own, and some programs double a text until there is one. Far
/// above the sandbox's limit, so that whatever meets this one has met that one.
const MEMORY_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Of what is printed, and of what calls say.
const SEEN_BYTES_MAX: usize = 64 * 1024 * 1024;
const TOO_MUCH: &str = "too much to compare";
const NOT_CARRIED: &str = "an argument that no tool is given";

/// What our sandbox does differently on purpose: an order of `pairs` and `next` that depends on
/// nothing hidden, a stable sort without "invalid order function", `parallel`.
const HARNESS: &str = r#"
local stock_next, stock_pairs, stock_type, raw = next, pairs, type, rawget
local sort = table.sort
local function ordered_keys(t)
  local ints, floats, names, no, yes, others = {}, {}, {}, false, false, {}
  for key in stock_next, t do
    local kind = math.type(key)
    if kind == "integer" then ints[#ints + 1] = key
    elseif kind == "float" then floats[#floats + 1] = key
    elseif stock_type(key) == "string" then names[#names + 1] = key
    elseif key == true then yes = true
    elseif key == false then no = true
    else others[#others + 1] = key end
  end
  sort(ints) sort(floats) sort(names)
  local keys = {}
  for _, list in ipairs({ ints, floats, names }) do
    for _, key in ipairs(list) do keys[#keys + 1] = key end
  end
  if no then keys[#keys + 1] = false end
  if yes then keys[#keys + 1] = true end
  for _, key in ipairs(others) do keys[#keys + 1] = key end
  return keys
end
function next(t, key)
  if key ~= nil then stock_next(t, key) elseif stock_next(t) == nil then return nil end
  local passed = key == nil
  for _, known in ipairs(ordered_keys(t)) do
    if passed and raw(t, known) ~= nil then return known, raw(t, known) end
    passed = passed or known == key
  end
end
function pairs(...)
  local iterate, state, first = stock_pairs(...)
  if iterate ~= stock_next then return iterate, state, first end
  local keys, place = ordered_keys((...)), 0
  return function()
    while place < #keys do
      place = place + 1
      local value = raw(state, keys[place])
      if value ~= nil then return keys[place], value end
    end
  end, state, nil
end
local stock_pcall, stock_error = pcall, error
function parallel(functions)
  local results, failed, reason = {}, false, nil
  for _, key in ipairs(ordered_keys(functions)) do
    -- Branches start together: where one fails, the calls of the others are still made.
    local ok, result = stock_pcall(functions[key])
    if ok then results[key] = result elseif not failed then failed, reason = true, result end
  end
  if failed then stock_error(reason, 0) end
  return results
end
"#;

/// What is seen of a program while it runs.
#[derive(Default)]
struct Seen {
    printed: String,
    calls: Vec<String>,
    bytes: usize,
    /// Why the end means nothing. The program may have caught it, so it is kept apart.
    unjudged: Option<&'static str>,
}

impl Seen {
    fn count(&mut self, bytes: usize) -> mlua::Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= SEEN_BYTES_MAX {
            return Ok(());
        }
        self.unjudged = Some(TOO_MUCH);
        Err(mlua::Error::runtime(TOO_MUCH))
    }
}

/// Runs the program to its end.
pub(crate) fn run(source: &str) -> Outcome {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let end = attempt(source, &seen).unwrap_or_else(|error| {
        End::Failed("plan_syntax".to_owned(), error.to_string().replace("syntax error: ", ""))
    });
    let Seen { printed, calls, unjudged, .. } = std::mem::take(&mut *seen.lock().unwrap());
    Outcome { end: unjudged.map_or(end, |why| End::Unjudged(why.to_owned())), printed, calls }
}

const PRINT: &str = r#"
local emit_line = emit_line
function print(...)
  local list = table.pack(...)
  for i = 1, list.n do list[i] = tostring(list[i]) end
  emit_line(table.concat(list, '\t'))
end
"#;

fn attempt(source: &str, seen: &Arc<Mutex<Seen>>) -> mlua::Result<End> {
    let lua = Lua::new();
    lua.set_memory_limit(MEMORY_BYTES_MAX)?;
    let lines = seen.clone();
    let emit_line = lua.create_function(move |_, text: mlua::LuaString| {
        let mut seen = lines.lock().unwrap();
        seen.count(text.as_bytes().len())?;
        seen.printed.push_str(&text.to_string_lossy());
        seen.printed.push('\n');
        Ok(())
    })?;
    lua.globals().set("emit_line", emit_line)?;
    lua.load(PRINT).exec()?;
    lua.globals().set("emit_line", LuaValue::Nil)?;
    for tool in tools::NAMES {
        let seen = seen.clone();
        let function = lua.create_function(move |lua, arguments: MultiValue| {
            let mut values = Vec::new();
            for argument in arguments {
                let Some(value) = value_of(&argument, 0) else {
                    seen.lock().unwrap().unjudged = Some(NOT_CARRIED);
                    return Err(mlua::Error::runtime(NOT_CARRIED));
                };
                values.push(value);
            }
            while values.last() == Some(&Value::Null) {
                values.pop();
            }
            let call = tools::describe(tool, &values);
            let mut seen = seen.lock().unwrap();
            seen.count(call.len())?;
            seen.calls.push(call);
            drop(seen);
            match tools::answer(tool, &values) {
                Ok(value) => lua_of(lua, &value),
                Err(failure) => {
                    let table = lua.create_table()?;
                    table.set("error", failure.message.as_str())?;
                    table.set("code", failure.code.as_str())?;
                    table.set("retryable", failure.retryable)?;
                    Ok(LuaValue::Table(table))
                }
            }
        })?;
        lua.globals().set(tool, function)?;
    }
    lua.load(HARNESS).set_name("=harness").exec()?;
    let watched = seen.clone();
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(INSTRUCTIONS_MAX), move |_, _| {
        watched.lock().unwrap().unjudged = Some(ENDLESS);
        Err::<VmState, _>(mlua::Error::runtime(ENDLESS))
    })?;
    lua.load(source).set_name("=plan.lua").exec()?;
    let run: LuaValue = lua.globals().get("run")?;
    let (ok, value): (bool, LuaValue) = lua.load("return pcall(...)").call((run, lua.create_table()?))?;
    if ok {
        return Ok(match value_of(&value, 0) {
            Some(value) => End::Returned(value),
            None => End::Unjudged("a result that cannot leave".to_owned()),
        });
    }
    Ok(End::Failed("plan_error".to_owned(), message(&value)))
}

/// What our report says of a raised value.
fn message(value: &LuaValue) -> String {
    match value {
        LuaValue::String(text) => text.to_string_lossy(),
        LuaValue::Table(table) => {
            let text = |name: &str| match table.raw_get::<LuaValue>(name) {
                Ok(LuaValue::String(text)) => text.to_str().ok().map(|text| text.to_owned()),
                _ => None,
            };
            text("message").or_else(|| text("error")).unwrap_or_else(|| match value_of(value, 0) {
                Some(document) => document.to_json().to_string(),
                None => "raised a table".to_owned(),
            })
        }
        LuaValue::Error(error) => error.to_string(),
        other => format!("raised a {} value", other.type_name()),
    }
}

/// A Lua value as a document, where it is one.
fn value_of(value: &LuaValue, depth: usize) -> Option<Value> {
    Some(match value {
        LuaValue::Nil => Value::Null,
        LuaValue::Boolean(flag) => Value::Bool(*flag),
        LuaValue::Integer(number) => Value::Integer(*number),
        LuaValue::Number(number) if number.is_finite() => Value::Float(*number),
        LuaValue::String(text) => Value::from_lua_bytes(text.as_bytes().to_vec()),
        LuaValue::Table(table) if depth < 20 => {
            let length = table.raw_len();
            let pairs: Vec<(LuaValue, LuaValue)> = table.pairs().collect::<mlua::Result<_>>().ok()?;
            if pairs.len() == length {
                let items = (1..=length).map(|place| value_of(&table.raw_get(place).ok()?, depth + 1));
                return items.collect::<Option<_>>().map(Value::Array);
            }
            if length > 0 {
                return None;
            }
            let mut members: Vec<(String, Value)> = pairs
                .iter()
                .map(|(key, value)| {
                    Some((key.as_string()?.to_str().ok()?.to_owned(), value_of(value, depth + 1)?))
                })
                .collect::<Option<_>>()?;
            members.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(members.into_iter().collect())
        }
        _ => return None,
    })
}

fn lua_of(lua: &Lua, value: &Value) -> mlua::Result<LuaValue> {
    Ok(match value {
        Value::Bool(flag) => LuaValue::Boolean(*flag),
        Value::Integer(number) => LuaValue::Integer(*number),
        Value::Float(number) => LuaValue::Number(*number),
        Value::String(_) | Value::Bytes(_) => {
            LuaValue::String(lua.create_string(value.as_bytes().unwrap_or_default())?)
        }
        Value::Array(items) => {
            let table = lua.create_table()?;
            for item in items {
                table.push(lua_of(lua, item)?)?;
            }
            LuaValue::Table(table)
        }
        Value::Object(members) => {
            let table = lua.create_table()?;
            for (name, member) in members {
                table.set(name.as_str(), lua_of(lua, member)?)?;
            }
            LuaValue::Table(table)
        }
        _ => LuaValue::Nil,
    })
}
