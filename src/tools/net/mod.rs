//! The guard of every outgoing request: the hosts a tool may name, the addresses it may reach, and the client.

mod address;
pub(crate) mod allow_list;
pub(crate) mod client;
pub(crate) mod failure;
pub(crate) mod guard;
pub(crate) mod redirect;
