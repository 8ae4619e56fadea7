//! Integration tests: luaplan against real databases, servers and processes.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should stop and say where; a skipped one says why"
)]

#[cfg(unix)]
mod agents;
mod app_parts;
mod approvals;
mod bus;
mod call_llm;
mod call_llm_wire;
#[cfg(unix)]
mod canary_sinks;
mod check;
mod cli;
mod config;
mod confirmation;
mod databases_described;
mod determinism;
pub(crate) mod differential;
mod docs;
mod docs_cli;
mod docs_contents;
mod docs_embed;
mod docs_transcripts;
mod doctor;
mod engines;
mod fetch_url;
mod fetch_url_hostile;
mod fetch_url_parts;
mod fetch_url_redirects;
mod fetch_url_tls;
mod flow;
#[cfg(target_os = "linux")]
mod hostile;
mod http_analysis;
mod http_binary;
mod http_described;
mod http_docs;
mod http_errors;
mod http_events;
mod http_floods;
mod http_hostile;
mod http_idempotency;
mod http_results;
mod http_routes;
mod http_shapes;
mod http_shares;
mod http_stop;
mod http_support;
mod http_tenants;
mod http_tenants_events;
mod journal;
mod limits;
mod llm;
mod lua_suite;
mod main_job;
mod manifest_tools;
mod mcp;
#[cfg(unix)]
mod mcp_logins;
mod mcp_servers;
mod model_bodies;
#[cfg(unix)]
mod modes;
#[cfg(unix)]
mod nodes;
mod not_set_up;
mod parameters;
mod parity;
mod peers;
mod plan_tests;
mod plan_tests_coverage;
mod plan_tests_docs;
mod plan_tests_examples;
mod plan_tests_faults;
mod plan_tests_from_run;
mod plan_tests_reports;
mod plan_tests_watch;
mod planner;
mod planning_bench;
mod policy_spellings;
mod postgres_cluster;
mod postgres_support;
mod query_db;
#[cfg(unix)]
mod questions;
mod rates;
mod send_email;
mod send_email_aiosmtpd;
mod send_email_faults;
mod send_email_hostile;
mod send_email_injections;
mod send_email_tls;
mod steering;
mod steps;
mod support;
#[cfg(unix)]
mod survival;
mod told_to_clients;
mod transform_data;
mod transform_data_families;
mod transform_data_filters;
mod transform_data_hostile;
mod transform_data_parts;
mod workers;
mod world;
