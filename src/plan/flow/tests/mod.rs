//! The analysis on small plans.

mod corpus;

use luaplan_base::LimitProfile;
use luaplan_catalog::read_manifest;

use super::*;
use crate::{admit_accepted, check};

fn catalog() -> Catalog {
    let manifest = |name: &str| {
        let text = format!(
            "name = \"{name}\"\ndescription = \"A tool.\"\neffect = \"read\"\nkind = \"builtin\"\n\
             [params]\ntype = \"object\"\n[params.properties.a]\n[params.properties.b]\n"
        );
        read_manifest(&text, name).unwrap()
    };
    ["get", "put"].into_iter().map(manifest).collect()
}

fn flow(body: &str) -> Flow {
    let source = format!("function run(context)\n{body}\nend");
    let report = check(&source, "plan", &catalog(), &LimitProfile::Standard.limits());
    analyse(&report.plan.unwrap_or_else(|| panic!("{:?}\n{source}", report.findings)), &catalog())
}

/// The origins as short words: `.a.b` for the context, `#1` for a call, `?` for anything.
fn words(origins: &std::collections::BTreeSet<Origin>) -> String {
    let word = |origin: &Origin| match origin {
        Origin::Context(path) => path.to_string().replacen("context", "", 1),
        Origin::Call(number) => format!("#{number}"),
        Origin::Anything => "?".to_owned(),
    };
    origins.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// What has a part in `a` of the last `put`.
fn data(body: &str) -> String {
    let flow = flow(body);
    assert!(!flow.gave_up(), "{body}");
    let site = flow.call_sites().iter().rfind(|site| site.tool == "put").unwrap();
    words(&flow.slice(site.number, "a").unwrap().data)
}

/// What decides about the last `put`.
fn control(body: &str) -> String {
    let flow = flow(body);
    let site = flow.call_sites().iter().rfind(|site| site.tool == "put").unwrap();
    words(&flow.slice(site.number, "a").unwrap().control)
}

#[test]
fn data_goes_through_every_construct() {
    let cases = [
        ("put{a = 'x'}", ""),
        ("put{a = context.x}", ".x"),
        ("put{b = context.x, a = 1}", ""),
        ("local t = {p = context.x, q = context.y} put{a = t.q}", ".y"),
        ("local t = {p = context.x, q = context.y} put{a = t}", ".x .y"),
        ("local t = {} local u = t u.p = context.x put{a = t.p}", ".x"),
        ("local t = {context.x, context.y} put{a = t[2]}", ".y"),
        ("local t = {} t[context.k] = context.x put{a = t.z}", ".k .x"),
        ("local f = function() return context.x end put{a = f()}", ".x"),
        ("local x local f = function(v) x = v end f(context.y) put{a = x}", ".y"),
        ("local function id(v) return v end local x = id(context.x) put{a = id(context.y)}", ".y"),
        ("local function two(...) local p, q = ... return q end put{a = two(context.x, context.y)}", ".x .y"),
        ("local r = get{a = context.x} put{a = r}", "#1"),
        ("local r = get(context.x) put(r.rows[1].name)", "#1"),
        ("g = context.x put{a = g}", ".x"),
        ("local x = 1 if context.c then x = 2 end put{a = x}", ".c"),
        ("local x = context.c and 'p' or 'q' put{a = x}", ".c"),
        ("local x = 0 while x < context.n do x = x + 1 end put{a = x}", ".n"),
        ("local s = '' for _, v in ipairs(context.list) do s = s .. v end put{a = s}", ".list .list[*]"),
        ("local t = setmetatable({}, {__index = function() return context.x end}) put{a = t.q}", ".x"),
        ("local base = {q = context.x} local t = setmetatable({}, {__index = base}) put{a = t.q}", ".x"),
        ("local ok, e = pcall(function() error(context.x) end) put{a = e}", ".x"),
        ("local ok = pcall(function() return #context.x end) put{a = ok}", ".x"),
        ("local co = coroutine.wrap(function() coroutine.yield(context.x) end) put{a = co()}", ".x"),
        (
            "local r = parallel{function() return get(1) end, function() return context.x end} put{a = r[2]}",
            ".x",
        ),
        ("local r = retry(2, function() return get(context.x) end) put{a = r}", "#1"),
        ("local r = step('a', function() return get(1) end) put{a = r}", "#1"),
        ("local t step('a', function() t = context.x end) put{a = t}", ".x"),
        ("put{a = ('%s'):format(context.x):upper()}", ".x"),
        ("put{a = list.map({context.x}, function(v) return v .. 'y' end)}", ".x"),
        ("local t = list.filter({context.x}, function(v) return v ~= context.y end) put{a = t[1]}", ".x .y"),
        ("put{a = list.pluck(context.rows, 'mail')}", ".rows .rows[*].mail"),
        ("put{a = list.sum_by({{n = context.x, m = context.y}}, 'n')}", ".x"),
        ("put{a = list.chunk({context.x, context.y}, context.n)[1][1]}", ".n .x .y"),
        ("put{a = list.reduce({context.x}, function(a, b) return a .. b end, context.y)}", ".x .y"),
        ("local g = list.group_by({{k = context.x}}, 'k') put{a = list.keys(g)[1]}", ".x"),
        ("put{a = list.zip({context.x}, {'one'})[1][2]}", ".x"),
        ("put{a = stats.mean(context.rows, 'n')}", ".rows .rows[*] .rows[*].n"),
        ("local t = {[context.x] = 1} for k in pairs(t) do put{a = k.y} end", ".x .x.y"),
        ("put{a = table.pack(context.x, context.y)[2]}", ".y"),
        ("put{a = json.decode(context.x).y}", ".x"),
        ("context.x = 'mine' put{a = context.y}", ".y"),
        ("pcall(put, context.x)", ".x .x.a .x.b"),
    ];
    let wrong: Vec<String> = cases
        .into_iter()
        .map(|(body, expected)| (body, expected, data(body)))
        .filter(|(_, expected, found)| expected != found)
        .map(|(body, expected, found)| format!("{body}\n  expected `{expected}`, found `{found}`"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_variable_that_its_own_block_assigns_again_has_the_last_value() {
    for (body, expected) in [
        ("local n = context.x n = 5 put{a = n}", ""),
        ("local n = context.x n = n .. context.y put{a = n}", ".x .y"),
        ("local n, m = context.x, context.y n, m = m, 1 put{a = n}", ".y"),
        ("for _, v in ipairs(context.x) do v = 5 put{a = v} end", ""),
        ("local function f(v) v = context.y put{a = v} end f(context.x)", ".y"),
        // What may be skipped, repeated or seen from elsewhere keeps all that was assigned.
        ("local n = context.x if context.c then n = 5 end put{a = n}", ".c .x"),
        ("local n = context.x while context.c do put{a = n} n = context.y end", ".c .x .y"),
        ("local n = context.x local f = function() return n end n = context.y put{a = f()}", ".x .y"),
        ("local n = context.x if context.c then goto over end n = 5 ::over:: put{a = n}", ".c .x"),
        (
            "local n = context.x ::again:: put{a = n} n = context.y if context.c then goto again end",
            ".c .x .y",
        ),
        ("local f = context.x f = function(v) return v and f(nil) end put{a = f(context.y)}", ".x .y"),
    ] {
        assert_eq!(data(body), expected, "{body}");
    }
    let shown = |body: &str| flow(&format!("{body} return n")).result().shown.clone();
    assert_eq!(shown("local n = context.total n = 5"), "5");
    // The result of a run that returns nil is the context.
    assert_eq!(shown("local n = context.total if context.c then n = 5 end"), "5 or context or context.total");
}

#[test]
fn a_result_in_the_context_is_told_where_the_context_is_shown() {
    let told = flow("context.rows = get{a = 1}\nreturn context").result().shown.clone();
    assert_eq!(told, "context, with what call 1 gave");
    assert_eq!(flow("return context").result().shown, "context");
    assert_eq!(
        flow("local rows = get{a = 1}\nreturn { rows = rows }").result().shown,
        "{rows = result of call 1}"
    );
}

/// Those of a text or of a place, as a plan would write them.
fn shown(body: &str) -> String {
    let flow = flow(body);
    let site = flow.call_sites().iter().rfind(|site| site.tool == "put").unwrap();
    site.arguments.get("a").unwrap().shown.clone()
}

#[test]
fn what_picks_elements_is_not_among_them() {
    let cases = [
        (
            "local open = list.filter(context.rows, function(r) return r.state == 'open' end)
             list.each(list.sort_by(open, 'name', 'desc'), function(r) put(r.mail, 1) end)",
            "context.rows[*].mail",
        ),
        (
            "for _, host in ipairs(list.map(context.sites, 'host')) do put(host, 1) end",
            "context.sites[*].host",
        ),
        (
            "for place, rows in pairs(list.group_by(context.rows, 'place')) do put(rows[1].mail, 1) end",
            "context.rows[*].mail",
        ),
        ("for name in pairs{north = 1, south = 2} do put(name, 1) end", "\"north\" or \"south\""),
        ("for _, part in ipairs(list.chunk({'a', 'b'}, 1)) do put(part[1], 1) end", "\"a\" or \"b\""),
        ("put((list.find(context.rows, {state = 'open'})), 1)", "context.rows[*]"),
    ];
    for (body, expected) in cases {
        assert_eq!(shown(body), expected, "{body}");
    }
}

#[test]
fn control_follows_what_leaves_early() {
    let cases = [
        ("put(1)", ""),
        ("if context.c then put(1) end", ".c"),
        ("if context.c then local x = 1 end put(1)", ""),
        ("if context.c then return 1 end put(1)", ".c"),
        ("for i = 1, context.n do put(i) end", ".n"),
        ("for i = 1, context.n do local x = i end put(1)", ""),
        ("for i = 1, 3 do if context.c then break end put(1) end", ".c"),
        ("for i = 1, 3 do if context.c then break end end put(1)", ""),
        ("for i = 1, 3 do if context.c then goto continue end put(1) ::continue:: end", ".c"),
        ("for i = 1, 3 do if context.c then goto continue end ::continue:: end put(1)", ""),
        ("::top:: put(1) if context.c then goto top end", ".c"),
        ("local f = context.c and get or put f(1)", ".c"),
        ("local ok = pcall(function() if context.c then error('x') end put(1) end)", ".c"),
        ("pcall(function() if context.c then error('x') end end) put(1)", ""),
        ("local x = context.c and put(1)", ".c"),
        ("list.each({1}, function() if context.c then put(1) end end)", ".c"),
        ("list.each(context.l, function() put(1) end)", ".l"),
        ("list.any({1, 2}, function(x) put(1) return x == context.c end)", ".c"),
        ("list.filter({1, 2}, function(x) put(1) return x == context.c end)", ""),
    ];
    let wrong: Vec<String> = cases
        .into_iter()
        .map(|(body, expected)| (body, expected, control(body)))
        .filter(|(_, expected, found)| expected != found)
        .map(|(body, expected, found)| format!("{body}\n  expected `{expected}`, found `{found}`"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_may_end_the_run_before_a_call_is_told_apart() {
    let flow = flow("if context.c then error('no') end\nlocal x = context.d.e + 1\nput(1)");
    let slice = flow.slice(1, "a").unwrap();
    assert_eq!(words(&slice.control), "");
    assert_eq!(words(&slice.stops), ".c .d .d.e");
    assert_eq!(flow.slice(2, "a"), None);
}

#[test]
fn calls_are_counted_as_far_as_a_bound_is_there() {
    let cases = [
        ("put(1)", Some(1)),
        ("for i = 1, 5 do put(i) end", Some(5)),
        ("for i = 5, 1, -2 do put(i) end", Some(3)),
        ("for i = 1, 3 do for j = 1, 4 do put(i) end end", Some(12)),
        ("for _, x in ipairs{'a', 'b'} do put(x) end", Some(2)),
        ("local t = {'a', 'b'} t[#t + 1] = 'c' for _, x in ipairs(t) do put(x) end", None),
        ("for k, x in pairs{a = 1, b = 2, 3} do put(x) end", Some(3)),
        ("local function f() put(1) end f() f()", Some(2)),
        ("local function f(n) put(n) if n > 0 then f(n - 1) end end f(3)", None),
        ("retry(4, function() return put(1) end)", Some(4)),
        ("retry(context.n, function() return put(1) end)", Some(10)),
        ("step('a', function() return put(1) end)", Some(1)),
        ("step('a', function() return put(1) end, {retries = 3})", Some(4)),
        ("step('a', function() return put(1) end, {retries = context.n})", Some(10)),
        ("step('a', function() return put(1) end, context.options)", Some(10)),
        ("parallel{function() return put(1) end, function() return 2 end}", Some(1)),
        ("while context.c do put(1) end", None),
        ("for _, x in ipairs(context.list) do put(x) end", None),
        ("list.map({1, 2}, put)", Some(2)),
        ("list.map(context.l, put)", None),
        ("local t = {1} t[#t + 1] = 2 list.each(t, put)", None),
        ("list.each(list.map({1, 2}, tostring), put)", None),
        ("('a'):gsub('.', put)", None),
        ("for i = 1, 2 do pcall(put, i) end", Some(2)),
        ("::top:: put(1) if context.c then goto top end", None),
        ("for i = 3, 1 do put(i) end", Some(0)),
        ("local co = coroutine.wrap(function() put(1) end) co() pcall(co)", Some(1)),
    ];
    for (body, expected) in cases {
        let flow = flow(body);
        assert_eq!(flow.call_sites().len(), 1, "{body}");
        assert_eq!(flow.call_sites()[0].calls_max, expected, "{body}");
    }
}

#[test]
fn what_cannot_be_followed_is_said() {
    for body in
        ["_G[context.name](1)", "for k, f in pairs(_G) do f(1) end", "local _ENV = {put = put} put(1)"]
    {
        // The check refuses a plan's own `_ENV`; a plan that was accepted earlier may have one.
        let source = format!("function run(context)\n{body}\nend");
        let admitted = admit_accepted(&source, "plan", &LimitProfile::Standard.limits());
        let flow = analyse(&admitted.plan.unwrap(), &catalog());
        assert!(flow.gave_up(), "{body}");
        assert_eq!(flow.call_sites().len(), 2, "{body}");
        assert_eq!(words(&flow.slice(1, "a").unwrap().data), "?", "{body}");
    }
    assert!(!flow("_G['put'](1)").gave_up());
}

/// Sources of the largest size, each bad in its own way, end soon; no time is asserted.
#[test]
fn the_largest_sources_are_answered() {
    let fill = |head: &str, part: &dyn Fn(usize) -> String, tail: &str| {
        let mut text = head.to_owned();
        let mut number = 0;
        while text.len() + part(number).len() + tail.len() < 60 * 1024 {
            text.push_str(&part(number));
            number += 1;
        }
        text + tail
    };
    let sources = [
        fill("", &|_| "put(1)\n".to_owned(), ""),
        fill("local t = {}\n", &|n| format!("t.f{n} = get(t) t[t.f{n}] = t\n"), ""),
        fill(
            "local f = {}\n",
            &|n| format!("f[{n}] = function(...) return f[...](...) end\n"),
            "put(f[1](f))",
        ),
        fill("local x = 0\n", &|n| format!("if x == {n} then return x end x = x + get(x)\n"), "put(x)"),
        fill("", &|n| format!("::l{n}:: if context.a{n} then goto l{n} end\n"), "put(1)"),
        fill("local x = 1\n", &|n| format!("x = x .. context.k{n} put(x)\n"), ""),
        fill("local function a(f, g) return f(g, f) end\n", &|_| "a(a, a) a(put, get)\n".to_owned(), ""),
    ];
    for source in sources {
        let flow = flow(&source);
        assert!(!flow.call_sites().is_empty());
    }
}
