//! The policy file: what is refused, and where.

use luaplan::app::config::parse_policy;
use luaplan::base::ErrorCode;

use super::POLICY;

fn with_rule(lines: &str) -> String {
    format!("version = 1\n\n[[rule]]\nname = \"r\"\ndecision = \"prompt\"\nreason = \"why\"\n{lines}\n")
}

#[test]
fn each_fault_names_file_line_and_key() {
    let faults: Vec<(String, usize, &str)> = vec![
        ("version = 2".into(), 1, "version"),
        ("version = 1\ncolour = 1".into(), 2, "colour"),
        ("version = 1\napprovers = []".into(), 2, "nobody could decide"),
        ("version = 1\n[defaults]\nsend = \"maybe\"".into(), 3, "maybe"),
        ("version = 1\n[defaults]\nsends = \"auto\"".into(), 3, "did you mean `send`"),
        (with_rule("tool = []"), 3, "tool"),
        (with_rule("decision = \"deny\""), 7, "duplicate key `decision`"),
        ("version = 1\n[defaults]\nread = \"auto\"\n[defaults]".into(), 4, "duplicate key `defaults`"),
        (with_rule("tols = \"x\""), 7, "unknown field `tols`"),
        (with_rule("arguments.to = 5"), 7, "arguments.to"),
        (with_rule("arguments.to = { any = [] }"), 7, "arguments.to.any"),
        (with_rule("arguments.to = { anny = \"x\" }"), 7, "did you mean `any`"),
        (with_rule("arguments.to = { any = \"x\", all = \"y\" }"), 7, "stands alone"),
        (with_rule("arguments.amount = { above = \"x\" }"), 7, "arguments.amount.above"),
        (with_rule("arguments.amount = {}"), 7, "says nothing"),
        (with_rule("arguments.\"a.*.b\" = \"x\""), 7, "say `any`, `all` or `none`"),
        (with_rule("arguments.\"a..b\" = \"x\""), 7, "a path is names"),
        (format!("{}{}", with_rule(""), with_rule("").replace("version = 1", "")), 11, "is already there"),
        (with_rule("").replace("reason = \"why\"\n", ""), 4, "write `reason = "),
        (with_rule("").replace("\"r\"", "\"default\""), 4, "cannot be the name"),
    ];
    for (text, line, words) in faults {
        let error = parse_policy(&text, "policy.toml").unwrap_err();
        assert!(matches!(error.code(), ErrorCode::ConfigInvalid | ErrorCode::ConfigUnknownKey), "{error}");
        let said = format!("{error} {}", error.help());
        assert!(said.contains(words), "{text}\n{said}");
        assert!(said.contains("policy.toml, line "), "{said}");
        assert!(said.contains(&format!("line {line}:")), "line {line} expected\n{text}\n{said}");
    }
}

#[test]
fn a_rule_that_changes_is_another_rule() {
    let hash = |text: &str| parse_policy(text, "p").unwrap().rules[0].hash.clone();
    assert_eq!(hash(POLICY), hash(POLICY));
    assert_ne!(hash(POLICY), hash(&POLICY.replace("mail leaves", "letters leave")));
}
