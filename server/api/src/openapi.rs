//! The description of the API in OpenAPI 3.1, made from the handlers. What every route has in
//! common (the key, the problems) is added here from the route table, so that handlers need not
//! repeat it.

use std::sync::LazyLock;

use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use restante_core::access::{API_ROUTES, Access, Route};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    Content, InfoBuilder, OpenApi, Ref, RefOr, ResponseBuilder, Schema, schema::SchemaType, schema::Type,
};
use utoipa::{PartialSchema as _, ToSchema as _};

use crate::problem::{FieldProblem, ProblemBody};
use crate::router;

/// The description of every route.
pub fn document() -> OpenApi {
    let mut document = router::described().into_openapi();
    document.info = InfoBuilder::new()
        .title("Restante")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Receives webhooks, verifies them, keeps them, and hands them to applications. \
             Every error is a problem (RFC 9457) whose type is a page under /docs/errors/.",
        ))
        .build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(
        "key",
        SecurityScheme::Http(
            HttpBuilder::new()
                .scheme(HttpAuthScheme::Bearer)
                .description(Some("An API key, `rst_…`. It belongs to one tenant and has scopes."))
                .build(),
        ),
    );
    components.schemas.insert(ProblemBody::name().into_owned(), ProblemBody::schema());
    components.schemas.insert(FieldProblem::name().into_owned(), FieldProblem::schema());
    for route in API_ROUTES {
        let Some(item) = document.paths.paths.get_mut(route.path) else { continue };
        if let (Some(operation), Access::Key(scope)) = (operation(item, route), route.access) {
            operation.security = Some(vec![SecurityRequirement::new("key", [scope.as_str()])]);
            let problem = ResponseBuilder::new()
                .description("The request was refused; the body says why.")
                .content("application/problem+json", Content::new(Some(Ref::from_schema_name("Problem"))))
                .build();
            operation.responses.responses.insert("default".to_owned(), problem.into());
            if let Some(RefOr::T(body)) = &mut operation.request_body {
                body.content.values_mut().for_each(without_null);
            }
        }
    }
    document
}

/// A body that may be left out is described by `Option`, which would also let it be `null`.
fn without_null(content: &mut RefOr<Content>) {
    let RefOr::T(content) = content else { return };
    if let Some(RefOr::T(Schema::OneOf(either))) = &content.schema {
        let is_null = |schema: &RefOr<Schema>| matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null));
        let others: Vec<&RefOr<Schema>> = either.items.iter().filter(|schema| !is_null(schema)).collect();
        if let [only] = others[..] {
            content.schema = Some(only.clone());
        }
    }
}

fn operation<'a>(item: &'a mut PathItem, route: &Route) -> Option<&'a mut Operation> {
    match route.method {
        "GET" => item.get.as_mut(),
        "POST" => item.post.as_mut(),
        "PUT" => item.put.as_mut(),
        "PATCH" => item.patch.as_mut(),
        "DELETE" => item.delete.as_mut(),
        _ => None,
    }
}

pub(crate) async fn serve() -> impl IntoResponse {
    static TEXT: LazyLock<Bytes> =
        LazyLock::new(|| Bytes::from(document().to_pretty_json().unwrap_or_default()));
    ([(CONTENT_TYPE, "application/json")], TEXT.clone())
}
