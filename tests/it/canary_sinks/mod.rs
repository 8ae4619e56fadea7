//! Each form of a secret, in each sink: a table of which every cell is reached.

mod forms;
mod local;
mod scene;
mod service;
