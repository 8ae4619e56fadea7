//! The computation graph of a plan, as data and as drawings.
//!
//! Nodes are call sites, places of the context and the result; edges are data and control. Names
//! and texts come from plans and models, so every form escapes them.

mod dot;
mod graph;
mod layout;
mod mermaid;
mod svg;

pub use graph::{Edge, EdgeKind, Graph, GraphNode, NodeKind};

use std::str::FromStr;

use luaplan_base::{Error, ErrorCode};

/// A form of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// The data, for programs.
    Json,
    /// Mermaid, for Markdown pages.
    Mermaid,
    /// DOT, for Graphviz.
    Dot,
    /// A picture.
    Svg,
}

impl GraphFormat {
    /// Every form.
    pub const ALL: [Self; 4] = [Self::Json, Self::Mermaid, Self::Dot, Self::Svg];

    /// The name flags and queries use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Svg => "svg",
        }
    }

    /// Its media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Mermaid => "text/vnd.mermaid",
            Self::Dot => "text/vnd.graphviz",
            Self::Svg => "image/svg+xml",
        }
    }
}

impl FromStr for GraphFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or_else(|| {
            Error::new(ErrorCode::BadRequest, format!("there is no graph form `{text}`"))
                .with_help("the forms are json, mermaid, dot and svg")
        })
    }
}

impl Graph {
    /// The graph in a form, as text.
    #[must_use]
    pub fn draw(&self, format: GraphFormat) -> String {
        match format {
            GraphFormat::Json => serde_json::to_string_pretty(self).unwrap_or_default() + "\n",
            GraphFormat::Mermaid => mermaid::draw(self),
            GraphFormat::Dot => dot::draw(self),
            GraphFormat::Svg => svg::draw(self),
        }
    }
}

/// A text on one line without control and invisible characters, cut to a width.
fn plain(text: &str, width: usize) -> String {
    let mut shown = String::new();
    let mut used = 0;
    for character in text.chars() {
        let harmless = if character.is_control() || is_invisible(character) { ' ' } else { character };
        used += if harmless.is_ascii() { 1 } else { 2 };
        if used > width {
            shown.push('…');
            break;
        }
        shown.push(harmless);
    }
    shown
}

/// Characters that turn the direction of text or have no width.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests;
