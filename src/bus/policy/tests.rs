//! Which rules match, and which of them decides.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use luaplan_base::ContentHash;
use luaplan_catalog::read_manifest;

use super::*;

fn mail() -> ToolSpec {
    let manifest = r#"
        name = "send_email"
        description = "d"
        effect = "send"
        rate = "1/s"
        capability = "mail"
        kind = "builtin"
        [params]
        type = "object"
        [params.properties]
        to = {}
        subject = { type = "string" }
        priority = { type = "integer", default = 5 }
        payments = {}
        urls = {}
        table = { type = "string" }
        [targets]
        to = "recipient"
        urls = "url"
        table = "table"
    "#;
    read_manifest(manifest, "send_email").unwrap()
}

fn rule(name: &str, tier: Tier, path: &str, test: ArgumentTest) -> Rule {
    Rule {
        name: name.to_owned(),
        tier,
        reason: format!("because of {name}"),
        tools: vec![Glob::new("send_*")],
        effects: Vec::new(),
        tenants: Vec::new(),
        modes: Vec::new(),
        conditions: vec![ArgumentCondition { path: path.split('.').map(str::to_owned).collect(), test }],
        hash: ContentHash::of(name.as_bytes()),
    }
}

fn like(glob: &str) -> ValueTest {
    ValueTest::Like(vec![Glob::new(glob)])
}

fn policy(rules: Vec<Rule>) -> Policy {
    let rules = PolicyRules {
        rules,
        defaults: TierByEffect::ASKING,
        approvers: Vec::new(),
        others_than_starter: false,
        origin: "policy.toml".to_owned(),
        condition_lines: std::collections::BTreeMap::new(),
    };
    Policy { rules: Some(Arc::new(rules)), ..Policy::registered_tools() }
}

fn decide(policy: &Policy, arguments: Json) -> (Tier, String) {
    let verdict = policy.decide(&mail(), &Value::from_json(arguments).unwrap());
    (verdict.decision, verdict.decided_by.unwrap_or_default())
}

#[test]
fn the_strictest_rule_that_matches_decides_and_without_one_the_default() {
    let of = |tier: Tier, word: &str| {
        rule(&format!("{tier:?}{word}"), tier, "subject", ArgumentTest::Is(like(word)))
    };
    let policy = policy(vec![
        of(Tier::Auto, "a*"),
        of(Tier::Prompt, "*b*"),
        of(Tier::Prompt, "*B2*"),
        of(Tier::Manual, "*c*"),
        of(Tier::Deny, "*d*"),
    ]);
    for (subject, tier, rule) in [
        ("a", Tier::Auto, "Autoa*"),
        ("ab", Tier::Prompt, "Prompt*b*"),
        ("acb", Tier::Manual, "Manual*c*"),
        ("abcd", Tier::Deny, "Deny*d*"),
        ("x", Tier::Prompt, "default"),
    ] {
        assert_eq!(decide(&policy, json!({ "subject": subject })), (tier, rule.to_owned()), "{subject}");
    }
    let verdict = policy.decide(&mail(), &Value::from_json(json!({ "subject": "abcB2" })).unwrap());
    let asking: Vec<String> = verdict.asking().into_iter().map(|rule| rule.name).collect();
    assert_eq!(asking, ["Manual*c*", "Prompt*b*", "Prompt*B2*"]);
    assert_eq!(verdict.matched.len(), 4);
}

#[test]
fn an_autonomous_run_goes_on_where_a_prompt_would_ask_and_nowhere_else() {
    let mut policy = policy(vec![
        rule("ask", Tier::Prompt, "subject", ArgumentTest::Is(like("a"))),
        rule("sign", Tier::Manual, "subject", ArgumentTest::Is(like("b"))),
        rule("never", Tier::Deny, "subject", ArgumentTest::Is(like("c"))),
    ]);
    policy.circumstances.mode = Mode::Autonomous;
    assert_eq!(decide(&policy, json!({ "subject": "a" })), (Tier::Auto, "ask".to_owned()));
    assert_eq!(decide(&policy, json!({ "subject": "x" })).0, Tier::Auto);
    assert_eq!(decide(&policy, json!({ "subject": "b" })).0, Tier::Manual);
    assert_eq!(decide(&policy, json!({ "subject": "c" })).0, Tier::Deny);
    let unasked = policy.decide(&mail(), &Value::from_json(json!({ "subject": "a" })).unwrap()).is_unasked;
    assert!(unasked);
}

#[test]
fn who_and_how_are_matched_beside_what() {
    let mut only_guests = rule("guests", Tier::Deny, "subject", ArgumentTest::Is(like("*")));
    only_guests.tenants = vec![Glob::new("guest-*")];
    only_guests.modes = vec![Mode::Autonomous];
    only_guests.effects = vec![Effect::Send, Effect::Write];
    let mut policy = policy(vec![only_guests]);
    for (tenant, mode, tier) in [
        ("guest-1", Mode::Autonomous, Tier::Deny),
        ("guest-1", Mode::Structured, Tier::Prompt),
        ("local", Mode::Structured, Tier::Prompt),
        ("local", Mode::Autonomous, Tier::Auto),
    ] {
        policy.circumstances = Circumstances { tenant: tenant.to_owned(), mode, started_by: None };
        assert_eq!(decide(&policy, json!({ "subject": "x" })).0, tier, "{tenant} {mode}");
    }
}

