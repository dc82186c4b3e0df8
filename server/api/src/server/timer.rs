//! A deadline that can be moved.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// A deadline, running or not. Its allocation is made once, when it is started first.
#[derive(Default)]
pub(super) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    runs: bool,
}

impl Timer {
    pub(super) fn start(&mut self, after: Duration) {
        let deadline = Instant::now() + after;
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(deadline),
            None => self.sleep = Some(Box::pin(tokio::time::sleep_until(deadline))),
        }
        self.runs = true;
    }

    pub(super) fn start_once(&mut self, after: Duration) {
        if !self.runs {
            self.start(after);
        }
    }

    pub(super) const fn stop(&mut self) {
        self.runs = false;
    }

    pub(super) const fn runs(&self) -> bool {
        self.runs
    }

    /// Ready when the time is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.sleep {
            Some(sleep) if self.runs => sleep.as_mut().poll(cx),
            _ => Poll::Pending,
        }
    }
}
