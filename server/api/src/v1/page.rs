//! Lists in pages: `limit` and `cursor` in, `data` and `next_cursor` out. A page is asked for with one
//! entry more than it shows, which tells whether there is a next one.

use restante_core::limits::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX};
use restante_core::problem::Problem;
use restante_core::token::{Cursor, FiltersDigest};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Which page of a list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// How many entries: 1 to 250, by default 50.
    pub(crate) limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub(crate) cursor: Option<String>,
}

/// A page of a list.
#[derive(Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct Page<T> {
    /// The entries.
    pub(crate) data: Vec<T>,
    /// What to ask for the next page with; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

/// What a list is asked for, checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// Entries that are shown.
    limit: u32,
    /// The last entry of the page before.
    pub(crate) after: Option<Uuid>,
    filters: FiltersDigest,
}

impl PageQuery {
    /// Checks size and cursor.
    pub(crate) fn check(&self, filters: FiltersDigest) -> Result<Asked, Problem> {
        let limit = self.limit.unwrap_or(PAGE_SIZE_DEFAULT);
        if !(1..=PAGE_SIZE_MAX).contains(&limit) {
            return Err(Problem::field("limit", format!("A page has 1 to {PAGE_SIZE_MAX} entries.")));
        }
        let cursor = self.cursor.as_deref().map(|text| Cursor::decode(text, filters)).transpose()?;
        Ok(Asked { limit, after: cursor.map(|cursor| cursor.last), filters })
    }
}

impl Asked {
    /// How many entries to fetch: one more than is shown.
    pub(crate) const fn fetch(&self) -> u32 {
        self.limit + 1
    }

    /// The page of what was fetched. `id` is what the next page goes on after.
    pub(crate) fn page<T, U: From<T>>(self, mut fetched: Vec<T>, id: impl Fn(&T) -> Uuid) -> Page<U> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = fetched.len() > limit;
        fetched.truncate(limit);
        let last = fetched.last().filter(|_| more).map(id);
        Page {
            next_cursor: last.map(|last| Cursor { last }.encode(self.filters)),
            data: fetched.into_iter().map(U::from).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use restante_core::id::TenantId;

    use super::*;

    fn filters() -> FiltersDigest {
        FiltersDigest::new(TenantId(Uuid::nil()), "test", &[])
    }

    #[derive(Debug, PartialEq)]
    struct Shown(u128);

    impl From<u128> for Shown {
        fn from(n: u128) -> Self {
            Self(n)
        }
    }

    fn page(limit: u32, fetched: Vec<u128>) -> Page<Shown> {
        let query = PageQuery { limit: Some(limit), cursor: None };
        query.check(filters()).unwrap().page(fetched, |n| Uuid::from_u128(*n))
    }

    #[test]
    fn the_cursor_stands_at_the_last_entry_shown_while_there_are_more() {
        let first = page(2, vec![9, 8, 7]);
        assert_eq!(first.data, [Shown(9), Shown(8)]);
        let query = PageQuery { limit: None, cursor: first.next_cursor };
        assert_eq!(query.check(filters()).unwrap().after, Some(Uuid::from_u128(8)));
        assert_eq!(page(2, vec![9, 8]).next_cursor, None);
        assert_eq!(page(2, vec![]).next_cursor, None);
    }

    #[test]
    fn a_size_or_a_cursor_that_cannot_be_is_refused() {
        for limit in [0, 251, u32::MAX] {
            let query = PageQuery { limit: Some(limit), cursor: None };
            assert_eq!(query.check(filters()).unwrap_err().code.status(), 422);
        }
        let query = PageQuery { limit: None, cursor: Some("nonsense".to_owned()) };
        assert_eq!(query.check(filters()).unwrap_err().code.status(), 400);
    }
}
