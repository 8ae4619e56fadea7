//! Values into the VM and out of it.
//!
//! | value | in the plan | on the way back |
//! |---|---|---|
//! | null member of an object | absent (`nil`), remembered by the table's shape | null, unless a value was assigned |
//! | null in a list | the value `null` | null |
//! | null elsewhere | `nil` | null |
//! | list | a table marked as a list | a list, also when emptied |
//! | object | a table that knows its keys and their order | known keys in their order, new keys after, sorted |
//! | text, bytes | a string | text where it is valid UTF-8, bytes where not |
//! | integer, float | integer, float | the same |
//! | failure | a strict error value | a failure looked at becomes `{error, code, retryable, …}` |
//!
//! A table made by the plan is a list when its keys are exactly 1..n, an object when all its keys are
//! strings. An **empty** table made by the plan is a list, because a plan that collects results in a
//! loop means a list; `json.object()` and `json.array()` decide it explicitly.
//!
//! Tables are read by raw access: no metamethod of the plan runs here.

mod read;
mod room;
mod shape;
mod write;

pub(super) use shape::{ARRAY_PLACE, Codec, FailureParts, Shape, ShapePlace};
