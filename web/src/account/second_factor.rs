//! The own second factor: setting it up with an app, recovery codes, taking it away.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::StatusCode;
use restante_app::people::SecondFactor;
use restante_core::token::RecoveryCode;
use restante_core::totp::TotpSecret;
use restante_store::StoreError;
use serde::Deserialize;

use crate::fault::Fault;
use crate::page::{Page, answer};
use crate::parts::form::{Faults, first_step};
use crate::parts::form_body::Form;
use crate::parts::qr::Qr;
use crate::parts::shell::{Area, Shell};
use crate::session::Person;
use crate::state::Web;

/// How apps name the account beside its address.
const ISSUER: &str = "Restante";

#[derive(Template)]
#[template(path = "account/second_factor.html")]
struct FactorPage {
    shell: Shell,
    stage: Stage,
    faults: Faults,
    status: StatusCode,
}

/// What there is to do.
enum Stage {
    Off,
    Pending { secret: String, picture: Option<Qr> },
    On { codes_left: u64 },
}

/// The recovery codes, this once.
#[derive(Template)]
#[template(path = "account/recovery_codes.html")]
struct CodesPage {
    shell: Shell,
    email: String,
    codes: Vec<String>,
}

impl Page for FactorPage {
    fn status(&self) -> StatusCode {
        self.status
    }
}

impl Page for CodesPage {}

pub(crate) async fn show(State(web): State<Web>, person: Person) -> Result<Response, Fault> {
    page(&web, &person, Faults::default(), StatusCode::OK).await
}

/// Draws a new secret.
pub(crate) async fn begin(State(web): State<Web>, person: Person) -> Result<Redirect, Fault> {
    web.app.begin_second_factor(person.who.user).await?;
    Ok(Redirect::to("/account/second-factor"))
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    code: String,
}

/// Takes the secret into use.
pub(crate) async fn enable(
    State(web): State<Web>,
    person: Person,
    Form(typed): Form<Typed>,
) -> Result<Response, Fault> {
    match web.app.enable_second_factor(&person.actor(), &typed.code).await {
        Ok(codes) => Ok(codes_page(&person, &codes)),
        Err(StoreError::Problem(problem)) => {
            let status =
                StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            page(&web, &person, Faults::of(&problem, first_step), status).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn new_codes(State(web): State<Web>, person: Person) -> Result<Response, Fault> {
    let codes = web.app.new_recovery_codes(&person.actor()).await?;
    Ok(codes_page(&person, &codes))
}

pub(crate) async fn remove(State(web): State<Web>, person: Person) -> Result<Response, Fault> {
    web.app.disable_second_factor(&person.actor(), person.session).await?;
    Ok(Redirect::to("/account?said=factor-off").into_response())
}

async fn page(web: &Web, person: &Person, faults: Faults, status: StatusCode) -> Result<Response, Fault> {
    let stage = match web.app.second_factor(person.who.user).await? {
        SecondFactor::Off => Stage::Off,
        SecondFactor::Pending(secret) => pending(&secret, &person.who.email),
        SecondFactor::On { codes_left } => Stage::On { codes_left },
    };
    Ok(answer(&FactorPage { shell: person.shell(Area::Account), stage, faults, status }))
}

fn pending(secret: &TotpSecret, email: &str) -> Stage {
    Stage::Pending { secret: secret.text(), picture: Qr::of(&secret.uri(ISSUER, email)) }
}

fn codes_page(person: &Person, codes: &[RecoveryCode]) -> Response {
    answer(&CodesPage {
        shell: person.shell(Area::Account),
        email: person.who.email.clone(),
        codes: codes.iter().map(RecoveryCode::expose).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::samples;

    fn sample(stage: Stage) -> String {
        let shell = Shell::hostile(Area::Account);
        FactorPage { shell, stage, faults: Faults::default(), status: StatusCode::OK }.render().unwrap()
    }

    #[test]
    fn each_state_has_its_own_way_on() {
        let off = sample(Stage::Off);
        assert!(off.contains("action=\"/account/second-factor\"") && !off.contains("/remove"));
        let waiting = sample(pending(&TotpSecret::new([7; 20]), samples::HOSTILE));
        assert!(waiting.contains("<svg class=\"qr\"") && waiting.contains("/enable"));
        assert!(waiting.contains(&TotpSecret::new([7; 20]).text()));
        let on = sample(Stage::On { codes_left: 3 });
        assert!(
            on.contains("/remove") && on.contains("/recovery-codes") && !on.contains("<svg class=\"qr\"")
        );
        for text in [off, waiting, on] {
            samples::check(&text);
        }
    }

    #[test]
    fn a_secret_for_an_address_that_no_picture_holds_is_there_as_text() {
        let stage = pending(&TotpSecret::new([7; 20]), &"x".repeat(5_000));
        assert!(matches!(&stage, Stage::Pending { picture: None, .. }));
        assert!(sample(stage).contains(&TotpSecret::new([7; 20]).text()));
    }

    #[test]
    fn the_codes_are_all_there() {
        let codes: Vec<String> = (0..10_u8).map(|n| RecoveryCode::new([n; 16]).expose()).collect();
        let page = CodesPage {
            shell: Shell::sample(Area::Account),
            email: samples::HOSTILE.to_owned(),
            codes: codes.clone(),
        };
        let text = page.render().unwrap();
        samples::check(&text);
        assert!(codes.iter().all(|code| text.contains(code)));
    }
}
