//! What is sealed under a tenant's keys of class `secrets`, wherever it stands, in steps: for the job that
//! seals it anew under a newer key, and for the question whether anything still needs an older one.
//!
//! A new sealed column of that class is added here: to [`SECRET_COLUMNS`], with its two statements, and to
//! the one that looks for an older version. Tests find it when it is missing.

use restante_core::id::{EndpointId, SecretId, TenantId};
use restante_core::seal::{Column, Place};
use uuid::Uuid;

use crate::engine::sql::statements;
use crate::engine::{Conn, Sql, StoreError, Value, values};
use crate::failpoint;

/// The columns, in the order in which they are sealed anew. The secret of a second factor is sealed under a
/// key of the person, which is not rotated.
pub const SECRET_COLUMNS: &[Column] = &[
    Column::EndpointToken,
    Column::EndpointOptions,
    Column::EndpointSecret,
    Column::IdempotencyAnswer,
    Column::ReconciliationCredentials,
];

/// Where a sealed value stands within its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Row(Uuid),
    /// A row of something: a secret of an endpoint.
    Of(Uuid, Uuid),
    Hash([u8; 32]),
}

/// A sealed value, to go on behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    position: Position,
    /// What it is bound to.
    pub place: Place,
    /// The sealed bytes.
    pub sealed: Vec<u8>,
}

statements! {
    /// Tokens of endpoints in steps.
    SEALED_TOKENS = both
        "SELECT id, token_sealed AS sealed FROM endpoints WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3";

    /// Seals a token anew, unless it has changed since it was read.
    SEALED_TOKEN_REPLACE = both
        "UPDATE endpoints SET token_sealed = $3 WHERE tenant_id = $1 AND token_sealed = $2 AND id = $4";

    /// Secret options of endpoints in steps.
    SEALED_OPTIONS = both
        "SELECT id, options_sealed AS sealed FROM endpoints
            WHERE tenant_id = $1 AND id > $2 AND options_sealed IS NOT NULL ORDER BY id LIMIT $3";

    /// Seals options anew, unless they have changed since they were read.
    SEALED_OPTIONS_REPLACE = both
        "UPDATE endpoints SET options_sealed = $3 WHERE tenant_id = $1 AND options_sealed = $2 AND id = $4";

    /// Secrets of endpoints in steps.
    SEALED_ENDPOINT_SECRETS = both
        "SELECT endpoint_id, id, secret_sealed AS sealed FROM endpoint_secrets
            WHERE tenant_id = $1 AND (endpoint_id > $2 OR (endpoint_id = $2 AND id > $3))
            ORDER BY endpoint_id, id LIMIT $4";

    /// Seals a secret anew, unless it has changed since it was read.
    SEALED_ENDPOINT_SECRET_REPLACE = both
        "UPDATE endpoint_secrets SET secret_sealed = $3
            WHERE tenant_id = $1 AND secret_sealed = $2 AND endpoint_id = $4 AND id = $5";

    /// Kept answers in steps.
    SEALED_ANSWERS = both
        "SELECT key_hash, answer_sealed AS sealed FROM idempotency_keys
            WHERE tenant_id = $1 AND key_hash > $2 ORDER BY key_hash LIMIT $3";

    /// Seals an answer anew, unless it has changed since it was read.
    SEALED_ANSWER_REPLACE = both
        "UPDATE idempotency_keys SET answer_sealed = $3
            WHERE tenant_id = $1 AND answer_sealed = $2 AND key_hash = $4";

    /// Credentials for asking providers in steps.
    SEALED_CREDENTIALS = both
        "SELECT endpoint_id AS id, credentials_sealed AS sealed FROM reconciliations
            WHERE tenant_id = $1 AND endpoint_id > $2 ORDER BY endpoint_id LIMIT $3";

    /// Seals credentials anew, unless they have changed since they were read.
    SEALED_CREDENTIALS_REPLACE = both
        "UPDATE reconciliations SET credentials_sealed = $3
            WHERE tenant_id = $1 AND credentials_sealed = $2 AND endpoint_id = $4";

    // The version stands in bytes 5 to 8 of a sealed field.
    /// Whether anything is sealed under a version of the tenant's key.
    SECRETS_KEY_IN_USE = both
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM endpoints WHERE tenant_id = $1 AND substr(token_sealed, 5, 4) = $2)
            OR EXISTS (SELECT 1 FROM endpoints WHERE tenant_id = $1 AND substr(options_sealed, 5, 4) = $2)
            OR EXISTS (SELECT 1 FROM endpoint_secrets WHERE tenant_id = $1 AND substr(secret_sealed, 5, 4) = $2)
            OR EXISTS (SELECT 1 FROM idempotency_keys WHERE tenant_id = $1 AND substr(answer_sealed, 5, 4) = $2)
            OR EXISTS (SELECT 1 FROM reconciliations WHERE tenant_id = $1 AND substr(credentials_sealed, 5, 4) = $2)
            THEN 1 ELSE 0 END AS in_use";
}

