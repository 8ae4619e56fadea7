//! When a model repeats itself.

use super::super::collapse::{collapsed, similarity};

fn program(tool: &str) -> String {
    let lines: Vec<String> =
        (0..30).map(|n| format!("  local r{n} = {tool}{{a = {n}, b = \"x\"}}")).collect();
    format!("function run(context)\n{}\n  return context\nend", lines.join("\n"))
}

#[test]
fn white_space_does_not_count() {
    assert!((similarity("a  b\n c", "a b c") - 1.0).abs() < f64::EPSILON);
    assert!(similarity("a b c d", "e f g h") < 0.01);
    assert!(similarity("", "a") < 0.01);
}

#[test]
fn three_nearly_identical_answers_are_a_collapse() {
    let one = program("nope");
    let two = one.replace("return context", "return  context -- again");
    assert!(similarity(&one, &two) >= 0.97);
    assert!(collapsed(&[one.clone(), two.clone(), one.clone()]));
    assert!(!collapsed(&[one.clone(), two.clone()]));
    assert!(!collapsed(&[one.clone(), two, program("other")]));
    assert!(collapsed(&["other".to_owned(), one.clone(), one.clone(), one]));
}