/// The tiers of a call under an allowing and under a denying rule with this condition.
fn both(path: &str, test: &ArgumentTest, arguments: &Json) -> (bool, bool) {
    let allows = policy(vec![rule("yes", Tier::Auto, path, test.clone())]);
    let denies = policy(vec![rule("no", Tier::Deny, path, test.clone())]);
    (
        decide(&allows, arguments.clone()) == (Tier::Auto, "yes".to_owned()),
        decide(&denies, arguments.clone()).0 == Tier::Deny,
    )
}

#[test]
fn what_cannot_be_judged_is_neither_allowed_nor_let_past_a_denial() {
    let inside = ArgumentTest::All(like("*@company.com"));
    let outside = ArgumentTest::Any(like("*@evil.com"));
    let large = ArgumentTest::Is(ValueTest::Number(vec![(Comparison::Above, 100.0)]));
    let small =
        ArgumentTest::Is(ValueTest::Number(vec![(Comparison::AtMost, 100.0), (Comparison::AtLeast, 1.0)]));
    let cases: Vec<(&str, ArgumentTest, Json, (bool, bool))> = vec![
        // Addresses, however they are written.
        ("to", inside.clone(), json!({ "to": "a@company.com" }), (true, true)),
        ("to", inside.clone(), json!({ "to": ["a@company.com", "b@company.com"] }), (true, true)),
        ("to", inside.clone(), json!({ "to": ["a@company.com", "b@evil.com"] }), (false, false)),
        ("to", inside.clone(), json!({ "to": "b@evil.com, a@company.com" }), (false, false)),
        ("to", inside.clone(), json!({ "to": "Ann <a@company.com>" }), (true, true)),
        ("to", inside.clone(), json!({ "to": "\"a@company.com\" <b@evil.com>" }), (false, false)),
        ("to", inside.clone(), json!({ "to": "a@COMPANY.com" }), (false, true)),
        ("to", outside.clone(), json!({ "to": "a@company.com, B <b@EVIL.com>" }), (false, true)),
        ("to", outside.clone(), json!({ "to": ["a@company.com", "b@evil.com"] }), (true, true)),
        ("to", outside.clone(), json!({ "to": ["a@company.com"] }), (false, false)),
        // Numbers; a text where a number is expected cannot be judged.
        ("priority", large.clone(), json!({ "priority": 101 }), (true, true)),
        ("priority", large.clone(), json!({ "priority": 100 }), (false, false)),
        ("priority", large.clone(), json!({ "priority": 100.5 }), (true, true)),
        ("subject", large.clone(), json!({ "subject": "1000" }), (false, true)),
        // The schema's default counts where nothing is given.
        ("priority", small.clone(), json!({}), (true, true)),
        ("subject", large.clone(), json!({}), (false, false)),
        // A list where a text is expected.
        ("to", ArgumentTest::Is(like("*")), json!({ "to": ["x"] }), (false, true)),
        // Nothing given: all of nothing matches, any of nothing does not.
        ("to", inside.clone(), json!({}), (true, true)),
        ("to", outside.clone(), json!({}), (false, false)),
        ("to", ArgumentTest::None(like("*@evil.com")), json!({ "to": "a@company.com" }), (true, true)),
        ("to", ArgumentTest::None(like("*@evil.com")), json!({ "to": "a@Evil.com" }), (false, true)),
        ("to", ArgumentTest::Present(true), json!({ "to": "x" }), (true, true)),
        ("to", ArgumentTest::Present(true), json!({ "to": null }), (false, false)),
        (
            "subject",
            ArgumentTest::Is(ValueTest::Equals("go".into())),
            json!({ "subject": "go" }),
            (true, true),
        ),
        (
            "subject",
            ArgumentTest::Is(ValueTest::Equals("go".into())),
            json!({ "subject": "Go" }),
            (false, true),
        ),
        (
            "subject",
            ArgumentTest::Is(ValueTest::Equals("go".into())),
            json!({ "subject": "stop" }),
            (false, false),
        ),
    ];
    for (path, test, arguments, expected) in cases {
        assert_eq!(both(path, &test, &arguments), expected, "{path} {test:?} {arguments}");
    }
}

#[test]
fn a_path_reaches_into_every_item() {
    let any = ArgumentTest::Any(ValueTest::Number(vec![(Comparison::Above, 100.0)]));
    let all = ArgumentTest::All(ValueTest::Number(vec![(Comparison::AtMost, 100.0)]));
    let mixed = json!({ "payments": [{ "amount": 5 }, { "amount": 500 }] });
    let small = json!({ "payments": [{ "amount": 5 }, { "amount": 50 }] });
    assert_eq!(both("payments.*.amount", &any, &mixed), (true, true));
    assert_eq!(both("payments.*.amount", &any, &small), (false, false));
    assert_eq!(both("payments.*.amount", &all, &mixed), (false, false));
    assert_eq!(both("payments.*.amount", &all, &small), (true, true));
}

