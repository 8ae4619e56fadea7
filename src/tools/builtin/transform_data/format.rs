//! The forms a result can have.

use minijinja::AutoEscape;

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Html,
    Markdown,
    Text,
    Json,
    Csv,
}

/// [`AutoEscape::Custom`] for Markdown, handled by [`super::escape`].
pub(super) const ESCAPE_MARKDOWN: &str = "markdown";
/// [`AutoEscape::Custom`] for CSV, handled by [`super::escape`].
pub(super) const ESCAPE_CSV: &str = "csv";

impl Format {
    /// Every format, in the order a named template's form is looked for.
    pub(super) const ALL: [Self; 5] = [Self::Html, Self::Markdown, Self::Text, Self::Json, Self::Csv];

    /// The name in calls.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }

    /// The part before `.j2` in a template's file name.
    pub(super) const fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Text => "txt",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }

    /// The format of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// How values are escaped in templates of this format.
    pub(super) fn auto_escape(self) -> AutoEscape {
        match self {
            Self::Html => AutoEscape::Html,
            Self::Markdown => AutoEscape::Custom(ESCAPE_MARKDOWN.into()),
            Self::Text => AutoEscape::None,
            Self::Json => AutoEscape::Json,
            Self::Csv => AutoEscape::Custom(ESCAPE_CSV.into()),
        }
    }
}
