//! Every blob that a log's text names, wherever and however.
//!
//! The index knows the records that a render pass sees. A sweep wants more caution: a line of another tool, or a record
//! at a depth that nobody renders, may name a blob too, and a name is 64 hex digits on their own.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use attache_blobstore::BlobId;

/// How much of the log is looked at together.
const WINDOW: usize = 1 << 20;
/// The digits of a name.
const DIGITS: usize = 64;

/// Reads the first `len` bytes of the log and collects what they name.
pub(crate) fn mentions(log: &File, len: u64) -> io::Result<HashSet<BlobId>> {
    let mut found = HashSet::new();
    let mut window = vec![0; WINDOW];
    // The digits at the end of the window before, which may go on in this one; never more than can still be a name.
    let mut run: Vec<u8> = Vec::with_capacity(DIGITS + 1);
    let mut at = 0;
    while at < len {
        let size = usize::try_from(len - at).map_or(WINDOW, |rest| rest.min(WINDOW));
        log.read_exact_at(&mut window[..size], at)?;
        collect(&window[..size], &mut run, &mut found);
        at += size as u64;
    }
    end_run(&mut run, &mut found);
    Ok(found)
}

fn collect(text: &[u8], run: &mut Vec<u8>, found: &mut HashSet<BlobId>) {
    for byte in text {
        if !matches!(byte, b'0'..=b'9' | b'a'..=b'f') {
            end_run(run, found);
        } else if run.len() <= DIGITS {
            run.push(*byte);
        }
    }
}

fn end_run(run: &mut Vec<u8>, found: &mut HashSet<BlobId>) {
    if run.len() == DIGITS {
        found.extend(std::str::from_utf8(run).ok().and_then(BlobId::parse));
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn names_are_found_anywhere_also_across_windows_and_only_whole_ones() {
        let [a, b, c, d] = [b"a", b"b", b"c", b"d"].map(|bytes| BlobId::of(bytes));
        let mut text =
            format!("{{\"type\":\"x\",\"blob\":\"{a}\"}}\n{{\"path\":\"blobs/{b}\"}} {c}0 {}", &c.to_string()[1..]);
        text.push_str(&" ".repeat(WINDOW - text.len() - 30));
        text.push_str(&d.to_string());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        assert_eq!(mentions(&file, text.len() as u64).unwrap(), HashSet::from([a, b, d]));
        assert_eq!(mentions(&file, text.len() as u64 - 1).unwrap(), HashSet::from([a, b]));
        assert_eq!(mentions(&file, 0).unwrap(), HashSet::new());
    }
}
