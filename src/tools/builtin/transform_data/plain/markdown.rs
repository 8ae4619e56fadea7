//! Markdown without a template.

use luaplan_base::Value;

use super::super::escape::markdown;
use super::super::input::text_of;
use super::{Shape, cell, on_one_line, shape};

pub(super) fn write(input: &Value) -> String {
    let line = |text: &str| markdown(&on_one_line(text)).into_owned();
    match shape(input) {
        Shape::Table(columns, rows) => {
            let row_of = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            let mut text = row_of(columns.iter().map(|column| line(column)).collect());
            text.push_str(&row_of(vec!["---".to_owned(); columns.len()]));
            for row in rows {
                text.push_str(&row_of(columns.iter().map(|column| line(&cell(row, column))).collect()));
            }
            text
        }
        Shape::List(items) => items.iter().map(|item| format!("- {}\n", line(&text_of(item)))).collect(),
        Shape::Pairs(pairs) => pairs
            .iter()
            .map(|(name, member)| format!("- **{}**: {}\n", line(name), line(&text_of(member))))
            .collect(),
        Shape::Scalar(scalar) => format!("{}\n", markdown(&text_of(scalar))),
    }
}
