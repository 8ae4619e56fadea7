//! Cases as files, the stubs and the documentation against the functions there are, and the two
//! formats against other implementations.

mod cases;
mod formats;
mod stubs;
mod vm;
