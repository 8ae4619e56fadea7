//! The built-in tools, one folder each, named as its manifest.

pub mod ask_person;
pub mod call_llm;
pub mod fetch_url;
pub mod query_db;
pub mod send_email;
pub mod sleep;
pub mod transform_data;
pub mod wait_until;
