//! What a disk holds when the power goes: a server's calls are recorded by strace and done again on
//! copies of its files, of which a copy keeps what was synced, and by chance some of the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::random_below;

/// A disk writes a sector whole or not at all.
const SECTOR_BYTES: usize = 512;

/// The calls that change files or keep what was written, and how they are written down.
pub(crate) const STRACE: [&str; 10] = [
    "-D",
    "-f",
    "-y",
    "-ttt",
    "-T",
    "-xx",
    "-s",
    "1000000",
    "-e",
    "trace=pwrite64,ftruncate,fsync,fdatasync,unlink",
];

/// Changes of a file that no sync has kept yet.
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

#[derive(Default)]
struct File {
    kept: Vec<u8>,
    pending: Vec<Change>,
}

/// One step of a record.
enum Step {
    Change(PathBuf, Change),
    Kept(PathBuf),
    Gone(PathBuf),
}

/// What a server did to the files of its folder, in order, with the time of each step in microseconds.
pub(crate) struct Record(Vec<(u64, Step)>);

impl Record {
    /// Reads what strace wrote.
    pub(crate) fn read(log: &Path) -> Self {
        let log = fs::read_to_string(log).expect("a record");
        let mut steps = Vec::new();
        // A call that another thread's line cuts in two, by its thread.
        let mut unfinished: BTreeMap<&str, PathBuf> = BTreeMap::new();
        for line in log.lines() {
            let mut words = line.splitn(2, ' ');
            let (Some(thread), Some(rest)) = (words.next(), words.next()) else { continue };
            let Some((time, call)) = rest.trim_start().split_once(' ') else { continue };
            let Some(at) = microseconds(time) else { continue };
            if let Some(rest) = call.strip_prefix("<... ") {
                if let Some(file) = unfinished.remove(thread).filter(|_| rest.contains(" = 0")) {
                    steps.push((at, Step::Kept(file)));
                }
                continue;
            }
            let Some((name, arguments)) = call.split_once('(') else { continue };
            match name {
                "unlink" => steps.push((at, Step::Gone(path(between(arguments, '"', '"'))))),
                "pwrite64" => {
                    let file = path(between(arguments, '<', '>'));
                    let bytes = unhex(between(arguments, '"', '"'));
                    let offset = numbers(arguments.rsplit_once('"').expect("bytes").1)[1];
                    steps.push((at, Step::Change(file, Change::Write { offset, bytes })));
                }
                "ftruncate" => {
                    let (file, rest) = arguments.split_once('>').expect("a file");
                    let length = Change::Length(numbers(rest)[0]);
                    steps.push((at, Step::Change(path(between(file, '<', '\0')), length)));
                }
                "fsync" | "fdatasync" if call.contains("unfinished") => {
                    unfinished.insert(thread, path(between(arguments, '<', '>')));
                }
                "fsync" | "fdatasync" if call.contains(" = 0") => {
                    let took =
                        call.rsplit_once('<').and_then(|(_, took)| microseconds(took.trim_end_matches('>')));
                    let kept = Step::Kept(path(between(arguments, '<', '>')));
                    steps.push((at + took.expect("how long it took"), kept));
                }
                _ => {}
            }
        }
        steps.sort_by_key(|(at, _)| *at);
        Self(steps)
    }

    /// Lays the files out as the power left them at a moment. `base` holds them as they were before
    /// the record; `torn` lets by chance some sectors survive that nobody had asked to be kept.
    pub(crate) fn cut(&self, at: u64, base: &Path, folder: &Path, image: &Path, torn: bool) {
        let mut files: BTreeMap<PathBuf, File> = BTreeMap::new();
        for entry in fs::read_dir(base).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_owned();
            let kept = fs::read(&path).expect("a file");
            files.insert(folder.join(name), File { kept, pending: Vec::new() });
        }
        for (_, step) in self.0.iter().take_while(|(time, _)| *time <= at) {
            match step {
                Step::Gone(path) => drop(files.remove(path)),
                Step::Kept(path) => files.entry(path.clone()).or_default().keep(),
                Step::Change(path, change) => {
                    files.entry(path.clone()).or_default().pending.push(change.copy());
                }
            }
        }
        for (path, mut file) in files {
            let name = path.file_name().expect("a name");
            // Another folder's; or shared memory, which no crash keeps.
            if path.parent() != Some(folder) || name.to_string_lossy().ends_with("-shm") {
                continue;
            }
            if torn {
                file.tear();
            }
            fs::write(image.join(name), &file.kept).expect("a file");
        }
    }
}

impl File {
    fn keep(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            apply(&mut self.kept, &change);
        }
    }

    fn tear(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            match change {
                Change::Write { offset, bytes } => {
                    for (number, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
                        if random_below(2) == 0 {
                            let offset = offset + number * SECTOR_BYTES;
                            apply(&mut self.kept, &Change::Write { offset, bytes: sector.to_vec() });
                        }
                    }
                }
                length if random_below(2) == 0 => apply(&mut self.kept, &length),
                Change::Length(_) => {}
            }
        }
    }
}

impl Change {
    fn copy(&self) -> Self {
        match self {
            Self::Write { offset, bytes } => Self::Write { offset: *offset, bytes: bytes.clone() },
            Self::Length(length) => Self::Length(*length),
        }
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Length(length) => content.resize(*length, 0),
        Change::Write { offset, bytes } => {
            let end = offset + bytes.len();
            if content.len() < end {
                content.resize(end, 0);
            }
            content[*offset..end].copy_from_slice(bytes);
        }
    }
}

/// Seconds with a fraction, as strace writes a time or how long something took.
fn microseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    Some(seconds.parse::<u64>().ok()? * 1_000_000 + fraction.get(..6)?.parse::<u64>().ok()?)
}

fn between(text: &str, open: char, close: char) -> &str {
    let rest = text.split_once(open).map_or("", |(_, rest)| rest);
    rest.split_once(close).map_or(rest, |(inside, _)| inside)
}

/// `\x2f\x74`, as strace writes every text.
fn unhex(text: &str) -> Vec<u8> {
    hex::decode(text.replace("\\x", "")).expect("hexadecimal digits")
}

fn path(text: &str) -> PathBuf {
    String::from_utf8(unhex(text)).expect("a path").into()
}

/// The numbers of a list of arguments.
fn numbers(text: &str) -> Vec<usize> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}
