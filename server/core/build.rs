//! Lists the folders of `providers/` so that the binary embeds them: adding a folder adds a provider.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("providers");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut list = String::from("pub(super) static FILES: &[Files] = &[\n");
    for folder in entries(&root)? {
        let slug = name(&folder)?;
        let samples = folder.join("samples");
        println!("cargo:rerun-if-changed={}", folder.display());
        println!("cargo:rerun-if-changed={}", samples.display());
        writeln!(list, "Files {{ slug: {slug:?},")?;
        writeln!(
            list,
            "  provider: include_str!({:?}),",
            folder.join("provider.toml").display().to_string()
        )?;
        writeln!(list, "  setup: include_str!({:?}),", folder.join("setup.md").display().to_string())?;
        writeln!(list, "  samples: &[")?;
        for file in if samples.is_dir() { entries(&samples)? } else { Vec::new() } {
            writeln!(list, "    ({:?}, include_bytes!({:?})),", name(&file)?, file.display().to_string())?;
        }
        writeln!(list, "  ] }},")?;
    }
    list.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("providers.rs"), list)?;
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    found.sort();
    Ok(found)
}

fn name(path: &Path) -> Result<String, Box<dyn Error>> {
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(name.ok_or("a file name in providers/ is not text")?.to_owned())
}