#[test]
fn globs_take_any_characters_and_no_time() {
    let fits = |glob: &str, text: &str| Glob::new(glob).fit(text);
    assert_eq!(fits("a*c?e", "abbbcde"), Fit::Yes);
    assert_eq!(fits("a*c?e", "abbbce"), Fit::No);
    assert_eq!(fits("*", ""), Fit::Yes);
    assert_eq!(fits("", "x"), Fit::No);
    assert_eq!(fits("/Data/*", "/data/x"), Fit::Maybe);
    assert_eq!(fits(&"*a".repeat(40), &"a".repeat(2_000)), Fit::Yes);
    assert_eq!(fits(&format!("{}b", "*a".repeat(40)), &"a".repeat(2_000)), Fit::No);
}

#[test]
fn a_refusal_names_the_rule() {
    let policy = policy(vec![rule("never", Tier::Deny, "subject", ArgumentTest::Is(like("*")))]);
    let verdict = policy.decide(&mail(), &Value::from_json(json!({ "subject": "x" })).unwrap());
    let failure = verdict.refusal(&mail());
    assert_eq!(failure.code, "permission_denied");
    assert!(failure.message.contains("rule `never`") && failure.message.contains("because of never"));
    assert_eq!(failure.details["rule"], Value::from("never"));
}

#[test]
fn an_address_that_a_mail_server_may_read_otherwise_is_not_judged() {
    let outside = ArgumentTest::Any(like("*@evil.com"));
    let inside = ArgumentTest::All(like("*@company.com"));
    for written in [
        "b@evil\u{3002}com",
        "b@\u{ff45}vil.com",
        "b@ev\u{ad}il.com",
        "b@evil%2ecom",
        "b@evil.com.",
        "b@ evil.com",
        "b@\u{24d4}vil.com",
    ] {
        assert_eq!(both("to", &outside, &json!({ "to": written })), (false, true), "{written}");
        assert_eq!(
            both("to", &inside, &json!({ "to": ["a@company.com", written] })),
            (false, true),
            "{written}"
        );
    }
}

#[test]
fn a_web_address_is_judged_as_it_is_read() {
    let evil = ArgumentTest::Any(like("http://evil.test/*"));
    for written in [
        "http://evil\u{3002}test/x",
        "http:///evil.test/",
        "http:\\\\evil.test\\x",
        "http://evil%2etest/",
        "http://evil.test:80/",
        " http://evil.test/x",
        "http:evil.test/x",
        "http://a@evil.test/x",
        "http://evil.test./x",
    ] {
        assert_eq!(both("urls", &evil, &json!({ "urls": [written] })), (false, true), "{written}");
    }
    let own = ArgumentTest::All(like("https://*.company.com/*"));
    for (written, expected) in [
        ("https://a.company.com/x?y=1", (true, true)),
        ("https://evil.com/x.company.com/", (false, false)),
        ("https://evil.com?x.company.com/", (false, true)),
        ("https://a.company.com@evil.com/", (false, false)),
    ] {
        assert_eq!(both("urls", &own, &json!({ "urls": written })), expected, "{written}");
    }
}

#[test]
fn a_path_into_a_value_of_another_kind_is_not_judged() {
    let large = ArgumentTest::Any(ValueTest::Number(vec![(Comparison::Above, 100.0)]));
    let small = ArgumentTest::All(ValueTest::Number(vec![(Comparison::AtMost, 100.0)]));
    for payments in [
        json!({ "amount": 5000 }),
        json!(5000),
        json!([[{ "amount": 5000 }]]),
        json!([{ "Amount": 5000 }]),
        json!("[{\"amount\": 5000}]"),
    ] {
        let arguments = json!({ "payments": payments });
        assert_eq!(both("payments.*.amount", &small, &arguments), (false, true), "{arguments}");
        assert_eq!(both("payments.*.amount", &large, &arguments), (false, true), "{arguments}");
    }
}

#[test]
fn a_table_is_judged_as_the_database_looks_for_it() {
    let cases = [
        ("orders", "orders", (true, true)),
        ("orders", "main.orders", (false, true)),
        ("orders", "shop.public.ORDERS", (false, true)),
        ("orders", "Orders", (false, true)),
        ("orders", "order_items", (false, false)),
        ("public.orders", "orders", (false, true)),
        ("public.orders", "audit.orders", (false, false)),
        ("secret_*", "main.secret_plans", (false, true)),
        // A pattern with a schema does not decide a name without one.
        ("audit.*", "orders", (false, false)),
        ("audit.*", "audit.log", (true, true)),
    ];
    for (pattern, table, expected) in cases {
        let arguments = json!({ "table": table });
        assert_eq!(
            both("table", &ArgumentTest::Is(like(pattern)), &arguments),
            expected,
            "{pattern} {table}"
        );
    }
    let arguments = json!({ "table": "main.orders" });
    assert_eq!(
        both("table", &ArgumentTest::Is(ValueTest::Equals("orders".into())), &arguments),
        (false, true)
    );
}
