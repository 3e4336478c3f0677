//! What the machine itself can do, measured in the same run: no library beats this, and figures are read against it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use base64_simd::{Out, STANDARD};
use sha2::{Digest, Sha256};

use super::measure::{Caches, race, timed};
use super::report::{Table, heading};
use super::size;

/// Prints how fast one core hashes, encodes and copies.
pub(crate) fn print_limits() {
    let len = size(64 << 20, 1 << 20);
    let source = vec![7; len];
    let mut copy = vec![1; len];
    let mut encoded = vec![1; STANDARD.encoded_length(len)];
    let [sha256, base64, plain_base64, used, fresh] = race(
        size(15, 1),
        Caches::Warm,
        [
            &mut || timed(|| Sha256::digest(&source)),
            &mut || timed(|| STANDARD.encode(&source, Out::from_slice(&mut encoded)).len()),
            &mut || timed(|| base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &source)),
            &mut || timed(|| copy.copy_from_slice(&source)),
            &mut || timed(|| source.clone()),
        ],
    );
    heading("The machine: one core, GB/s of input");
    let mut table = Table::new(["work", "GB/s"]);
    for (work, times) in [
        ("sha256 (sha2)", sha256),
        ("base64 into a used buffer (base64-simd)", base64),
        ("base64 into a new string (base64, for comparison)", plain_base64),
        ("memcpy into a used buffer", used),
        ("memcpy into a fresh buffer", fresh),
    ] {
        table.row([work.to_owned(), format!("{:.2}", times.gigabytes_a_second(len))]);
    }
    table.print();
}

/// Reads a file from end to end through one buffer, as fast as one thread can, and returns its length.
pub(crate) fn read_through(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    let mut len = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(len),
            read => len += read as u64,
        }
    }
}
