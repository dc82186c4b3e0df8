//! Pages are compiled in; a changed template has to compile them anew.

fn main() {
    println!("cargo:rerun-if-changed=../templates");
}
