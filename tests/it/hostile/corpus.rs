//! The corpus as files: `tests/cases/hostile/GROUP/NAME.lua`.
//!
//! The comments at the head say what a plan attacks and what is to come of it, one accepted end a
//! line: `-- expect: limit_instructions|limit_memory`, `-- expect: plan_error TEXT` (the message
//! contains TEXT) or `-- expect: result: JSON`. Where piccolo rightly ends otherwise, its ends are
//! `-- expect on piccolo: ...`, and those alone. `-- limits: memory=2MiB depth=1000` changes limits;
//! `-- generates: source` says that the plan's result is the source to run.

use std::path::{Path, PathBuf};

use luaplan::base::Value;

use super::job::{End, Job, Place};

/// A plan of the corpus with the ends it may come to.
pub(crate) struct Case {
    /// `GROUP/NAME`.
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) limits: Vec<(String, String)>,
    pub(crate) generates: bool,
    expected: Vec<Expected>,
    /// The ends on piccolo, where they differ.
    expected_on_piccolo: Vec<Expected>,
}

/// One end that is accepted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expected {
    Result(String),
    Error(String, String),
}

impl Expected {
    pub(crate) fn fits(&self, end: &End) -> bool {
        match (self, end) {
            (Self::Result(expected), End::Result(got)) => expected == got,
            (Self::Error(code, text), End::Error(got, message)) => code == got && message.contains(text),
            _ => false,
        }
    }
}

impl Case {
    /// The ends that are accepted at a place.
    pub(crate) fn expected(&self, place: Place) -> &[Expected] {
        let is_piccolo = place == Place::PiccoloInWorker && !self.expected_on_piccolo.is_empty();
        if is_piccolo { &self.expected_on_piccolo } else { &self.expected }
    }

    pub(crate) fn job(&self, place: Place, extra: &[(&str, &str)]) -> Job {
        let mut limits = self.limits.clone();
        limits.extend(extra.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Job {
            name: self.name.clone(),
            source: self.source.clone(),
            limits,
            place,
            generates: self.generates,
            disturbed_by: None,
        }
    }
}

/// The whole corpus, in order.
pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/hostile");
    let mut files = Vec::new();
    for group in std::fs::read_dir(folder).unwrap() {
        for file in std::fs::read_dir(group.unwrap().path()).unwrap() {
            files.push(file.unwrap().path());
        }
    }
    files.sort();
    files.iter().map(read).collect()
}

fn read(file: &PathBuf) -> Case {
    let source = std::fs::read_to_string(file).unwrap();
    let group = file.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
    let name = format!("{group}/{}", file.file_stem().unwrap().to_string_lossy());
    let mut case = Case {
        name,
        source,
        limits: Vec::new(),
        generates: false,
        expected: Vec::new(),
        expected_on_piccolo: Vec::new(),
    };
    let mut says_what = false;
    for line in case.source.lines().map_while(|line| line.strip_prefix("-- ")) {
        match line.split_once(": ") {
            Some(("expect", rest)) => case.expected.extend(expected(rest)),
            Some(("expect on piccolo", rest)) => case.expected_on_piccolo.extend(expected(rest)),
            Some(("limits", rest)) => {
                let pairs = rest.split_whitespace().map(|pair| pair.split_once('=').unwrap());
                case.limits.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            Some(("generates", _)) => case.generates = true,
            _ => says_what = true,
        }
    }
    assert!(says_what, "{} does not say what it attacks", case.name);
    assert!(!case.expected.is_empty(), "{} does not say what is expected", case.name);
    case
}

fn expected(text: &str) -> Vec<Expected> {
    if let Some(json) = text.strip_prefix("result: ") {
        let json = Value::from_json_text(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        return vec![Expected::Result(json.to_json().to_string())];
    }
    match text.split_once(' ') {
        Some((code, text)) => vec![Expected::Error(code.to_owned(), text.to_owned())],
        None => text.split('|').map(|code| Expected::Error(code.to_owned(), String::new())).collect(),
    }
}
