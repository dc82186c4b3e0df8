//! Where a sealed field stands: its table, column and row, and for some the event. All of it is
//! associated data, so that a field copied to another place doesn't open there. The numbers are
//! part of what is stored: they never change and are never used again.

use uuid::Uuid;

use super::KeyClass;
use super::event::EventBinding;
use crate::id::{ConsumerId, DeliveryId, EndpointId, PayloadId, ReceiptId, SecretId, UserId};

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
    /// The body as received.
    PayloadBody = (1, 1), "payloads.body_sealed", Payload;
    /// The headers as received, in order.
    PayloadHeaders = (1, 2), "payloads.headers_sealed", Payload;
    /// Elements of a batch that are no plain slice of the body, decoded.
    PayloadDecoded = (1, 3), "payloads.decoded_sealed", Payload;
    /// The plain SHA-256 of what the receipt holds.
    ReceiptSha256 = (2, 1), "receipts.sha256_sealed", Payload;
    /// Another body that came under the same key.
    VariantBody = (3, 1), "variants.body_sealed", Payload;
    /// Its headers.
    VariantHeaders = (3, 2), "variants.headers_sealed", Payload;
    /// The address from which a delivery came.
    DeliverySource = (4, 1), "deliveries.source_sealed", Payload;
    /// The body of a refused request that is kept as a sample.
    RefusalBody = (5, 1), "refusals.body_sealed", Payload;
    /// Its headers.
    RefusalHeaders = (5, 2), "refusals.headers_sealed", Payload;
    /// The address from which it came.
    RefusalSource = (5, 3), "refusals.source_sealed", Payload;
    /// What a consumer answered to a push.
    AttemptResponse = (6, 1), "attempts.response_sealed", Payload;
    /// The token in an endpoint's URL, for display; the look-up uses its hash.
    EndpointToken = (7, 1), "endpoints.token_sealed", Secrets;
    /// The options that the catalogue marks secret.
    EndpointOptions = (7, 2), "endpoints.options_sealed", Secrets;
    /// A secret by which the endpoint's deliveries are verified.
    EndpointSecret = (8, 1), "endpoint_secrets.secret_sealed", Secrets;
    /// The secret that signs pushes to a consumer.
    ConsumerPushSecret = (9, 1), "consumers.push_secret_sealed", Secrets;
    /// The headers that are sent with pushes, which may hold credentials.
    ConsumerPushHeaders = (9, 2), "consumers.push_headers_sealed", Secrets;
    /// The credentials with which the provider is asked what it sent.
    ReconciliationCredentials = (10, 1), "reconciliation.credentials_sealed", Secrets;
    /// The secret of a person's second factor; sealed under the instance's own keys.
    UserTotp = (11, 1), "users.totp_sealed", Secrets;
}

/// One sealed field: its column, row and, where the column asks for it, its event. The tenant is
/// not named here, because the key that seals already belongs to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    column: Column,
    row: Uuid,
    event: EventBinding,
}

macro_rules! places {
    ($($(#[$doc:meta])* $function:ident($id:ident) = $column:ident;)*) => {
        impl Place {
            $(
                $(#[$doc])*
                pub const fn $function(row: $id) -> Self {
                    Self { column: Column::$column, row: row.0, event: EventBinding::NONE }
                }
            )*
        }
    };
}

places! {
    /// The body of a payload. It serves every receipt of its request, so no event is bound.
    payload_body(PayloadId) = PayloadBody;
    /// The headers of a payload.
    payload_headers(PayloadId) = PayloadHeaders;
    /// The decoded elements of a payload.
    payload_decoded(PayloadId) = PayloadDecoded;
    /// The source address of a delivery.
    delivery_source(DeliveryId) = DeliverySource;
    /// The token of an endpoint.
    endpoint_token(EndpointId) = EndpointToken;
    /// The secret options of an endpoint.
    endpoint_options(EndpointId) = EndpointOptions;
    /// One secret of an endpoint.
    endpoint_secret(SecretId) = EndpointSecret;
    /// The signing secret of a consumer.
    consumer_push_secret(ConsumerId) = ConsumerPushSecret;
    /// The push headers of a consumer.
    consumer_push_headers(ConsumerId) = ConsumerPushHeaders;
    /// The provider's credentials of an endpoint's reconciliation.
    reconciliation_credentials(EndpointId) = ReconciliationCredentials;
    /// The second factor of a person.
    user_totp(UserId) = UserTotp;
}

impl Place {
    /// The plain digest of a receipt. It is bound to the receipt's event: where a repair gives the
    /// receipt another key, the digest is sealed anew in the same transaction.
    pub const fn receipt_sha256(row: ReceiptId, event: EventBinding) -> Self {
        Self { column: Column::ReceiptSha256, row: row.0, event }
    }

    /// The body of a variant.
    pub const fn variant_body(row: Uuid) -> Self {
        Self { column: Column::VariantBody, row, event: EventBinding::NONE }
    }

    /// The headers of a variant.
    pub const fn variant_headers(row: Uuid) -> Self {
        Self { column: Column::VariantHeaders, row, event: EventBinding::NONE }
    }

    /// The body of a refused request.
    pub const fn refusal_body(row: Uuid) -> Self {
        Self { column: Column::RefusalBody, row, event: EventBinding::NONE }
    }

    /// The headers of a refused request.
    pub const fn refusal_headers(row: Uuid) -> Self {
        Self { column: Column::RefusalHeaders, row, event: EventBinding::NONE }
    }

    /// The source address of a refused request.
    pub const fn refusal_source(row: Uuid) -> Self {
        Self { column: Column::RefusalSource, row, event: EventBinding::NONE }
    }

    /// The answer to a push.
    pub const fn attempt_response(row: Uuid) -> Self {
        Self { column: Column::AttemptResponse, row, event: EventBinding::NONE }
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
        let rows: Vec<&str> = document.lines().filter(|line| line.contains("_sealed`")).collect();
        assert_eq!(rows.len(), Column::ALL.len());
        for (column, row) in Column::ALL.iter().zip(rows) {
            let (table, number) = column.numbers();
            let start = format!("| {table} | {number} | `{}` | {} |", column.label(), column.class().name());
            assert!(row.starts_with(&start), "expected {start} in {row}");
        }
    }
}
