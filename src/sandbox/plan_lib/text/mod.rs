//! `text`: functions on text. Those on pieces and blanks take any bytes; those that count or change
//! characters need UTF-8.

mod case;
mod html;
mod layout;
mod pieces;

use super::call::{Call, LibFunction};
use super::value::{Result, Value};

pub(super) static NATIVES: &[LibFunction] = &[
    LibFunction { name: "trim", run: pieces::trim },
    LibFunction { name: "ltrim", run: pieces::ltrim },
    LibFunction { name: "rtrim", run: pieces::rtrim },
    LibFunction { name: "split", run: pieces::split },
    LibFunction { name: "lines", run: pieces::lines },
    LibFunction { name: "words", run: pieces::words },
    LibFunction { name: "chars", run: pieces::chars },
    LibFunction { name: "join", run: pieces::join },
    LibFunction { name: "starts_with", run: pieces::starts_with },
    LibFunction { name: "ends_with", run: pieces::ends_with },
    LibFunction { name: "contains", run: pieces::contains },
    LibFunction { name: "count", run: pieces::count },
    LibFunction { name: "replace", run: pieces::replace },
    LibFunction { name: "is_blank", run: pieces::is_blank },
    LibFunction { name: "len", run: case::len },
    LibFunction { name: "sub", run: case::sub },
    LibFunction { name: "upper", run: case::upper },
    LibFunction { name: "lower", run: case::lower },
    LibFunction { name: "title", run: case::title },
    LibFunction { name: "slug", run: case::slug },
    LibFunction { name: "truncate", run: layout::truncate },
    LibFunction { name: "pad_left", run: layout::pad_left },
    LibFunction { name: "pad_right", run: layout::pad_right },
    LibFunction { name: "wrap", run: layout::wrap },
    LibFunction { name: "indent", run: layout::indent },
    LibFunction { name: "number", run: layout::number },
    LibFunction { name: "escape_html", run: html::escape },
    LibFunction { name: "unescape_html", run: html::unescape },
];

/// Charges for and gives a built result.
fn give<'v>(call: &Call<'v>, text: impl AsRef<[u8]>) -> Result<Value<'v>> {
    call.reserve(Some(text.as_ref().len()))?;
    call.give(text)
}
