//! The rules from the outside: requests with known answers, the catalogue as a whole, and what no input may do.

mod vectors;