/// Sealed values of a column, those behind `after`.
///
/// # Errors
/// What the database ran into.
pub async fn page(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    column: Column,
    after: Option<&SealedSecret>,
    limit: u32,
) -> Result<Vec<SealedSecret>, StoreError> {
    let row_after = match after.map(|after| after.position) {
        Some(Position::Row(row)) => row,
        _ => Uuid::nil(),
    };
    let (sql, values): (&'static Sql, Vec<Value>) = match column {
        Column::EndpointToken => (&SEALED_TOKENS, values![tenant, row_after, limit]),
        Column::EndpointOptions => (&SEALED_OPTIONS, values![tenant, row_after, limit]),
        Column::ReconciliationCredentials => (&SEALED_CREDENTIALS, values![tenant, row_after, limit]),
        Column::EndpointSecret => {
            let (of, row) = match after.map(|after| after.position) {
                Some(Position::Of(of, row)) => (of, row),
                _ => (Uuid::nil(), Uuid::nil()),
            };
            (&SEALED_ENDPOINT_SECRETS, values![tenant, of, row, limit])
        }
        Column::IdempotencyAnswer => {
            let hash = match after.map(|after| after.position) {
                Some(Position::Hash(hash)) => hash.to_vec(),
                _ => Vec::new(),
            };
            (&SEALED_ANSWERS, values![tenant, hash, limit])
        }
        _ => return Ok(Vec::new()),
    };
    conn.fetch_all(sql, values)
        .await?
        .iter()
        .map(|row| {
            let (position, place) = match column {
                Column::EndpointSecret => {
                    let (of, id) = (row.uuid("endpoint_id")?, row.uuid("id")?);
                    (Position::Of(of, id), Place::endpoint_secret(SecretId(id)))
                }
                Column::IdempotencyAnswer => {
                    let hash = row.blob("key_hash")?;
                    let hash: [u8; 32] = hash.try_into().map_err(|_| row.broken("key_hash"))?;
                    (Position::Hash(hash), Place::idempotency_answer(&hash))
                }
                _ => {
                    let id = row.uuid("id")?;
                    let place = match column {
                        Column::EndpointOptions => Place::endpoint_options,
                        Column::ReconciliationCredentials => Place::reconciliation_credentials,
                        _ => Place::endpoint_token,
                    };
                    (Position::Row(id), place(EndpointId(id)))
                }
            };
            Ok(SealedSecret { position, place, sealed: row.blob("sealed")? })
        })
        .collect()
}

/// Puts values that were sealed anew in the place of those that were read, where these still stand. Gives
/// how many it replaced.
///
/// # Errors
/// What the database ran into.
pub async fn replace(
    conn: &mut Conn<'_>,
    tenant: TenantId,
    anew: Vec<(SealedSecret, Vec<u8>)>,
) -> Result<u64, StoreError> {
    let mut replaced = 0;
    for (read, sealed) in anew {
        let mut values = values![tenant, read.sealed, sealed];
        values.extend(match read.position {
            Position::Row(row) => values![row],
            Position::Of(of, row) => values![of, row],
            Position::Hash(hash) => values![hash],
        });
        let sql = match read.place.column() {
            Column::EndpointOptions => &SEALED_OPTIONS_REPLACE,
            Column::EndpointSecret => &SEALED_ENDPOINT_SECRET_REPLACE,
            Column::IdempotencyAnswer => &SEALED_ANSWER_REPLACE,
            Column::ReconciliationCredentials => &SEALED_CREDENTIALS_REPLACE,
            _ => &SEALED_TOKEN_REPLACE,
        };
        replaced += conn.execute(sql, values).await?;
    }
    failpoint::pass(failpoint::RESEAL).await?;
    Ok(replaced)
}

/// Whether anything is still sealed under a version of the tenant's key of class `secrets`.
///
/// # Errors
/// What the database ran into.
pub async fn is_in_use(conn: &mut Conn<'_>, tenant: TenantId, version: u32) -> Result<bool, StoreError> {
    let row = conn.fetch_one(&SECRETS_KEY_IN_USE, values![tenant, version.to_be_bytes().to_vec()]).await?;
    Ok(row.int("in_use")? != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use restante_core::seal::KeyClass;

    /// A column that is not sealed anew would be lost with its key.
    #[test]
    fn every_column_of_the_class_is_sealed_anew_and_looked_at() {
        let columns: Vec<Column> = Column::ALL
            .iter()
            .copied()
            .filter(|column| column.class() == KeyClass::Secrets && *column != Column::SecondFactorSecret)
            .collect();
        assert_eq!(columns, SECRET_COLUMNS);
        let text = SECRETS_KEY_IN_USE.text(Engine::Sqlite);
        for column in columns {
            let (table, name) = column.label().split_once('.').unwrap();
            let looked = format!("FROM {table} WHERE tenant_id = $1 AND substr({name}, 5, 4)");
            assert!(text.contains(&looked), "{looked}");
        }
    }
}
