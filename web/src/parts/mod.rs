//! What pages are put together from: icons, badges, times, amounts, charts, links, faults of forms.
//! Pure functions of what they are given; templates print them.

#![expect(dead_code, reason = "the pages that use all of it follow")]

pub(crate) mod alien;
pub(crate) mod amount;
pub(crate) mod audit;
pub(crate) mod badge;
pub(crate) mod chart;
pub(crate) mod clocks;
pub(crate) mod form;
pub(crate) mod form_body;
pub(crate) mod icon;
pub(crate) mod limits;
pub(crate) mod link;
pub(crate) mod moment;
pub(crate) mod new_link;
pub(crate) mod next;
pub(crate) mod payload;
pub(crate) mod prose;
pub(crate) mod qr;
pub(crate) mod reasons;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod shell;
