//! `restante healthcheck`: asks the server of the same settings whether it can commit. Containers
//! call it, where there is no shell and no curl.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::arguments::SettingFlags;
use crate::client;
use crate::failure::Failure;
use crate::say;
use crate::settings::reachable;

pub(crate) async fn run(asked: SettingFlags) -> Result<(), Failure> {
    let (settings, _) = asked.settings()?;
    let address = reachable(settings.listen);
    let request = Request::get("/readyz")
        .body(Full::new(Bytes::new()))
        .map_err(|error| Failure::new(format!("The server can't be asked: {error}.")))?;
    let answer = client::send(address, request).await?;
    if answer.status.is_success() {
        say::result("ready");
        return Ok(());
    }
    Err(Failure::new(format!("The server at {address} is not ready: it answers {}.", answer.status.as_u16())))
}
