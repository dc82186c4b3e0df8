//! The settings of an instance, as the operator gave them and as they are in force.

mod known;
mod read;
mod show;
mod sources;

pub(crate) use read::{Database, Settings, reachable};
pub(crate) use show::{as_json, as_toml};
pub(crate) use sources::{AllGiven, Given, Sources, gather};
