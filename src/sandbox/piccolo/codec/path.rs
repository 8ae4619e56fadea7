//! The path of a reader inside a value, for messages: `result.rows[3].name`.

use std::fmt;

enum Step {
    Name(String),
    Index(i64),
}

/// The path from a named value to a part of it.
pub(super) struct Path {
    root: String,
    steps: Vec<Step>,
}

impl Path {
    pub(super) fn new(root: &str) -> Self {
        Self { root: root.to_owned(), steps: Vec::new() }
    }

    pub(super) fn root(&self) -> &str {
        &self.root
    }

    pub(super) fn enter_member(&mut self, name: &str) {
        self.steps.push(Step::Name(name.to_owned()));
    }

    pub(super) fn enter_item(&mut self, index: i64) {
        self.steps.push(Step::Index(index));
    }

    pub(super) fn leave(&mut self) {
        self.steps.pop();
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for step in &self.steps {
            match step {
                Step::Name(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
