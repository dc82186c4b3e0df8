//! People on both engines, with a clock that is moved.

mod passwords;
mod second_factor;
mod sessions;
mod set_up;
mod sign_in;

use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_core::token::DeviceToken;
use restante_store::StoreError;

use super::{PasswordAccepted, SignIn};
use crate::testing::TestApp;

/// The password of everybody whom `TestApp::tenant` makes.
const PASSWORD: &str = "correct horse battery staple";

fn problem<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Problem {
    match result {
        Err(StoreError::Problem(problem)) => problem,
        other => panic!("no refusal: {other:?}"),
    }
}

fn asked(email: &str, password: &str) -> SignIn {
    SignIn {
        email: email.to_owned(),
        password: Secret::new(password.to_owned()),
        address: [192, 0, 2, 1].into(),
        device: None,
    }
}

async fn sign_in(a: &TestApp, email: &str, password: &str) -> Result<PasswordAccepted, Code> {
    a.app.check_password(asked(email, password)).await.map_err(|error| problem::<()>(Err(error)).code)
}

async fn sign_in_from(a: &TestApp, mark: &DeviceToken, email: &str, password: &str) -> Result<(), Code> {
    let asked = SignIn { device: Some(mark.clone()), ..asked(email, password) };
    match a.app.check_password(asked).await {
        Ok(_) => Ok(()),
        Err(error) => Err(problem::<()>(Err(error)).code),
    }
}
