//! What the commands do, one file each.

pub(crate) mod admin_link;
pub(crate) mod backup;
pub(crate) mod bootstrap;
pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod copy;
pub(crate) mod demo;
pub(crate) mod healthcheck;
pub(crate) mod keys;
pub(crate) mod reconcile_run;
pub(crate) mod retention_run;
pub(crate) mod schedule;
pub(crate) mod serve;
pub(crate) mod sign;
pub(crate) mod verify;
