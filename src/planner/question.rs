//! Detects a model that asks a question instead of answering with a program.

use serde_json::Value as Json;

/// The longest question that reaches the caller.
const QUESTION_CHARS_MAX: usize = 1_000;

/// What an answer without a program asks, if anything: its lines that end with a question, or hold one.
pub(super) fn question(answer: &str) -> Option<String> {
    let said = spoken(answer);
    let asks: Vec<&str> = said.lines().map(str::trim).filter(|line| holds_question(line)).collect();
    let question = asks.join("\n");
    match question.char_indices().nth(QUESTION_CHARS_MAX) {
        _ if question.is_empty() => None,
        Some((end, _)) => Some(format!("{}…", &question[..end])),
        None => Some(question),
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
