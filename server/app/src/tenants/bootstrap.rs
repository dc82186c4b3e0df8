//! The first tenant, or a further one, from the command line: the tenant with its keys, its owner, a
//! consumer that takes everything, and an API key with every scope; all of it or nothing.

use restante_core::access::{Role, Scopes};
use restante_core::filter::Filter;
use restante_core::id::{ConsumerId, TenantId, UserId, uuid_v7};
use restante_core::limits::{ATTEMPTS_DEFAULT, EMAIL_BYTES_MAX, SLUG_CHARS_MAX};
use restante_core::problem::{Code, FieldError, Problem};
use restante_core::secret::Secret;
use restante_store::StoreError;
use restante_store::consumers::{self, NewConsumer};
use restante_store::control::audit::AuditRow;
use restante_store::control::tenants::TenantRow;
use restante_store::control::{api_keys, audit, members, tenant_keys, tenants, users};
use serde_json::json;

use crate::App;
use crate::api_keys::{NewApiKey, draw};
use crate::people::password;

/// Who acts on the command line.
const OPERATOR: &str = "operator";

/// What `bootstrap` has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bootstrapped {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name in commands and URLs.
    pub slug: String,
    /// Its owner.
    pub user: UserId,
    /// The owner's e-mail address, in lower case.
    pub email: String,
    /// Whether the owner became administrator of the instance, which had none.
    pub administrator: bool,
    /// An API key with every scope, which is shown this once.
    pub api_key: Secret<String>,
}

impl App {
    /// Makes a tenant, its owner and an API key with every scope. The password loses one line break at
    /// its end.
    ///
    /// # Errors
    /// A [`Problem`] with a sentence when the tenant or the e-mail address exists, or something can't
    /// be what it is; then nothing was made.
    pub async fn bootstrap(
        &self,
        slug: &str,
        email: &str,
        password: Secret<String>,
    ) -> Result<Bootstrapped, StoreError> {
        let email = email.trim().to_lowercase();
        let password = Secret::new(password::without_line_break(password.expose()).to_owned());
        check(slug, &email, &password)?;
        let password_hash = self.passwords.hash(password).await?;

        let now = self.clock.now();
        let (tenant, user) = (TenantId::new(now, self.random.bytes()), UserId::new(now, self.random.bytes()));
        let row = TenantRow {
            id: tenant,
            slug: slug.to_owned(),
            name: slug.to_owned(),
            suspended: false,
            created_at: now,
        };
        let (_, keys) = self.keys.create(tenant, &*self.random);
        let consumer = NewConsumer {
            id: ConsumerId::new(now, self.random.bytes()),
            name: "default".to_owned(),
            filter: Filter::default(),
            max_attempts: ATTEMPTS_DEFAULT,
            enabled: true,
            start: "now".to_owned(),
            start_from: None,
        };
        let every = NewApiKey { name: "bootstrap".to_owned(), scopes: Scopes::ALL, expires_at: None };
        let drawn = draw(&*self.random, every, OPERATOR.to_owned(), now);
        let line = AuditRow {
            id: uuid_v7(now, self.random.bytes()),
            at: now,
            actor: OPERATOR.to_owned(),
            action: "tenant.create",
            subject: tenant.to_string(),
            detail: json!({ "slug": slug, "owner": user, "key": drawn.created.row.id }).to_string(),
            request_id: None,
        };
        let made = Bootstrapped {
            tenant,
            slug: slug.to_owned(),
            user,
            email: email.clone(),
            administrator: false,
            api_key: drawn.created.key.clone(),
        };
        self.store
            .write(move |conn| {
                Box::pin(async move {
                    if !tenants::insert(conn, &row).await? {
                        return Err(taken(format!("There is already a tenant \"{}\".", row.slug)));
                    }
                    if !users::insert(conn, user, &email, &password_hash, now).await? {
                        return Err(taken(format!("There is already an account for {email}.")));
                    }
                    let administrator = tenants::make_first_administrator(conn, user, now).await?;
                    for key in &keys {
                        tenant_keys::insert(conn, tenant, key, now).await?;
                    }
                    members::insert(conn, tenant, user, Role::Owner, now).await?;
                    let key = &drawn.created.row;
                    api_keys::insert(conn, tenant, key, &drawn.lookup_hash, &drawn.secret_hash).await?;
                    consumers::insert(conn, tenant, &consumer).await?;
                    audit::insert(conn, tenant, line).await?;
                    Ok(Bootstrapped { administrator, ..made })
                })
            })
            .await
    }
}

fn taken(sentence: String) -> StoreError {
    Problem::new(Code::Conflict, sentence).into()
}

fn check(slug: &str, email: &str, password: &Secret<String>) -> Result<(), Problem> {
    let mut errors = Vec::new();
    let is_slug = (1..=SLUG_CHARS_MAX).contains(&slug.len())
        && slug.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    if !is_slug {
        errors.push(FieldError {
            pointer: "/tenant".to_owned(),
            detail: format!("A tenant's name has 1 to {SLUG_CHARS_MAX} of the characters a-z, 0-9 and -."),
        });
    }
    if !is_email(email) {
        errors.push(FieldError {
            pointer: "/email".to_owned(),
            detail: "This is no e-mail address; it looks like ada@example.com.".to_owned(),
        });
    }
    if let Err(problem) = password::check(password.expose()) {
        errors.extend(problem.errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::fields(errors)) }
}

/// Whether a text can be an address. Whether it is one, only a letter to it would tell.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    text.len() <= EMAIL_BYTES_MAX
        && !local.is_empty()
        && !domain.is_empty()
        && !local.contains('@')
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}
