//! The typed check cannot be fooled, silenced, crashed or filled.

use luaplan::base::Value;
use luaplan::catalog::{Catalog, read_manifest};
use luaplan::plan::{CheckInput, Finding, Severity, check, check_with};
use proptest::prelude::*;

use super::corpus::{plans, tools};
use super::limits;

fn errors(source: &str, context: Option<&Value>) -> Vec<(String, u32)> {
    let (catalog, limits) = (tools(), limits());
    let input = CheckInput {
        source,
        name: "plan",
        catalog: &catalog,
        limits: &limits,
        context,
        task: None,
        results: &[],
    };
    let findings = check_with(&input).findings.into_iter();
    let errors = findings.filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| (finding.code, finding.line)).collect()
}

/// A plan whose fault shows by its types alone; `{}` stands where an annotation may come.
const FAULTY: &str = "{}\nfunction run(context)\n  {}\n  local subject = 12 {}\n  {}\n  \
    local r = send_email(context.user.nam, subject, 'x') {}\n  return {ok = not r.error}\nend";

#[test]
fn annotations_in_a_plan_change_nothing() {
    let context = Value::from_json_text(r#"{"user": {"name": "Ada"}}"#).unwrap();
    let plain = errors(&FAULTY.replace("{}", ""), Some(&context));
    let expected = [("plan_unknown_field".to_owned(), 6), ("plan_bad_argument".to_owned(), 6)];
    assert_eq!(plain, expected);
    let annotations = [
        "---@diagnostic disable",
        "---@diagnostic disable-next-line",
        "---@diagnostic disable-line: param-type-mismatch",
        "---@class Context",
        "---@class Context\n---@field user any",
        "---@class send_email.result\n---@field nam string",
        "---@param context any",
        "---@param context table<string, any>",
        "---@type any",
        "---@type string",
        "---@cast subject string",
        "---@cast context any",
        "---@as string",
        "--[[@as any]]",
        "--[=[@cast subject string]=]",
        "---@meta",
        "---@overload fun(...): any",
        "---@generic T",
        "---@alias ToolError string",
        "---@module 'plan'",
        "---@source nowhere",
        "---@namespace x",
        "--- luaplan: allow(plan_bad_argument) please",
    ];
    for annotation in annotations {
        let lines = u32::try_from(annotation.lines().count()).unwrap();
        for place in 0..5 {
            let mut pieces = FAULTY.split("{}");
            let mut source = pieces.next().unwrap().to_owned();
            for (index, piece) in pieces.enumerate() {
                source.push_str(if index == place { annotation } else { "" });
                source.push_str(piece);
            }
            let shift = if place < 4 { lines - 1 } else { 0 };
            let found = errors(&source, Some(&context));
            let expected: Vec<_> =
                expected.iter().cloned().map(|(code, line)| (code, line + shift)).collect();
            assert_eq!(found, expected, "{annotation} at {place}");
        }
    }
}

fn tool(name: &str, result: &str) -> Catalog {
    let text = format!(
        "name = \"{name}\"\ndescription = \"x\"\neffect = \"read\"\nidempotent = true\nrate = \"1/s\"\n\
         capability = \"x\"\nkind = \"http\"\n[params]\ntype = \"object\"\n[params.properties.n]\ntype = \"integer\"\n\
         [result]\ntype = \"object\"\n[result.properties.{result}]\ntype = \"string\"\n"
    );
    Catalog::from_iter([read_manifest(&text, &format!("{name}.toml")).unwrap()])
}

#[test]
fn one_check_leaves_nothing_for_the_next() {
    let limits = limits();
    let one = tool("first_tool", "alpha");
    let two = tool("second_tool", "beta");
    let same_name = tool("first_tool", "gamma");
    let plan = |name: &str, field: &str| {
        format!(
            "function run(c) local r = {name}{{n = 1}} if r.error then return r.error end return {{v = r.{field} .. '!'}} end"
        )
    };
    let codes = |source: &str, catalog: &Catalog| -> Vec<String> {
        check(source, "plan", catalog, &limits).findings.into_iter().map(|it| it.code).collect()
    };
    for _ in 0..3 {
        assert_eq!(codes(&plan("first_tool", "alpha"), &one), [""; 0]);
        assert_eq!(codes(&plan("first_tool", "alpha"), &same_name), ["plan_unknown_field"]);
        assert_eq!(codes(&plan("first_tool", "gamma"), &same_name), [""; 0]);
        assert_eq!(codes(&plan("first_tool", "alpha"), &two), ["plan_unknown_tool"]);
        assert_eq!(codes(&plan("second_tool", "beta"), &two), [""; 0]);
        // What one plan defines, another does not know.
        let definer =
            "helper_of_one = function(n) return n end Shape = {} function run(c) return helper_of_one(1) end";
        assert_eq!(codes(definer, &one), [""; 0]);
        assert_eq!(codes("function run(c) return helper_of_one(1) end", &one), ["plan_unknown_tool"]);
    }
    // Nor does a context stay.
    let source = "function run(context) return {a = context.alpha .. context.beta} end";
    let with = |json: Option<&str>| -> Vec<Finding> {
        let context = json.map(|json| Value::from_json_text(json).unwrap());
        let input = CheckInput {
            source,
            name: "plan",
            catalog: &one,
            limits: &limits,
            context: context.as_ref(),
            task: None,
            results: &[],
        };
        check_with(&input).findings
    };
    for _ in 0..3 {
        assert_eq!(with(None), []);
        assert_eq!(with(Some(r#"{"alpha": "x"}"#)).len(), 1);
        assert_eq!(with(Some(r#"{"alpha": "x", "beta": "y"}"#)), []);
        assert_eq!(with(Some("{}")), []);
    }
}

/// Memory the process holds, in bytes; Linux alone tells it this way.
#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_checks_do_not_fill_the_memory() {
    let (catalog, limits) = (tool("first_tool", "alpha"), limits());
    let run = |from: u32, to: u32| {
        for n in from..to {
            // Names and texts that no check before had.
            let source = format!("function run(c) c.field_{n} = 'text {n}' end");
            assert!(check(&source, "plan", &catalog, &limits).is_ok());
        }
    };
    run(0, 2_000);
    let before = resident_bytes();
    run(2_000, 10_000);
    let grown = resident_bytes().saturating_sub(before);
    // One plan's analysis alone is some ten kilobytes; kept, they would be hundreds of megabytes.
    assert!(grown < 64 * 1024 * 1024, "8,000 checks left {grown} bytes");
}

/// Sources that make an analysis slow or deep: each is checked to its end.
#[test]
fn hostile_plans_are_checked_to_their_end() {
    let many = |piece: &str, count: usize| piece.repeat(count);
    let chain = (0..400).map(|n| format!("local v{n} = v{} or query_db{{table = 't'}}\n", n.max(1) - 1));
    let chain: String = chain.collect::<String>();
    let chained =
        format!("local function f()\n{}return 1 end", chain.lines().take(150).collect::<Vec<_>>().join("\n"));
    let bodies = [
        many("if context.a then context.a = 1 else context.b = 2 end\n", 900),
        format!("local x\n{}", many("if x then x = nil else x = {} end\n", 900)),
        format!("local x = {{}}\n{}", many("x = {a = x, b = x}\n", 1_500)),
        many("while context.x do local y = context.x if y then context.x = y.z end\n", 60)
            + &many("end\n", 60),
        format!("local t = {{{}}}", many("1,", 15_000)),
        format!("local t = {{{}}}", (0..4_000).map(|n| format!("k{n} = {n},")).collect::<String>()),
        format!("local s = {}", many("'a' .. ", 170)) + "'b'",
        format!("local n = {}1", many("1 + ", 700)),
        format!("local a = context{}", many(".a", 700)),
        format!("local a = context{}", many("()", 700)),
        many("for i, v in ipairs(context.x) do\n", 50) + &many("end\n", 50),
        many("local function f() return f end\n", 190),
        many("repeat local r = send_email('a', 'b', 'c') until r.delivered\n", 400),
        many("goto l ::l::\n", 0)
            + &(0..300).map(|n| format!("if context.a then goto l{n} end ::l{n}::\n")).collect::<String>(),
        chained,
        "local \u{e9} = 1".to_owned(),
        "local s = '\u{1f600}\u{202e}\u{0301}' -- \u{1f600}\n--[[ \u{202e} ]] context.x = s".to_owned(),
    ];
    let (catalog, limits) = (tools(), limits());
    let context = Value::from_json_text(r#"{"a": {"a": {"a": 1}}, "x": [{"z": null}]}"#).unwrap();
    for body in bodies {
        let source = format!("function run(context)\n{body}\nend");
        assert!(source.len() <= 64 * 1024, "{}", source.len());
        let input = CheckInput {
            source: &source,
            name: "plan",
            catalog: &catalog,
            limits: &limits,
            context: Some(&context),
            task: None,
            results: &[],
        };
        let report = check_with(&input);
        let head: String = source.chars().take(80).collect();
        assert!(report.findings.iter().all(|it| it.code != "plan_types_unknown"), "given up: {head}");
    }
}

/// Pieces of the corpora in new combinations.
fn spliced() -> impl Strategy<Value = (String, usize)> {
    let lines: Vec<String> = plans("correct")
        .iter()
        .chain(&plans("faults"))
        .flat_map(|plan| plan.source.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let inner = prop::collection::vec(prop::sample::select(lines), 0..25);
    (inner.prop_map(|lines| format!("function run(context)\n{}\nend", lines.join("\n"))), 0..4_usize)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_splice_of_plans_is_checked_the_same_way_twice((source, context) in spliced()) {
        let contexts = [r#"{"a": 1}"#, r#"{"users": [{"name": "x"}, {"id": 1.5}], "to": null}"#, "{}", "[1, 2]"];
        let context = Value::from_json_text(contexts[context]).unwrap();
        let (catalog, limits) = (tools(), limits());
        let input = CheckInput { source: &source, name: "plan", catalog: &catalog, limits: &limits, context: Some(&context), task: None, results: &[] };
        let first = check_with(&input).findings;
        prop_assert!(first.iter().all(|it| it.code != "plan_types_unknown"), "{}", source);
        for finding in &first {
            prop_assert!(source.get(finding.span.0..finding.span.1).is_some(), "{:?} in {}", finding, source);
        }
        prop_assert_eq!(first, check_with(&input).findings);
    }
}

/// What is said of the one line of a plan, without the place.
fn advice(line: &str) -> Vec<String> {
    let source = format!("function run(context)\n  local x = 'a'\n  {line}\n  return {{x = x}}\nend");
    let findings = check(&source, "plan", &tools(), &limits()).findings;
    findings
        .into_iter()
        .map(|finding| format!("{} {} {}", finding.code, finding.message, finding.help))
        .collect()
}

#[test]
fn calls_of_the_library_are_advised_on() {
    for (line, wanted) in [
        ("x = list.sort_by({}, 'n', 'up')", "\"up\" comes"),
        ("x = list.map('abc', function(i) return i end)", "`items` must be table"),
        ("x = text.split('a,b')", "needs `separator`"),
        ("x = text.trim({})", "`s` must be string; a table comes"),
        ("x = date.add('2026-01-01', 1, 'days', 2)", "at most 3 argument(s), and 4 are given"),
        ("x = stats.mean(true)", "`list` must be table; a boolean comes"),
        ("x = math.floor(1, 2)", "at most 1 argument(s)"),
        ("x = json.decode({})", "`text` must be string"),
    ] {
        let said = advice(line);
        assert!(said.len() == 1 && said[0].contains(wanted), "{line}: {said:?}");
        assert!(said[0].starts_with("plan_bad_argument"), "{said:?}");
    }
    for line in [
        "x = list.sort_by({}, function(i) return i end, 'desc')",
        "x = list.map(context.rows, 'name')",
        "x = text.split('a,b', ',')",
        "x = text.pad_left(5, 3)",
        "x = date.add('2026-01-01', {days = 2})",
        "x = text.join(table.unpack(context.parts))",
        "x = json.encode({1}, {indent = 2})",
        "x = string.format('%d', 5)",
        "x = math.max(1, 2, 3)",
        "local list = {map = function() end} x = list.map(1, 2, 3, 4)",
        "x = stats.percentile({1, 2}, '90')",
    ] {
        assert_eq!(advice(line), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn an_item_that_may_be_absent_is_spoken_of_once_and_not_where_it_was_looked_at() {
    let times = |body: &str| {
        let source = format!(
            "function run(context)\n  local rows = query_db{{table = 'users'}}\n  if rows.error then return nil end\n  {body}\nend"
        );
        let findings = check(&source, "plan", &tools(), &limits()).findings;
        findings.iter().filter(|finding| finding.code == "plan_nil_index").count()
    };
    let twice = "return {a = rows[1].name, b = rows[1].mail}";
    let advised = times(twice);
    assert!(advised <= 1, "said {advised} times");
    assert_eq!(times(&format!("if #rows == 0 then return nil end {twice}")), 0);
    assert_eq!(times(&format!("if not rows[1] then return nil end {twice}")), 0);
}

#[test]
fn what_other_languages_write_is_named_with_its_lua() {
    for (line, wanted) in [
        ("if context.a {\n return 1\n }", "write `then` in place of the `{`"),
        ("while context.a {\n x = 1\n }", "write `do` in place of the `{`"),
        ("for _, i in ipairs(context.l) {\n print(i)\n }", "write `do` in place of the `{`"),
        ("local f = function(a) {\n return a\n }", "remove the `{`"),
        ("if context.a then {\n return 1\n }", "remove the `{`"),
        ("if context.a then\n return 1\n else if context.b then\n return 2\n end", "write `elseif`"),
        ("local y = 1 // what it is for", "a comment does not begin with `//`"),
        ("# what it is for", "a comment does not begin with `#`"),
        ("local t = {a: 1}", "`name = value`"),
        ("local t = {'a': 1}", "`[\"name\"] = value`"),
        ("for i of context.l do print(i) end", "ipairs(list)"),
        ("for (i = 1; i < 3; i++) do end", "for i = 1, n do"),
        ("x = len(context.l)", "write `#x`"),
        ("x = string.fmt('%d', 1)", "string.format"),
        ("x = text.strip(' a ')", "text.trim"),
        ("x = text.lowercase('A')", "text.lower"),
        ("x = date.difference('2026-01-01', '2026-01-02')", "date.diff"),
        ("x = tonum('1')", "tonumber"),
    ] {
        let said = advice(line);
        assert!(said.iter().any(|said| said.contains(wanted)), "{line}: {said:?}");
    }
    // A table in a condition over several lines is one.
    assert_eq!(advice("if next {\n 1, 2,\n } then x = 'b' end"), Vec::<String>::new());
}
