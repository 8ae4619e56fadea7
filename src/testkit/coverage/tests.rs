use std::collections::BTreeSet;

use luaplan_catalog::builtin_manifests;

use super::*;

/// Every kind of statement, each line with `--` and whether it stands for a statement that can run.
const PLAN: &str = r#"local LIMIT <const> = 5           -- no
local later                       -- no
local list_of = {                 -- yes
  1,                              -- no
  2,                              -- no
}                                 -- no
local function help(n)            -- yes
  if n > LIMIT                    -- yes
    and n < 100 then              -- no
    return "many"                 -- yes
  elseif n == 0 then              -- yes
    return                        -- yes
  else                            -- no
    later = n                     -- yes
  end                             -- no
  return n                        -- yes
end                               -- no
function run(context)             -- yes
  for i = 1, 2 do                 -- yes
    help(i)                       -- yes
  end                             -- no
  for _, v in ipairs(list_of) do  -- yes
    if v == 9 then                -- yes
      break                       -- no
    end                           -- no
    if v == 1 then goto next end  -- yes
    ::next::                      -- no
  end                             -- no
  while true do                   -- no
    do                            -- no
      later = 3                   -- yes
    end                           -- no
    if later == 3 then break end  -- yes
  end                             -- no
  repeat                          -- no
    later = later + 1             -- yes
  until later > 4                 -- yes
  local made = function(x)        -- yes
    return x                      -- yes
  end                             -- no
  context.made = made(              -- yes
    "a"                           -- no
  )                               -- no
  return context                  -- yes
end                               -- no
"#;

fn lines_of(source: &str) -> BTreeSet<u32> {
    let tree = luaplan_syntax::syntax_tree(source).unwrap();
    lines::statements(&tree, source).into_iter().map(|statement| statement.line).collect()
}

#[test]
fn a_statement_stands_for_the_line_it_begins_on() {
    let marked: BTreeSet<u32> =
        (1..).zip(PLAN.lines()).filter(|(_, line)| line.ends_with("-- yes")).map(|(line, _)| line).collect();
    assert_eq!(lines_of(PLAN), marked);
}

#[test]
fn what_is_not_lua_has_no_lines() {
    let gatherer = Gatherer::new("p.lua", "function run(", &Catalog::default());
    assert_eq!(gatherer.finish().lines_run(), (0, 0));
}

#[test]
fn a_place_is_a_call_of_a_tool_or_a_tool_handed_to_a_function() {
    let source = "function run(context)\n  local rows = query_db { table = \"t\" }\n  local sent = retry(2, send_email,\n    context.to,\n    \"s\", rows)\n  local alias = fetch_url\n  parallel { function() return fetch_url(\"u\") end }\n  return not_a_tool(query_db)\nend";
    let catalog = Catalog::from_iter(builtin_manifests().unwrap());
    let tree = luaplan_syntax::syntax_tree(source).unwrap();
    let found: Vec<(u32, String)> =
        sites::sites(&tree, source, &catalog).into_iter().map(|site| (site.line, site.tool)).collect();
    let expected = [(2, "query_db"), (3, "send_email"), (7, "fetch_url"), (8, "query_db")];
    assert_eq!(found, expected.map(|(line, tool)| (line, tool.to_owned())));
}

#[test]
fn a_call_a_function_gives_back_as_it_is_counts_at_its_own_line() {
    let source = "local function get(t)\n  return query_db { table = t }\nend\nfunction run(context)\n  local a = get(\"x\")\n  return parallel {\n    function()\n      return fetch_url(\"u\")\n    end,\n    function()\n      return fetch_url(\"v\")\n    end,\n  }\nend";
    let catalog = Catalog::from_iter(builtin_manifests().unwrap());
    let tree = luaplan_syntax::syntax_tree(source).unwrap();
    let found = sites::sites(&tree, source, &catalog);
    let line_at = |tool: &str, line| sites::place_of(&found, tool, line).map(|place| found[place].line);
    assert_eq!(line_at("query_db", 2), Some(2));
    assert_eq!(line_at("query_db", 5), Some(2));
    assert_eq!(line_at("fetch_url", 7), Some(8));
    assert_eq!(line_at("fetch_url", 10), Some(11));
    assert_eq!(line_at("fetch_url", 6), None);
}

#[test]
fn stretches_are_joined_over_what_cannot_run() {
    let lines = [(1, 1), (2, 0), (5, 0), (6, 2), (9, 0)].into_iter().collect();
    let plan = PlanCoverage { plan: "p".to_owned(), lines, sites: Vec::new() };
    assert_eq!(plan.not_run(), [(2, 5), (9, 9)]);
    assert_eq!(plan.lines_run(), (2, 5));
}

#[test]
fn nearly_all_is_not_all() {
    assert!((percent(9999, 10_000) - 99.9).abs() < 1e-9);
    assert!((percent(0, 0) - 100.0).abs() < 1e-9);
    assert!((percent(1, 3) - 33.3).abs() < 1e-9);
}
