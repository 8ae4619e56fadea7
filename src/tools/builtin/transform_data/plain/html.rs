//! HTML without a template.

use luaplan_base::Value;

use super::super::escape::html;
use super::super::input::text_of;
use super::{Shape, cell, shape};

pub(super) fn write(input: &Value) -> String {
    match shape(input) {
        Shape::Table(columns, rows) => {
            let head: String = columns.iter().map(|column| format!("<th>{}</th>", html(column))).collect();
            let body: String = rows
                .iter()
                .map(|row| {
                    let cells: String = columns
                        .iter()
                        .map(|column| format!("<td>{}</td>", html(&cell(row, column))))
                        .collect();
                    format!("<tr>{cells}</tr>\n")
                })
                .collect();
            format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n")
        }
        Shape::List(items) => {
            let items: String =
                items.iter().map(|item| format!("<li>{}</li>\n", html(&text_of(item)))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Shape::Pairs(pairs) => {
            let pairs: String = pairs
                .iter()
                .map(|(name, member)| {
                    format!("<tr><th>{}</th><td>{}</td></tr>\n", html(name), html(&text_of(member)))
                })
                .collect();
            format!("<table>\n<tbody>\n{pairs}</tbody>\n</table>\n")
        }
        Shape::Scalar(scalar) => format!("<p>{}</p>\n", html(&text_of(scalar))),
    }
}
