//! The built program as the world meets it: started on a folder of its own, spoken to over HTTP, by
//! signals and on the command line. A module a topic; each test runs once on SQLite and, where
//! `RESTANTE_TEST_POSTGRES_URL` names a server, once on a PostgreSQL database of its own.
//!
//! Some faults can't be had from outside. Tests of them need the feature `failpoints` and are ignored
//! without it.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test ends at what it did not expect, and says what the server said"
)]

// As much of PostgreSQL's protocol as makes a database.
#[path = "../support/postgres.rs"]
mod postgres;

#[macro_use]
mod support;

mod at_rest;
mod bad_framing;
mod bad_requests;
mod bad_signatures;
mod broken;
mod clocks;
mod commands;
mod copies;
mod disk_errors;
mod disk_full;
mod isolation;
mod kills;
mod master_keys;
mod migrations;
mod nodes;
mod odd_deliveries;
mod people;
mod postgres_crash;
mod postgres_outage;
mod power_loss;
mod reconciliation;
mod retention;
mod routes;
mod schedule;
mod standstill;
mod starting;
mod stops;
mod stories;

mod upkeep;
mod workers;
