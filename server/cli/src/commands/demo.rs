//! PLACEHOLDER
use crate::arguments::DemoArguments;
use crate::failure::Failure;
pub(crate) async fn run(_: DemoArguments) -> Result<(), Failure> {
    Err(Failure::new("The demo comes with the next commit."))
}
