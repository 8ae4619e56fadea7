//! The global names of the sandbox, and well-known names that it lacks.
//!
//! The sandbox builds its environment from these lists, and the check judges names by them.

use crate::declarations;

/// Lua's own functions and values.
pub const CORE: [&str; 20] = [
    "_G",
    "_VERSION",
    "assert",
    "error",
    "getmetatable",
    "ipairs",
    "next",
    "pairs",
    "pcall",
    "print",
    "rawequal",
    "rawget",
    "rawlen",
    "rawset",
    "select",
    "setmetatable",
    "tonumber",
    "tostring",
    "type",
    "xpcall",
];

/// Lua's own libraries with all their members in the sandbox.
pub const LIBRARIES: [(&str, &[&str]); 5] = [
    ("coroutine", &["close", "create", "isyieldable", "resume", "running", "status", "wrap", "yield"]),
    (
        "math",
        &[
            "abs",
            "acos",
            "asin",
            "atan",
            "ceil",
            "cos",
            "deg",
            "exp",
            "floor",
            "fmod",
            "huge",
            "log",
            "max",
            "maxinteger",
            "min",
            "mininteger",
            "modf",
            "pi",
            "rad",
            "round",
            "sin",
            "sqrt",
            "tan",
            "tointeger",
            "type",
            "ult",
        ],
    ),
    (
        "string",
        &[
            "byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "pack", "packsize",
            "rep", "reverse", "sub", "unpack", "upper",
        ],
    ),
    ("table", &["concat", "insert", "move", "pack", "remove", "sort", "unpack"]),
    ("utf8", &["char", "charpattern", "codepoint", "codes", "len", "offset"]),
];

/// luaplan's own functions.
pub const PLAN_FUNCTIONS: [&str; 4] = ["must", "parallel", "retry", "step"];

/// luaplan's own libraries; their declarations in `lua/stubs` name their members.
pub const PLAN_LIBRARIES: [&str; 6] = ["csv", "date", "json", "list", "stats", "text"];

/// luaplan's own values.
pub const PLAN_VALUES: [&str; 1] = ["null"];

/// Parts of Lua that the sandbox does not have, with what to do instead.
pub const FORBIDDEN: [(&str, &str); 21] = [
    ("collectgarbage", "memory is managed and capped by the sandbox; remove the call"),
    ("debug", "nothing replaces it; `error` and `xpcall` work as usual"),
    ("dofile", "a plan is one file; put the code into it"),
    ("ffi", "nothing replaces it; reach the world through tools"),
    ("getfenv", "it is not part of Lua 5.4; use local variables"),
    ("io", "plans cannot touch files; use a tool, and put results into the context"),
    ("jit", "it is not part of Lua 5.4; remove it"),
    ("load", "code cannot be made at run time; write it into the plan"),
    ("loadfile", "a plan is one file; put the code into it"),
    ("loadstring", "code cannot be made at run time; write it into the plan"),
    ("module", "a plan is one file; use local tables"),
    ("newproxy", "it is not part of Lua 5.4; use a table with a metatable"),
    ("os", "plans have no operating system; use the `date` library for dates and tools for the rest"),
    ("package", "a plan is one file; there are no packages"),
    ("require", "a plan is one file; the libraries json, date, text, csv, stats and list are there already"),
    ("setfenv", "it is not part of Lua 5.4; use local variables"),
    ("socket", "plans have no network; use a tool such as `fetch_url`"),
    ("unpack", "it is `table.unpack` in Lua 5.4"),
    ("warn", "use `print`, which is captured with the run"),
    ("arg", "a plan gets everything in `context`"),
    ("bit32", "it is not part of Lua 5.4; use the operators & | ~ << >>"),
];

/// Single members that the sandbox does not have, with what to do instead.
pub const FORBIDDEN_MEMBERS: [(&str, &str, &str); 18] = [
    (
        "os",
        "time",
        "there is no clock; take the time from the context or a tool, and calculate with the `date` library",
    ),
    ("os", "date", "there is no clock; format dates with the `date` library"),
    ("os", "difftime", "use `date.diff`"),
    ("os", "clock", "there is no clock; the run's usage shows the time taken"),
    ("os", "getenv", "plans see no environment; pass what is needed in the context"),
    ("os", "execute", "plans cannot run commands; nothing replaces it"),
    ("io", "write", "use `print`, which is captured with the run"),
    ("string", "dump", "code cannot be turned into bytes; nothing replaces it"),
    ("math", "random", "plans are deterministic; derive values from the data"),
    ("math", "randomseed", "plans are deterministic; remove the call"),
    ("math", "pow", "it is not part of Lua 5.4; write `x ^ y`"),
    ("math", "log10", "it is not part of Lua 5.4; write `math.log(x, 10)`"),
    ("math", "atan2", "it is not part of Lua 5.4; write `math.atan(y, x)`"),
    ("math", "ldexp", "it is not part of Lua 5.4; write `x * 2.0 ^ n`"),
    ("table", "getn", "it is not part of Lua 5.4; write `#t`"),
    ("table", "maxn", "it is not part of Lua 5.4; write `#t`"),
    ("string", "gfind", "it is not part of Lua 5.4; use `string.gmatch`"),
    ("debug", "traceback", "nothing replaces it; error messages carry their line"),
];

