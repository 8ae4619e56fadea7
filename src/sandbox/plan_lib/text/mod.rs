//! `text`: functions on text. Those on pieces and blanks take any bytes; those that count or change
//! characters need UTF-8.

mod case;
mod html;
mod layout;
mod pieces;

use super::call::{Call, Native};
use super::value::{Result, Value};

pub(super) static NATIVES: &[Native] = &[
    Native { name: "trim", run: pieces::trim },
    Native { name: "ltrim", run: pieces::ltrim },
    Native { name: "rtrim", run: pieces::rtrim },
    Native { name: "split", run: pieces::split },
    Native { name: "lines", run: pieces::lines },
    Native { name: "words", run: pieces::words },
    Native { name: "chars", run: pieces::chars },
    Native { name: "join", run: pieces::join },
    Native { name: "starts_with", run: pieces::starts_with },
    Native { name: "ends_with", run: pieces::ends_with },
    Native { name: "contains", run: pieces::contains },
    Native { name: "count", run: pieces::count },
    Native { name: "replace", run: pieces::replace },
    Native { name: "is_blank", run: pieces::is_blank },
    Native { name: "len", run: case::len },
    Native { name: "sub", run: case::sub },
    Native { name: "upper", run: case::upper },
    Native { name: "lower", run: case::lower },
    Native { name: "title", run: case::title },
    Native { name: "slug", run: case::slug },
    Native { name: "truncate", run: layout::truncate },
    Native { name: "pad_left", run: layout::pad_left },
    Native { name: "pad_right", run: layout::pad_right },
    Native { name: "wrap", run: layout::wrap },
    Native { name: "indent", run: layout::indent },
    Native { name: "number", run: layout::number },
    Native { name: "escape_html", run: html::escape },
    Native { name: "unescape_html", run: html::unescape },
];

/// Charges for and gives a built result.
fn give<'v>(call: &Call<'v>, text: impl AsRef<[u8]>) -> Result<Value<'v>> {
    call.reserve(Some(text.as_ref().len()))?;
    call.give(text)
}
