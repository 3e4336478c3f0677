//! Huffman codes and bits of JPEG's entropy-coded data.

use super::block::Stop;
use crate::error::{Reason, fault};

/// Codes of up to this many bits are looked up at once; longer ones are rare.
const QUICK_BITS: u32 = 9;

/// A table of Huffman codes, 1 to 16 bits long.
pub(super) struct Table {
    /// For the next nine bits: how long the code is that they begin with, and its symbol. Length zero: a longer code.
    quick: Vec<(u8, u8)>,
    /// For each length, the first code that is too large for it, as the top of 16 bits, and what takes a code of this
    /// length to the index of its symbol.
    longer: [(u32, i32); 17],
    symbols: Vec<u8>,
}

impl Table {
    /// Reads how many codes there are of each length (16 bytes), then their symbols, and returns what follows them.
    pub(super) fn parse(data: &[u8]) -> Result<(Table, &[u8]), Reason> {
        let Some((counts, rest)) = data.split_first_chunk::<16>() else {
            fault!("a table of codes is cut off");
        };
        let total = counts.iter().map(|&count| usize::from(count)).sum::<usize>();
        if total > 256 || total > rest.len() {
            fault!("a table has {total} codes");
        }
        let (symbols, rest) = rest.split_at(total);
        let mut table = Table { quick: vec![(0, 0); 1 << QUICK_BITS], longer: [(0, 0); 17], symbols: symbols.to_vec() };
        let (mut code, mut index) = (0_u32, 0_usize);
        for (length, &count) in (1_u32..).zip(counts) {
            let first = code;
            code += u32::from(count);
            if code > 1 << length {
                fault!("a table has more codes of {length} bits than there can be");
            }
            table.longer[length as usize] = (code << (16 - length), index as i32 - first as i32);
            for (code, &symbol) in (first..code).zip(&symbols[index..]) {
                table.quicken(code, length, symbol);
            }
            index += usize::from(count);
            code <<= 1;
        }
        Ok((table, rest))
    }

    fn quicken(&mut self, code: u32, length: u32, symbol: u8) {
        if let Some(spare) = QUICK_BITS.checked_sub(length) {
            let start = (code << spare) as usize;
            self.quick[start..start + (1 << spare)].fill((length as u8, symbol));
        }
    }

    /// The length and the symbol of the code that these 16 bits begin with.
    fn find(&self, next: u32) -> Option<(u32, u8)> {
        let (length, symbol) = self.quick[(next >> (16 - QUICK_BITS)) as usize];
        if length != 0 {
            return Some((length.into(), symbol));
        }
        let length = (QUICK_BITS + 1..=16).find(|&length| next < self.longer[length as usize].0)?;
        let index = (next >> (16 - length)) as i32 + self.longer[length as usize].1;
        Some((length, *self.symbols.get(usize::try_from(index).ok()?)?))
    }
}

/// Entropy-coded data as bits, highest first, with stuffed bytes taken out. Never reads into a marker.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Bits { bytes, at, held: 0, count: 0 }
    }

    pub(super) fn code(&mut self, table: &Table) -> Result<u8, Stop> {
        if self.count < 16 {
            self.refill();
        }
        // Near a marker there may be fewer than 16 bits left. Zeros stand in, but a code must not use them.
        let next = if self.count >= 16 { self.held >> (self.count - 16) } else { self.held << (16 - self.count) };
        let found = table.find((next & 0xffff) as u32);
        match found {
            Some((length, symbol)) if length <= self.count => {
                self.count -= length;
                Ok(symbol)
            }
            None if self.count >= 16 => Err(Stop::NoCode),
            _ => Err(Stop::Short),
        }
    }

    /// The next bits, 16 at most.
    pub(super) fn take(&mut self, bits: u32) -> Result<u32, Stop> {
        if self.count < bits {
            self.refill();
            if self.count < bits {
                return Err(Stop::Short);
            }
        }
        self.count -= bits;
        Ok((self.held >> self.count) as u32 & ((1 << bits) - 1))
    }

    /// Drops the bits that fill up the last byte, and reads the restart marker `FF D0` to `FF D7` behind it.
    pub(super) fn restart(&mut self, number: u8) -> bool {
        self.count = 0;
        let marker = self.marker();
        match self.bytes.get(marker) {
            Some(&code) if code == 0xd0 + number => {
                self.at = marker + 1;
                true
            }
            _ => false,
        }
    }

    /// The offset of a marker's code, where a marker is what comes next: after any number of `FF`.
    fn marker(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest.iter().position(|&byte| byte != 0xff) {
            Some(fill) if fill > 0 => self.at + fill,
            _ => self.bytes.len(),
        }
    }

    fn refill(&mut self) {
        while self.count <= 56 {
            match (self.bytes.get(self.at), self.bytes.get(self.at + 1)) {
                (Some(0xff), Some(0)) => self.push(0xff, 2),
                (Some(0xff), _) | (None, _) => return,
                (Some(&byte), _) => self.push(byte, 1),
            }
        }
    }

    fn push(&mut self, byte: u8, width: usize) {
        self.held = self.held << 8 | u64::from(byte);
        self.count += 8;
        self.at += width;
    }
}
