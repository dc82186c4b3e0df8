//! `restante verify --json-lines`: a verdict a line. All of it is `restante_core`'s; here are the
//! lines alone.

use std::io::{self, BufRead as _, Read as _};

use restante_core::verify::verdict_line;

use crate::arguments::VerifyArguments;
use crate::failure::Failure;

/// A body of the largest size in base 64, and as much again.
const LINE_BYTES_MAX: u64 = 96 * 1024 * 1024;

pub(crate) fn run(_: &VerifyArguments) -> Result<(), Failure> {
    match lines(&mut io::stdin().lock(), &mut io::stdout().lock()) {
        // Who has read enough of the verdicts may go.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("The lines can't be read: {error}."))),
        Ok(()) => Ok(()),
    }
}

fn lines(input: &mut impl io::BufRead, out: &mut impl io::Write) -> io::Result<()> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return out.flush();
        }
        if line.last() != Some(&b'\n') && line.len() as u64 >= LINE_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a line is longer than {LINE_BYTES_MAX} bytes"),
            ));
        }
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            writeln!(out, "{}", verdict_line(text.trim()))?;
            // A program on the other side may wait for this verdict before it asks for the next.
            out.flush()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(input: &[u8]) -> Vec<serde_json::Value> {
        let mut out = Vec::new();
        lines(&mut io::Cursor::new(input), &mut out).unwrap();
        out.split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn every_line_has_one_answer_and_rubbish_is_refused() {
        let said = answers(b"{\"id\":\"a\",\"provider\":\"nobody\"}\r\n\n\xff\xfe\n{\"id\":\"b\"}");
        assert_eq!(said.len(), 3);
        assert_eq!(said[0]["id"], "a");
        assert_eq!(said[2]["id"], "b");
        assert!(said.iter().all(|line| line["verdict"] == "reject"));
    }
}
