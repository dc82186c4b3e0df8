//! What is known of a request beside its content. The layers around every request leave it in the
//! request's extensions, for the handlers of machines and of people alike.

use std::net::IpAddr;

/// The id of the request, by which its line is found in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

/// The client's address: the connection's other end, or what a trusted proxy says of it. It is for logs
/// and limits; nothing is allowed because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// The path of the route that answered, with its parameters in braces, in the extensions of a page's
/// answer: the path itself may hold a one-time link, which must not reach the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutePath(pub &'static str);
