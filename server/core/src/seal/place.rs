//! Where a sealed field stands: its table, column and row, and for some the event. All of it is
//! associated data, so that a field copied to another place doesn't open there. The numbers are
//! part of what is stored: they never change and are never used again.

use uuid::Uuid;

use super::KeyClass;
use super::event::EventBinding;
use crate::id::{EndpointId, PayloadId, ReceiptId, RefusalId, SecretId, UserId};

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident = ($table:literal, $column:literal), $label:literal, $class:ident;)*) => {
        /// The sealed columns.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Column {
            $($(#[$doc])* $name,)*
        }

        impl Column {
            /// Every sealed column, in the order of the table in `docs/decisions/0003-sealing.md`.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stored numbers of table and column.
            pub const fn numbers(self) -> (u8, u8) {
                match self { $(Self::$name => ($table, $column),)* }
            }

            /// The column as `table.column`.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$name => $label,)* }
            }

            /// The class of key that seals it.
            pub const fn class(self) -> KeyClass {
                match self { $(Self::$name => KeyClass::$class,)* }
            }
        }
    };
}

columns! {
    /// The headers as received, in order.
    PayloadHeaders = (1, 1), "payloads.headers_sealed", Payload;
    /// The body as received.
    PayloadBody = (1, 2), "payloads.body_sealed", Payload;
    /// Elements of a batch that are no plain slice of the body, one after another.
    PayloadDecoded = (1, 3), "payloads.decoded_sealed", Payload;
    /// The plain SHA-256 of the event's bytes.
    ReceiptSha256 = (2, 1), "receipts.sha256_sealed", Payload;
    /// A refused request that is kept as a sample.
    RefusalRequest = (3, 1), "refusals.request_sealed", Payload;
    /// The token in an endpoint's URL, for display; the look-up uses its hash.
    EndpointToken = (4, 1), "endpoints.token_sealed", Secrets;
    /// The options that the catalogue marks secret.
    EndpointOptions = (4, 2), "endpoints.options_sealed", Secrets;
    /// A secret by which the endpoint's deliveries are verified.
    EndpointSecret = (5, 1), "endpoint_secrets.secret_sealed", Secrets;
    /// The answer to a request with an `Idempotency-Key`, which may hold a key that is shown once.
    IdempotencyAnswer = (6, 1), "idempotency_keys.answer_sealed", Secrets;
    /// The secret of a person's second factor, under a key of the person.
    SecondFactorSecret = (7, 1), "second_factors.secret_sealed", Secrets;
    /// The credentials by which a provider is asked what it sent.
    ReconciliationCredentials = (8, 1), "reconciliations.credentials_sealed", Secrets;
}

/// One sealed field: its column, row and, where the column asks for it, its event. The tenant is
/// not named here, because the key that seals already belongs to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    column: Column,
    row: Uuid,
    event: EventBinding,
}

impl Place {
    /// The headers of a payload. It serves every receipt of its request, so no event is bound.
    pub const fn payload_headers(row: PayloadId) -> Self {
        Self::row_of(Column::PayloadHeaders, row.0)
    }

    /// The body of a payload.
    pub const fn payload_body(row: PayloadId) -> Self {
        Self::row_of(Column::PayloadBody, row.0)
    }

    /// The decoded elements of a payload.
    pub const fn payload_decoded(row: PayloadId) -> Self {
        Self::row_of(Column::PayloadDecoded, row.0)
    }

    /// The plain digest of a receipt. It is bound to the receipt's event: where a repair gives the
    /// receipt another key, the digest is sealed anew in the same transaction.
    pub const fn receipt_sha256(row: ReceiptId, event: EventBinding) -> Self {
        Self { column: Column::ReceiptSha256, row: row.0, event }
    }

    /// A refused request.
    pub const fn refusal_request(row: RefusalId) -> Self {
        Self::row_of(Column::RefusalRequest, row.0)
    }

