//! A model that asks a question instead of answering with a program: in the form it was given for that, or in words.

use serde_json::Value as Json;

use super::extract::answer_object;

/// The most choices of a question, and the longest one in characters; beyond, any answer is taken.
const CHOICES_MAX: usize = 20;
const CHOICE_CHARS_MAX: usize = 200;

/// What a model asks before it plans. Untrusted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelQuestion {
    /// The question.
    pub question: String,
    /// The only answers that help; any, where there are none.
    pub choices: Vec<String>,
}

/// The question of an answer `{"question": "…", "choices"?: ["…"]}` without a program.
pub(super) fn put(answer: &str) -> Option<ModelQuestion> {
    let object = answer_object(answer)?;
    let has_plan = object.get("plan").and_then(Json::as_str).is_some_and(|plan| !plan.trim().is_empty());
    let question = object.get("question").and_then(Json::as_str).map(str::trim)?;
    if has_plan || question.is_empty() {
        return None;
    }
    let given = object.get("choices").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let choices: Vec<String> =
        given.iter().filter_map(Json::as_str).map(|choice| choice.trim().to_owned()).collect();
    let is_usable = |choice: &String| !choice.is_empty() && choice.chars().count() <= CHOICE_CHARS_MAX;
    let usable =
        choices.len() == given.len() && choices.len() <= CHOICES_MAX && choices.iter().all(is_usable);
    Some(ModelQuestion { question: bounded(question), choices: if usable { choices } else { Vec::new() } })
}

/// The longest question that reaches the caller.
const QUESTION_CHARS_MAX: usize = 1_000;

/// What an answer without a program asks, if anything: its lines that end with a question, or hold one.
pub(super) fn question(answer: &str) -> Option<String> {
    if let Some(put) = put(answer) {
        return Some(put.question);
    }
    let said = spoken(answer);
    let asks: Vec<&str> = said.lines().map(str::trim).filter(|line| holds_question(line)).collect();
    let question = asks.join("\n");
    (!question.is_empty()).then(|| bounded(&question))
}

fn bounded(question: &str) -> String {
    match question.char_indices().nth(QUESTION_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &question[..end]),
        None => question.to_owned(),
    }
}

/// The words of an answer: of one in the form that was asked for, what stands beside the program.
fn spoken(answer: &str) -> String {
    let text = answer.rsplit("</think>").next().unwrap_or(answer).trim();
    let text = text.strip_prefix("```json").and_then(|text| text.strip_suffix("```")).unwrap_or(text);
    match serde_json::from_str::<Json>(text.trim()) {
        Ok(Json::Object(members)) => {
            let words =
                members.iter().filter(|(name, _)| *name != "plan").filter_map(|(_, value)| value.as_str());
            words.collect::<Vec<_>>().join("\n")
        }
        _ => text.to_owned(),
    }
}

/// Whether a sentence of the line ends with a question mark; one inside an address does not count.
fn holds_question(line: &str) -> bool {
    let is_end = |behind: &str| {
        let next =
            behind.trim_start_matches(['"', '\'', ')', '*', '_', '`', '\u{201d}', '\u{bb}']).chars().next();
        next.is_none_or(char::is_whitespace)
    };
    let marks = line.match_indices(['?', '\u{ff1f}']);
    marks.into_iter().any(|(at, mark)| mark != "?" || is_end(&line[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_in_its_form_is_one_with_its_choices() {
        let of = |answer: &str| put(answer).map(|put| (put.question, put.choices));
        let both = Some(("Which month".to_owned(), vec!["May".to_owned(), "June".to_owned()]));
        for answer in [
            r#"{"question": "Which month", "choices": ["May", "June"]}"#,
            r#"{"plan": null, "explanation": null, "question": " Which month ", "choices": ["May", "June"]}"#,
            "<think>which?</think>\n```json\n{\"question\": \"Which month\", \"choices\": [\"May\", \"June\"]}\n```",
        ] {
            assert_eq!(of(answer), both, "{answer}");
            assert_eq!(question(answer).as_deref(), Some("Which month"), "{answer}");
        }
        let none = Some(("Which?".to_owned(), Vec::new()));
        for answer in [
            r#"{"question": "Which?"}"#,
            r#"{"question": "Which?", "choices": null}"#,
            r#"{"question": "Which?", "choices": ["a", 1]}"#,
            r#"{"question": "Which?", "choices": ["a", ""]}"#,
        ] {
            assert_eq!(of(answer), none, "{answer}");
        }
        for answer in [
            r#"{"plan": "function run() end", "question": "Which?"}"#,
            r#"{"question": ""}"#,
            r#"{"question": 7}"#,
            "Which?",
        ] {
            assert_eq!(of(answer), None, "{answer}");
        }
    }

    #[test]
    fn what_asks_is_told_from_what_does_not() {
        for (answer, asks) in [
            ("Which table holds the customers?", Some("Which table holds the customers?")),
            (r#"{"plan": "", "explanation": "Whom shall I write to?"}"#, Some("Whom shall I write to?")),
            ("```json\n{\"question\": \"Which year?\"}\n```", Some("Which year?")),
            ("<think>what? who?</think>I cannot do that.", None),
            ("See https://example.com/?a=b for more.", None),
            (
                "I need more.\n- **Which database?**\n- (Which year?)\nThanks.",
                Some("- **Which database?**\n- (Which year?)"),
            ),
            ("どのテーブルですか？お願いします。", Some("どのテーブルですか？お願いします。")),
            ("Sorry, no.", None),
            ("", None),
        ] {
            assert_eq!(question(answer).as_deref(), asks, "{answer}");
        }
        assert!(question(&"why? ".repeat(5_000)).unwrap().chars().count() <= QUESTION_CHARS_MAX + 1);
    }
}
