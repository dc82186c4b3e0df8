//! The front page: what runs here, for whoever opens the address.

use askama::Template;
use axum::response::Response;

use crate::page::{Page, answer};

#[derive(Template)]
#[template(path = "pages/front.html")]
struct Front;

impl Page for Front {}

pub(crate) async fn front() -> Response {
    answer(&Front)
}
