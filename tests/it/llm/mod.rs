//! Models: the real wire formats of every provider over loopback HTTP, and one real small model.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod logs;
mod real_model;
mod retries;
pub(crate) mod server;
mod wire;
