//! The first tenant, or a further one, from the command line: the tenant with its keys, its owner, a
//! consumer that takes everything, and an API key with every scope; all of it or nothing.

use restante_core::access::{Role, Scopes};
use restante_core::filter::Filter;
use restante_core::id::{ConsumerId, TenantId, UserId};
use restante_core::limits::ATTEMPTS_DEFAULT;
use restante_core::problem::{Code, Problem};
use restante_core::secret::Secret;
use restante_store::StoreError;
use restante_store::consumers::{self, NewConsumer};
use restante_store::control::{api_keys, audit, members, tenants, users};
use serde_json::json;

use crate::App;
use crate::api_keys::{NewApiKey, draw};
use crate::people::actor::{Actor, OPERATOR};
use crate::people::{email, password};
use crate::tenants::make::{NewTenant, slug_fault};

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
        let email = email::normal(email);
        let password = Secret::new(password::without_line_break(password.expose()).to_owned());
        check(slug, &email, &password)?;
        let password_hash = self.passwords.hash(password).await?;

        let now = self.clock.now();
        let user = UserId::new(now, self.random.bytes());
        let new_tenant = NewTenant::draw(self, slug, slug, now);
        let tenant = new_tenant.row.id;
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
        let detail = json!({ "slug": slug, "owner": user, "key": drawn.created.row.id });
        let line = Actor::operator().line(&*self.random, now, "tenant.create", tenant.to_string(), &detail);
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
                    new_tenant.insert(conn).await?;
                    if !users::insert(conn, user, &email, &password_hash, now).await? {
                        let sentence = format!("There is already an account for {email}.");
                        return Err(Problem::new(Code::Conflict, sentence).into());
                    }
                    let administrator = tenants::make_first_administrator(conn, user, now).await?;
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

fn check(slug: &str, email: &str, password: &Secret<String>) -> Result<(), Problem> {
    let mut errors = Vec::new();
    errors.extend(slug_fault(slug, "/tenant"));
    errors.extend(email::fault(email, "/email"));
    errors.extend(password::fault(password.expose(), email, "/password"));
    if errors.is_empty() { Ok(()) } else { Err(Problem::fields(errors)) }
}
