//! PLACEHOLDER so that others can compile: whoever owns this file replaces it whole (take yours in a merge).
#[derive(Debug, Clone, Default, serde::Deserialize)]
pub struct Filter {
    pub endpoints: Vec<crate::id::EndpointId>,
}
impl Filter {
    pub fn matches(&self, e: crate::id::EndpointId, _p: &str, _t: Option<&str>) -> bool {
        self.endpoints.is_empty() || self.endpoints.contains(&e)
    }
}
