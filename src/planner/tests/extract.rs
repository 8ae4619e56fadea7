//! Answers as files: the answer, then `=== plan` with the program, or `=== none`.

use std::path::Path;

use super::super::extract;

#[test]
fn every_answer_gives_the_program_its_case_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/llm/extract");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case = std::fs::read_to_string(&path).unwrap();
        let (answer, expected) = case.split_once("\n=== ").unwrap();
        let (explanation, expected) = match expected.strip_prefix("explanation\n") {
            Some(rest) => rest.split_once("\n=== ").map(|(text, rest)| (Some(text), rest)).unwrap(),
            None => (None, expected),
        };
        let found = extract(answer);
        match expected.strip_prefix("plan\n") {
            Some(plan) => {
                let found = found.unwrap_or_else(|| panic!("{name}: no program found"));
                assert_eq!(found.source, plan, "{name}");
                assert_eq!(found.explanation.as_deref(), explanation, "{name}");
            }
            None => assert_eq!(found, None, "{name}"),
        }
        count += 1;
    }
    assert!(count > 20, "the cases are there");
}

#[test]
fn hostile_answers_are_read_without_harm() {
    for answer in
        ["{".repeat(100_000), "[{\"plan\":".repeat(50_000), "```\n".repeat(50_000), "\\\"{".repeat(50_000)]
    {
        assert_eq!(extract(&answer), None);
    }
}

#[test]
fn no_code_stands_behind_a_break_that_no_page_shows() {
    let answer =
        r#"{"plan": "function run()\r\n  -- a note\rlocal x = 1\r  return x\nend", "explanation": "One."}"#;
    let source = extract(answer).unwrap().source;
    assert_eq!(source, "function run()\n  -- a note\nlocal x = 1\n  return x\nend\n");
}

#[test]
fn a_model_says_about_its_plan_no_more_than_a_person_reads() {
    let answer =
        serde_json::json!({ "plan": "function run() return 1 end", "explanation": "é".repeat(90_000) });
    let said = extract(&answer.to_string()).unwrap().explanation.unwrap();
    assert_eq!(said.chars().count(), 2_000);
}
