//! Which candidate is taken, and why.

use luaplan_base::ContentHash;

use super::super::review;
use super::super::verdict::{
    Advice, CandidateId, CandidateVerdict, MockVerdict, Standing, TestsVerdict, equals_at_the_top, rank,
};

/// A candidate that passed everything.
fn good(id: u32) -> Standing {
    Standing {
        candidate: CandidateId(id),
        plan_hash: Some(ContentHash::of(&id.to_le_bytes())),
        code: None,
        tests: Some(TestsVerdict { passed: 2, ..TestsVerdict::default() }),
        errors: Some(0),
        warnings: Some(0),
        mock_run: Some(MockVerdict { code: None }),
    }
}

fn failing_tests(id: u32, failed: u64) -> Standing {
    let tests =
        Some(TestsVerdict { failed, first_failure: Some("a: b".to_owned()), ..TestsVerdict::default() });
    Standing { tests, ..good(id) }
}

fn warned(id: u32, warnings: u64) -> Standing {
    Standing { warnings: Some(warnings), ..good(id) }
}

fn failing_mocks(id: u32) -> Standing {
    Standing { mock_run: Some(MockVerdict { code: Some("plan_error".to_owned()) }), ..good(id) }
}

fn without_plan(id: u32, errors: Option<u64>) -> Standing {
    let code = Some("check_refused".to_owned());
    Standing { code, errors, warnings: errors.map(|_| 0), tests: None, mock_run: None, ..good(id) }
}

fn order(verdicts: &[CandidateVerdict]) -> Vec<String> {
    let mut sorted: Vec<&CandidateVerdict> = verdicts.iter().collect();
    sorted.sort_by_key(|verdict| verdict.rank);
    sorted.iter().map(|verdict| verdict.candidate.to_string()).collect()
}

#[test]
fn the_criteria_decide_in_their_order() {
    let standings = [
        without_plan(1, None),
        without_plan(2, Some(3)),
        without_plan(3, Some(1)),
        failing_tests(4, 2),
        failing_tests(5, 1),
        warned(6, 2),
        warned(7, 1),
        failing_mocks(8),
        good(9),
    ];
    let verdicts = rank(&standings, None, true);
    assert_eq!(order(&verdicts), ["c9", "c8", "c7", "c6", "c5", "c4", "c3", "c2", "c1"]);
    let ids: Vec<u32> = verdicts.iter().map(|verdict| verdict.candidate.0).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9], "told in the order of ids");
    let reasons: Vec<&str> = verdicts.iter().map(|verdict| verdict.reason.as_str()).collect();
    let expected = [
        "no plan (check_refused)",
        "no plan (check_refused)",
        "no plan (check_refused)",
        "2 failed test(s), c9 has 0 failed test(s)",
        "1 failed test(s), c9 has 0 failed test(s)",
        "2 warning(s) of the check, c9 has 0 warning(s) of the check",
        "1 warning(s) of the check, c9 has 0 warning(s) of the check",
        "a mock run that failed with plan_error, c9 has a mock run that passed",
        "a mock run that passed, c8 has a mock run that failed with plan_error",
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn a_higher_criterion_outweighs_any_number_of_lower_ones() {
    let many_warnings = Standing { warnings: Some(99), ..failing_mocks(2) };
    assert_eq!(order(&rank(&[failing_tests(1, 1), many_warnings], None, true)), ["c2", "c1"]);
    let mocks_fail = failing_mocks(2);
    assert_eq!(order(&rank(&[warned(1, 1), mocks_fail], None, true)), ["c2", "c1"]);
}

#[test]
fn among_equals_the_reviewer_decides_and_without_one_the_lower_id() {
    let standings = [good(1), warned(2, 1), good(3)];
    assert_eq!(equals_at_the_top(&standings), [CandidateId(1), CandidateId(3)]);
    let verdicts = rank(&standings, None, true);
    assert_eq!(order(&verdicts), ["c1", "c3", "c2"]);
    assert_eq!(verdicts[0].reason, "equal to c3, and it came first");
    assert_eq!(verdicts[2].reason, "equal to c1, which came first");

    let advice = |id| Advice { candidate: CandidateId(id), reason: "clearer".to_owned() };
    let verdicts = rank(&standings, Some(&advice(3)), true);
    assert_eq!(order(&verdicts), ["c3", "c1", "c2"]);
    assert_eq!(verdicts[2].reviewer.as_deref(), Some("clearer"));
    assert!(verdicts[2].chosen && !verdicts[0].chosen);
    assert_eq!(verdicts[0].reason, "equal to c3, which the reviewer prefers");

    let verdicts = rank(&standings, Some(&advice(2)), true);
    assert_eq!(order(&verdicts), ["c1", "c3", "c2"], "no advice lifts a worse candidate");
}

#[test]
fn the_best_is_not_taken_where_it_is_not_good_enough() {
    let verdicts = rank(&[failing_tests(1, 1)], None, false);
    assert!(!verdicts[0].chosen);
    assert_eq!(verdicts[0].reason, "1 failed test(s)");
}

#[test]
fn a_reviewers_answer_counts_only_where_it_names_one_of_those_asked_about() {
    let ids = [CandidateId(1), CandidateId(3)];
    let advice = review::advice("Sure: {\"best\": \"c3\", \"reason\": \"safer\"} ok", &ids).unwrap();
    assert_eq!((advice.candidate, advice.reason.as_str()), (CandidateId(3), "safer"));
    for answer in ["", "c3", "{\"best\": \"c2\"}", "{\"best\": 3}", "{\"best\": \"c3\"", "{}"] {
        assert!(review::advice(answer, &ids).is_none(), "{answer}");
    }
}
