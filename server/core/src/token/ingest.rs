//! The token in an endpoint's URL, `/in/{token}`. Besides its signature, that path is the whole
//! credential that a provider knows.

use super::spelled::spelled;

spelled! {
    /// A token of an endpoint: shown to the tenant, sealed for display, looked up by its hash.
    IngestToken
}
