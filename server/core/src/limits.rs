//! Every input has a limit; they stand here. Units are in the names.

/// The largest body of an endpoint whose provider documents no size of its own: 10 MiB.
pub const BODY_BYTES_DEFAULT: u64 = 10 * 1024 * 1024;
/// The ceiling that the operator sets for any endpoint when nothing else is configured: 32 MiB.
pub const BODY_BYTES_CEILING_DEFAULT: u64 = 32 * 1024 * 1024;
/// The largest body of a request to the API: 1 MiB.
pub const API_BODY_BYTES_MAX: u64 = 1024 * 1024;
/// Request headers, by number and by size of the whole head.
pub const HEADERS_MAX: usize = 64;
/// The largest request head.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Longer event keys are replaced by their digest.
pub const EVENT_KEY_BYTES_MAX: usize = 255;
/// Longer event types, accounts, API versions and content types are cut at this size.
pub const EVENT_TEXT_BYTES_MAX: usize = 255;
/// Longer event ids are cut at this size; their key holds the digest of the whole.
pub const EVENT_ID_BYTES_MAX: usize = 1_000;
/// A name that a person gives to an endpoint, key or tenant.
pub const NAME_CHARS_MAX: usize = 120;
/// A tenant's name in commands and URLs.
pub const SLUG_CHARS_MAX: usize = 64;
/// An e-mail address (RFC 5321, section 4.5.3.1.3).
pub const EMAIL_BYTES_MAX: usize = 254;
/// A password: short ones are guessed, endless ones keep the hash busy.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// The longest password.
pub const PASSWORD_CHARS_MAX: usize = 256;
/// The longest secret that can be pasted.
pub const SECRET_BYTES_MAX: usize = 8 * 1024;
/// Secrets that an endpoint may hold at once.
pub const SECRETS_PER_ENDPOINT_MAX: usize = 10;
/// The longest time that an endpoint's old secrets may go on beside a new one: a year.
pub const SECRET_OVERLAP_SECONDS_MAX: u32 = 365 * 24 * 60 * 60;
/// The options of one endpoint, as JSON.
pub const OPTIONS_BYTES_MAX: usize = 64 * 1024;
/// Elements of one batch request.
pub const BATCH_ELEMENTS_MAX: usize = 10_000;
/// Nesting of JSON that is read for ids. The reader spends one bit a level and never recurses.
pub const JSON_DEPTH_MAX: usize = 1024 * 1024;
/// The longest JSON pointer, and the most steps in it.
pub const POINTER_BYTES_MAX: usize = 1_024;
/// Steps of a JSON pointer.
pub const POINTER_STEPS_MAX: usize = 64;
/// Sources that one description of a sender may name, those inside `join` and `first` included.
pub const SOURCES_MAX: usize = 60;
/// Nesting of `join` and `first`.
pub const SOURCE_DEPTH_MAX: usize = 8;
/// A form that a person sends: a payload of half a megabyte pasted into the try-out, with its escapes.
pub const FORM_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Fields of a form body or a query string that are read.
pub const FORM_FIELDS_MAX: usize = 4_096;
/// A signature, time or token header that is longer is malformed.
pub const SIGNATURE_HEADER_BYTES_MAX: usize = 1_024;
/// Entries of a signature header that are compared; rotation needs two or three.
pub const SIGNATURES_COMPARED_MAX: usize = 10;
/// What a handshake may make Restante echo.
pub const ECHO_BYTES_MAX: usize = 4 * 1024;
/// Bytes that are hashed to find out why a signature is wrong; bounds the work of a refusal.
pub const EXPLAIN_BYTES_MAX: usize = 1024 * 1024;
/// The longest tolerance of a signed time: 31 days.
pub const TOLERANCE_SECONDS_MAX: u64 = 31 * 86_400;
/// Other bodies that are kept of a receipt whose deliveries diverge.
pub const VARIANTS_PER_RECEIPT_MAX: usize = 3;
/// Deliveries of a receipt that are logged one by one, the first among them; of later ones the latest of each endpoint.
pub const DELIVERIES_LOGGED_PER_RECEIPT_MAX: usize = 100;
/// Refused requests that are kept per endpoint for the person who asks why.
pub const REFUSALS_KEPT_PER_ENDPOINT: usize = 20;
/// Bytes of a refused body that are kept.
pub const REFUSAL_BODY_BYTES_MAX: usize = 64 * 1024;
/// Leases that one ack, nack or extend may carry.
pub const LEASES_PER_CALL_MAX: usize = 1_000;
/// Events that one claim may ask for.
pub const CLAIM_EVENTS_MAX: u32 = 500;
/// Bytes of bodies that one claim hands out, unless its first event alone is larger.
pub const CLAIM_BODY_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The longest lease: twelve hours.
pub const LEASE_SECONDS_MAX: u32 = 43_200;
/// How long a lease can be kept alive by extending it, counted from its claim: seven days.
pub const LEASE_TOTAL_SECONDS_MAX: u32 = 604_800;
/// The longest wait of a claim for something to come.
pub const WAIT_SECONDS_MAX: u32 = 30;
/// Entries of a list page.
pub const PAGE_SIZE_MAX: u32 = 250;
/// Entries of a list page when none are asked for.
pub const PAGE_SIZE_DEFAULT: u32 = 50;
/// Notes, errors and reasons that people and applications give.
pub const NOTE_BYTES_MAX: usize = 2_000;
/// The longest wait that a nack may ask for: seven days.
pub const RETRY_SECONDS_MAX: u32 = 604_800;
/// Endpoints, providers or types that one consumer's filter may list.
pub const FILTER_ENTRIES_MAX: usize = 100;
/// Consumers of one tenant. Each commit compares each event with the filter of each.
pub const CONSUMERS_PER_TENANT_MAX: usize = 100;
/// The name of a consumer.
pub const CONSUMER_NAME_BYTES_MAX: usize = 64;
/// Claims of an event before it is given up, unless the consumer says otherwise.
pub const ATTEMPTS_DEFAULT: u32 = 12;
/// The most that a consumer may ask for.
pub const ATTEMPTS_MAX: u32 = 1_000;
