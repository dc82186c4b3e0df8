//! Migrations are read at compile time; a new file has to rebuild this crate.
fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
