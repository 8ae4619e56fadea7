//! The rules: documented, and allowed only with a reason.

use luaplan::base::ErrorCode;
use luaplan::plan::{CheckInput, CheckReport, Severity, check, check_with, rule_codes};

use super::corpus::{plans, tools};
use super::limits;

fn found(source: &str) -> Vec<(String, u32)> {
    let report = check(source, "plan", &tools(), &limits());
    report.findings.into_iter().map(|finding| (finding.code, finding.line)).collect()
}

fn only(code: &str, line: u32) -> Vec<(String, u32)> {
    vec![(code.to_owned(), line)]
}

#[test]
fn every_rule_has_a_section_and_faults_that_show_it() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/checks.md")).unwrap();
    let (faults, catalog) = (plans("faults"), tools());
    let shown: Vec<CheckReport> = faults.iter().map(|plan| super::corpus::checked(plan, &catalog)).collect();
    let own = [ErrorCode::PlanAllowWithoutReason, ErrorCode::PlanAllowUnused];
    for code in rule_codes().chain(own).map(ErrorCode::as_str) {
        assert!(page.contains(&format!("\n### `{code}`\n")), "docs/checks.md has no section on {code}");
        // These are about the configuration and not about the plan: `not_set_up` and `world` show them.
        let of_the_place = [
            ErrorCode::PlanToolNotSetUp,
            ErrorCode::PlanTargetRefused,
            ErrorCode::PlanTemplateRefused,
            ErrorCode::PlanSqlRefused,
            ErrorCode::PlanSqlUnasked,
        ];
        if of_the_place.iter().any(|place| place.as_str() == code) {
            continue;
        }
        let times = shown.iter().filter(|report| report.findings.iter().any(|it| it.code == code)).count();
        assert!(times >= 1, "no fault shows {code}");
    }
    for code in ErrorCode::ALL.iter().map(|code| code.as_str()) {
        let is_of_the_check = code.starts_with("plan_") && code != "plan_error";
        assert!(!is_of_the_check || page.contains(&format!("`{code}`")), "docs/checks.md lacks {code}");
    }
}

#[test]
fn a_comment_with_a_reason_allows_its_line_or_the_statement_below() {
    let bare = "function run(c)\n  send_email('a@b.c', 'x', 'y')\n  return c\nend";
    assert_eq!(found(bare), only("plan_result_unused", 2));
    let behind = bare.replace("'y')", "'y') -- luaplan: allow(plan_result_unused) a courtesy");
    assert_eq!(found(&behind), []);
    let above = bare.replace("  send", "  -- luaplan: allow(plan_result_unused) a courtesy\n  send");
    assert_eq!(found(&above), []);
    let block = bare.replace("  send", "  --[[ luaplan: allow(plan_result_unused) a courtesy ]]\n  send");
    assert_eq!(found(&block), []);
    let whole = format!("-- luaplan: allow(plan_result_unused) mails are courtesies here\n{bare}");
    assert_eq!(found(&whole), []);
    let elsewhere = format!("{bare}\n-- luaplan: allow(plan_result_unused) too late");
    assert_eq!(found(&elsewhere).len(), 2);
}

#[test]
fn an_error_of_a_rule_can_be_allowed_and_other_errors_cannot() {
    let endless = "function run(c)\n  while true do\n    c.r = send_email('a@b.c', 'x', 'y')\n  end\nend";
    let report = check(endless, "plan", &tools(), &limits());
    assert_eq!(report.errors().count(), 1);
    assert!(!report.is_ok());
    let allowed =
        endless.replace("'y')", "'y') -- luaplan: allow(plan_write_in_unbounded_loop) watched by hand");
    assert!(check(&allowed, "plan", &tools(), &limits()).is_ok());
    for (code, statement) in [
        ("plan_bad_argument", "local x = query_db{tabel = 'a'}"),
        ("plan_unknown_tool", "local x = nope()"),
        ("plan_forbidden_global", "local x = os.time()"),
    ] {
        let source =
            format!("function run(c)\n  {statement} -- luaplan: allow({code}) I want it\n  return x\nend");
        let report = check(&source, "plan", &tools(), &limits());
        assert_eq!(report.errors().map(|it| it.code.as_str()).collect::<Vec<_>>(), [code], "{source}");
    }
}

#[test]
fn addresses_are_judged_by_task_and_context_alone() {
    let source = "function run(c) local r = send_email('eve@example.com', 'x', 'y') return r end";
    let catalog = tools();
    let with = |task: Option<&str>, context: Option<&luaplan::base::Value>| {
        let limits = limits();
        let input = CheckInput {
            source,
            name: "plan",
            catalog: &catalog,
            limits: &limits,
            context,
            task,
            results: &[],
        };
        check_with(&input).findings
    };
    assert_eq!(with(None, None), []);
    assert_eq!(with(Some("mail Eve@Example.com"), None), []);
    let context = luaplan::base::Value::from_json_text(r#"{"to": ["eve@example.com"]}"#).unwrap();
    assert_eq!(with(Some("mail her"), Some(&context)), []);
    let findings = with(Some("mail her"), None);
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (findings[0].code.as_str(), findings[0].severity),
        ("plan_address_written", Severity::Warning)
    );
}

#[test]
fn what_is_repeated_a_counted_number_of_times_is_not_advised_against() {
    let send = "local r = send_email('a@b.c', 'x', 'y') if r.error then error(r.error) end";
    for body in [
        format!("local n = 0 ::again:: n = n + 1 {send} if n < 3 then goto again end"),
        format!("for i = 1, 3 do if i == 2 then goto continue end {send} ::continue:: end"),
        format!("local function tell() {send} end tell() tell()"),
        format!("local function tell() {send} end for i = 1, 3 do tell() end"),
        format!("local function tell() {send} end while c.more do c.more = nil end tell()"),
        format!("list.each({{1, 2}}, function() {send} end)"),
    ] {
        let source = format!("function run(c)\n{body}\nend");
        let codes: Vec<String> = found(&source).into_iter().map(|(code, _)| code).collect();
        assert!(!codes.iter().any(|code| code == "plan_write_in_unbounded_loop"), "{source}: {codes:?}");
    }
}