/// Names of members in other libraries, with luaplan's names for them.
pub const USUAL_MEMBERS: [(&str, &str, &str); 31] = [
    ("text", "strip", "did you mean `text.trim`?"),
    ("text", "lstrip", "did you mean `text.ltrim`?"),
    ("text", "rstrip", "did you mean `text.rtrim`?"),
    ("text", "length", "did you mean `text.len`?"),
    ("text", "capitalize", "did you mean `text.title`?"),
    ("text", "concat", "did you mean `text.join`?"),
    ("text", "find", "use `text.contains`, or `string.find`"),
    ("text", "format", "did you mean `string.format`?"),
    ("string", "trim", "did you mean `text.trim`?"),
    ("string", "strip", "did you mean `text.trim`?"),
    ("string", "split", "did you mean `text.split`?"),
    ("string", "join", "use `table.concat`, or `text.join`"),
    ("string", "replace", "did you mean `text.replace`?"),
    ("string", "starts_with", "did you mean `text.starts_with`?"),
    ("string", "startswith", "did you mean `text.starts_with`?"),
    ("string", "ends_with", "did you mean `text.ends_with`?"),
    ("string", "endswith", "did you mean `text.ends_with`?"),
    ("table", "map", "did you mean `list.map`?"),
    ("table", "filter", "did you mean `list.filter`?"),
    ("table", "keys", "did you mean `list.keys`?"),
    ("table", "values", "did you mean `list.values`?"),
    ("table", "find", "did you mean `list.find`?"),
    ("table", "contains", "did you mean `list.contains`?"),
    ("table", "join", "did you mean `table.concat`?"),
    ("list", "push", "did you mean `table.insert`?"),
    ("list", "append", "did you mean `table.insert`?"),
    ("list", "join", "use `table.concat`, or `text.join`"),
    ("list", "length", "write `#t`"),
    ("json", "parse", "did you mean `json.decode`?"),
    ("json", "stringify", "did you mean `json.encode`?"),
    ("stats", "average", "did you mean `stats.mean`?"),
];

/// Names of other languages that parse as names of Lua, with what to write.
pub const FOREIGN_NAMES: [(&str, &str); 17] = [
    ("None", "write `nil`"),
    ("undefined", "write `nil`"),
    ("NULL", "write `nil`; a null in a list is `null`"),
    ("True", "write `true`"),
    ("False", "write `false`"),
    ("try", "write `local ok, err = pcall(function() … end)`"),
    ("catch", "write `local ok, err = pcall(function() … end)` and test `ok`"),
    ("switch", "write `if … then … elseif … then … end`"),
    ("throw", "write `error(…)`"),
    ("raise", "write `error(…)`"),
    ("len", "write `#x`"),
    ("str", "write `tostring(x)`"),
    ("int", "write `math.tointeger(x)`, or `math.floor(x)`"),
    ("float", "write `tonumber(x)`"),
    ("range", "write `for i = 1, n do`, or use `list.range`"),
    ("console", "write `print(…)`"),
    ("JSON", "use `json.decode` and `json.encode`"),
];

/// What to write for a name of another language, or for the name another library gives a member.
#[must_use]
pub fn usual(name: &str, member: Option<&str>) -> Option<&'static str> {
    let known =
        USUAL_MEMBERS.into_iter().find(|(library, usual, _)| *library == name && Some(*usual) == member);
    known
        .map(|(_, _, help)| help)
        .or_else(|| FOREIGN_NAMES.into_iter().find(|(foreign, _)| *foreign == name).map(|(_, help)| help))
}

/// Whether the sandbox has a global of that name, tools apart.
#[must_use]
pub fn is_allowed(name: &str) -> bool {
    all().any(|allowed| allowed == name)
}

/// Every global name of the sandbox, tools apart.
pub fn all() -> impl Iterator<Item = &'static str> {
    CORE.into_iter()
        .chain(LIBRARIES.into_iter().map(|(name, _)| name))
        .chain(PLAN_FUNCTIONS)
        .chain(PLAN_LIBRARIES)
        .chain(PLAN_VALUES)
}

/// The members of one of Lua's own libraries.
#[must_use]
pub fn library_members(name: &str) -> Option<&'static [&'static str]> {
    LIBRARIES.into_iter().find(|(library, _)| *library == name).map(|(_, members)| members)
}

/// The members of a library, Lua's own or luaplan's.
#[must_use]
pub fn members_of(name: &str) -> Option<Vec<&'static str>> {
    match library_members(name) {
        Some(members) => Some(members.to_vec()),
        None => PLAN_LIBRARIES.contains(&name).then(|| declarations::members(name)),
    }
}

/// What to do instead of a global, or of its member, that the sandbox does not have.
#[must_use]
pub fn instead_of(name: &str, member: Option<&str>) -> Option<&'static str> {
    let by_member = FORBIDDEN_MEMBERS
        .into_iter()
        .find(|(global, of_global, _)| *global == name && Some(*of_global) == member)
        .map(|(_, _, help)| help);
    by_member.or_else(|| FORBIDDEN.into_iter().find(|(global, _)| *global == name).map(|(_, help)| help))
}
