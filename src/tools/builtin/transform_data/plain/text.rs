//! Text without a template: aligned columns, or a line each.

use luaplan_base::Value;

use super::super::input::text_of;
use super::{Shape, cell, on_one_line, shape};

/// Wider cells do not widen their column, so that one long cell does not push all others away.
const COLUMN_CHARACTERS_MAX: usize = 40;

pub(super) fn write(input: &Value) -> String {
    match shape(input) {
        Shape::Table(columns, rows) => {
            let mut lines = vec![columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>()];
            for row in rows {
                let cells = columns.iter().map(|column| on_one_line(&cell(row, column)).into_owned());
                lines.push(cells.collect());
            }
            align(&lines)
        }
        Shape::List(items) => items.iter().map(|item| format!("{}\n", on_one_line(&text_of(item)))).collect(),
        Shape::Pairs(pairs) => pairs
            .iter()
            .map(|(name, member)| format!("{name}: {}\n", on_one_line(&text_of(member))))
            .collect(),
        Shape::Scalar(scalar) => text_of(scalar),
    }
}

fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let widest = lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or_default();
            widest.min(COLUMN_CHARACTERS_MAX)
        })
        .collect();
    let mut text = String::new();
    for cells in lines {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}
