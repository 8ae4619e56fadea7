//! Cases as files: `tests/cases/sandbox/*.lua`.
//!
//! Leading comments say what is expected: `-- result: JSON`, or `-- error: CODE TEXT` (the message
//! contains TEXT), and `-- context: JSON`, `-- printed: TEXT` where they matter. The tools are the
//! ones of [`super::harness::answer`].

use luaplan_base::Value;

use super::harness::{limits, run_with};

#[test]
fn every_case_ends_as_its_comment_says() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/sandbox");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let wrong: Vec<String> = files.iter().filter_map(|file| mismatch(file)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn mismatch(file: &std::path::Path) -> Option<String> {
    let source = std::fs::read_to_string(file).unwrap();
    let said = |key: &str| {
        let prefix = format!("-- {key}: ");
        source.lines().find_map(|line| line.strip_prefix(&prefix))
    };
    let context = Value::from_json_text(said("context").unwrap_or("{}")).unwrap();
    let stopped = run_with(&source, &context, limits());
    let name = file.file_name().unwrap().to_string_lossy();
    if let Some(printed) = said("printed")
        && stopped.printed.trim_end().replace('\n', "|") != printed
    {
        return Some(format!("{name}: printed {:?}", stopped.printed));
    }
    match (stopped.result, said("result"), said("error")) {
        (Ok(value), Some(expected), None) => {
            let got = value.to_json().to_string();
            let expected = Value::from_json_text(expected).unwrap().to_json().to_string();
            (got != expected).then(|| format!("{name}: got {got}, expected {expected}"))
        }
        (Err(error), None, Some(expected)) => {
            let (code, text) = expected.split_once(' ').unwrap_or((expected, ""));
            let fits = error.code().as_str() == code && error.message().contains(text);
            (!fits).then(|| format!("{name}: got {error}, expected {expected}"))
        }
        (got, ..) => Some(format!("{name}: got {got:?}")),
    }
}