    /// The token of an endpoint.
    pub const fn endpoint_token(row: EndpointId) -> Self {
        Self::row_of(Column::EndpointToken, row.0)
    }

    /// The secret options of an endpoint.
    pub const fn endpoint_options(row: EndpointId) -> Self {
        Self::row_of(Column::EndpointOptions, row.0)
    }

    /// One secret of an endpoint.
    pub const fn endpoint_secret(row: SecretId) -> Self {
        Self::row_of(Column::EndpointSecret, row.0)
    }

    /// The kept answer to a repeatable request, by the hash of its key: the first 16 bytes of the
    /// hash stand as the row's id.
    pub fn idempotency_answer(key_hash: &[u8; 32]) -> Self {
        let mut row = [0; 16];
        row.copy_from_slice(&key_hash[..16]);
        Self::row_of(Column::IdempotencyAnswer, Uuid::from_bytes(row))
    }

    /// The secret of a person's second factor.
    pub const fn second_factor(row: UserId) -> Self {
        Self::row_of(Column::SecondFactorSecret, row.0)
    }

    /// The credentials by which an endpoint's provider is asked what it sent.
    pub const fn reconciliation_credentials(row: EndpointId) -> Self {
        Self::row_of(Column::ReconciliationCredentials, row.0)
    }

    const fn row_of(column: Column, row: Uuid) -> Self {
        Self { column, row, event: EventBinding::NONE }
    }

    /// The column.
    pub const fn column(&self) -> Column {
        self.column
    }

    /// The id of the row.
    pub const fn row(&self) -> Uuid {
        self.row
    }

    pub(super) const fn event(&self) -> &EventBinding {
        &self.event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_columns_share_their_numbers_or_names() {
        let numbers: HashSet<_> = Column::ALL.iter().map(|column| column.numbers()).collect();
        let labels: HashSet<_> = Column::ALL.iter().map(|column| column.label()).collect();
        assert_eq!((numbers.len(), labels.len()), (Column::ALL.len(), Column::ALL.len()));
    }

    #[test]
    fn a_table_has_one_number() {
        for one in Column::ALL {
            for other in Column::ALL {
                let same_table = one.label().split('.').next() == other.label().split('.').next();
                assert_eq!(same_table, one.numbers().0 == other.numbers().0, "{one:?} {other:?}");
            }
        }
    }

    /// The document is what an operator or an auditor reads, so it must say what the code does.
    #[test]
    fn the_document_lists_every_column_with_its_numbers() {
        let document = include_str!("../../../../docs/decisions/0003-sealing.md");
        let rows: Vec<&str> = document.lines().filter(|line| line.contains("_sealed` |")).collect();
        assert_eq!(rows.len(), Column::ALL.len());
        for (column, row) in Column::ALL.iter().zip(rows) {
            let (table, number) = column.numbers();
            let start =
                format!("| {table} | {number} | `{}` | {} |", column.label(), column.class().as_str());
            assert!(row.starts_with(&start), "expected {start} in {row}");
        }
    }

    /// A column whose name says that it is sealed, and that nothing binds, would be sealed in the
    /// place of another. Whoever adds one gives it its numbers in `columns!` and in the document.
    #[test]
    fn the_migrations_have_the_same_sealed_columns() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite");
        let mut found = HashSet::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let mut table = String::new();
            for line in text.lines().filter(|line| !line.trim_start().starts_with("--")) {
                let words: Vec<&str> = line.split_whitespace().collect();
                if let ["CREATE" | "ALTER", "TABLE", name, ..] = words[..] {
                    table = name.to_string();
                }
                let sealed = words.iter().find(|word| word.ends_with("_sealed"));
                found.extend(sealed.map(|column| format!("{table}.{column}")));
            }
        }
        let known: HashSet<String> = Column::ALL.iter().map(|column| column.label().to_string()).collect();
        assert_eq!(found, known);
    }
}
