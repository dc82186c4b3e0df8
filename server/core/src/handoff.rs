//! PLACEHOLDER so that others can compile: whoever owns this file replaces it whole (take yours in a merge).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Pending,
    Leased,
    Processed,
    Failed,
    Uncertain,
    Cancelled,
}
impl State {
    pub const fn code(self) -> u8 {
        self as u8
    }
    pub fn from_code(code: i64) -> Option<Self> {
        [Self::Pending, Self::Leased, Self::Processed, Self::Failed, Self::Uncertain, Self::Cancelled]
            .get(usize::try_from(code).ok()?)
            .copied()
    }
    pub const fn as_str(self) -> &'static str {
        "pending"
    }
}
