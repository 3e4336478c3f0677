//! Walks through JSON text: checks it and tells where its parts stand, without building a value.
//!
//! A log is gigabytes of strings, and opening it means finding the ends of them all. `serde_json` takes a byte or eight
//! at a time for that, this walk 64. What is JSON is the same for both; a test compares them.

use wide::i8x16;

/// Why a text cannot be walked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NotJson,
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`].
    TooDeep,
}

/// Deepest nesting of arrays and objects in a message. `serde_json` reads 128 levels, a request body adds a few.
pub(crate) const MAX_DEPTH: usize = 120;

/// Checks that the text is one JSON value.
pub(crate) fn check(text: &str) -> Result<(), Fault> {
    Walker::through(text, Walker::value)
}

/// Calls `each` with the key and the value of every member, both as they stand in the text, which has to be an object.
/// Says whether the string `image` may stand anywhere in it, which only an image's block needs to have.
pub(crate) fn members<'a>(text: &'a str, mut each: impl FnMut(&'a str, &'a str)) -> Result<bool, Fault> {
    Walker::through(text, |walker| {
        walker.object(&mut each)?;
        Ok(walker.image)
    })
}

/// Calls `each` with every element, as it stands in the text, which has to be an array.
pub(crate) fn elements<'a>(text: &'a str, mut each: impl FnMut(&'a str)) -> Result<(), Fault> {
    Walker::through(text, |walker| walker.array(&mut each))
}

/// How many bytes of a string are looked at together.
const BLOCK: usize = 64;

struct Walker<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Where the block begins whose marks are at hand.
    block: usize,
    marks: Marks,
    /// The string `image` was passed, or an escape for one of its letters, which are all `\u006?`.
    image: bool,
}

impl<'a> Walker<'a> {
    fn through<T>(text: &'a str, walk: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut walker = Self { text, at: 0, depth: 0, block: usize::MAX, marks: Marks::default(), image: false };
        walker.space();
        let found = walk(&mut walker)?;
        walker.space();
        if walker.at == text.len() { Ok(found) } else { Err(Fault::NotJson) }
    }

    fn value(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.object(&mut |_, _| {}),
            Some(b'[') => self.array(&mut |_| {}),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(Fault::NotJson),
        }
    }

    fn object(&mut self, each: &mut impl FnMut(&'a str, &'a str)) -> Result<(), Fault> {
        self.list(b'{', b'}', |walker| {
            let key = walker.at;
            walker.string()?;
            let key = &walker.text[key..walker.at];
            walker.space();
            walker.expect(b':')?;
            walker.space();
            let value = walker.at;
            walker.value()?;
            each(key, &walker.text[value..walker.at]);
            Ok(())
        })
    }

    fn array(&mut self, each: &mut impl FnMut(&'a str)) -> Result<(), Fault> {
        self.list(b'[', b']', |walker| {
            let element = walker.at;
            walker.value()?;
            each(&walker.text[element..walker.at]);
            Ok(())
        })
    }

    /// Items between brackets, with commas between them.
    fn list(&mut self, open: u8, close: u8, mut item: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.expect(open)?;
        if self.depth == MAX_DEPTH {
            return Err(Fault::TooDeep);
        }
        self.depth += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
        } else {
            loop {
                item(self)?;
                self.space();
                match self.next() {
                    Some(b',') => self.space(),
                    Some(byte) if byte == close => break,
                    _ => return Err(Fault::NotJson),
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        self.expect(b'"')?;
        let mut at = self.at;
        // One if the block before ended with a backslash that escapes the first byte of this one.
        let mut carried = 0;
        loop {
            let (block, from) = (at / BLOCK * BLOCK, u64::MAX << (at % BLOCK));
            let marks = self.marks(block);
            let escapes = escaping(marks.backslashes & from, carried);
            // Neither what escapes nor what is escaped ends the string; whether it may be escaped is looked at below.
            let ends = marks.stops & from & !(escapes | escapes << 1 | carried);
            self.escapes(block, escapes & below_lowest(ends))?;
            carried = escapes >> (BLOCK - 1);
            if ends != 0 {
                at = block + ends.trailing_zeros() as usize;
                break;
            }
            at = block + BLOCK;
        }
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'"') {
            return Err(Fault::NotJson);
        }
        self.image |= bytes[self.at..at] == *b"image";
        self.at = at + 1;
        Ok(())
    }

    /// Looks at the escapes that begin at the bits of the block.
    fn escapes(&mut self, block: usize, mut begins: u64) -> Result<(), Fault> {
        let bytes = self.text.as_bytes();
        // Nearly always none is left: but for the last byte of the block, whose escape goes on in the next.
        begins &= !(self.marks.common_escapes >> 1);
        while begins != 0 {
            let at = block + begins.trailing_zeros() as usize;
            begins &= begins - 1;
            if !bytes.get(at + 1).is_some_and(|byte| SHORT_ESCAPE[usize::from(*byte)]) {
                self.long_escape(at)?;
            }
        }
        Ok(())
    }

    fn long_escape(&mut self, at: usize) -> Result<(), Fault> {
        match self.text.as_bytes()[at + 1..] {
            [b'u', ref digits @ ..] if digits.len() >= 4 && digits[..4].iter().all(u8::is_ascii_hexdigit) => {
                self.image |= digits.starts_with(b"006");
                Ok(())
            }
            _ => Err(Fault::NotJson),
        }
    }

    /// What stands in the block that begins at `block`.
    fn marks(&mut self, block: usize) -> Marks {
        if block != self.block {
            (self.block, self.marks) = (block, Marks::of(&self.text.as_bytes()[block..]));
        }
        self.marks
    }

    fn number(&mut self) -> Result<(), Fault> {
        self.pass_if(|byte| byte == b'-');
        if !self.pass_if(|byte| byte == b'0') {
            self.digits()?;
        }
        if self.pass_if(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.pass_if(|byte| matches!(byte, b'e' | b'E')) {
            self.pass_if(|byte| matches!(byte, b'+' | b'-'));
            self.digits()?;
        }
        Ok(())
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<(), Fault> {
        let begin = self.at;
        while self.pass_if(|byte| byte.is_ascii_digit()) {}
        if self.at > begin { Ok(()) } else { Err(Fault::NotJson) }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        if found { Ok(()) } else { Err(Fault::NotJson) }
    }

    fn space(&mut self) {
        while self.pass_if(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r')) {}
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Fault> {
        if self.pass_if(|byte| byte == wanted) { Ok(()) } else { Err(Fault::NotJson) }
    }

    fn pass_if(&mut self, wanted: impl FnOnce(u8) -> bool) -> bool {
        let found = self.peek().is_some_and(wanted);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }
}

/// Whether a byte after a backslash makes an escape with it, as all but `u` do that may stand there.
const SHORT_ESCAPE: [bool; 256] = {
    let (mut short, mut at) = ([false; 256], 0);
    while at < b"\"\\/bfnrt".len() {
        short[b"\"\\/bfnrt"[at] as usize] = true;
        at += 1;
    }
    short
};

/// What matters for the end of a string in a block of bytes, one bit for each of them.
#[derive(Clone, Copy, Default)]
struct Marks {
    /// What cannot simply stand in a string: quotes, backslashes and control characters. Where the text ends in the block,
    /// its end stops too.
    stops: u64,
    backslashes: u64,
    /// What is mostly escaped: quotes, backslashes, and the letters of line ends and tabulators.
    common_escapes: u64,
}

impl Marks {
    fn of(bytes: &[u8]) -> Self {
        match bytes.first_chunk() {
            Some(block) => Self::of_block(block),
            None => {
                let mut block = [0; BLOCK];
                block[..bytes.len()].copy_from_slice(bytes);
                Self::of_block(&block)
            }
        }
    }

    fn of_block(block: &[u8; BLOCK]) -> Self {
        let mut marks = Self::default();
        let lanes = block.as_chunks::<16>().0.iter().map(|lane| i8x16::new(lane.map(u8::cast_signed)));
        for (at, bytes) in lanes.enumerate() {
            let backslashes = bytes.simd_eq(all(b'\\'));
            // As signed numbers the bytes from 128 on are below the space too, but not above -1.
            let controls = bytes.simd_lt(all(b' ')) & bytes.simd_gt(i8x16::splat(-1));
            let quotes = bytes.simd_eq(all(b'"')) | backslashes;
            let letters = bytes.simd_eq(all(b'n')) | bytes.simd_eq(all(b't'));
            marks.stops |= bits(quotes | controls, at);
            marks.backslashes |= bits(backslashes, at);
            marks.common_escapes |= bits(quotes | letters, at);
        }
        marks
    }
}

fn all(byte: u8) -> i8x16 {
    i8x16::splat(byte.cast_signed())
}

/// The flags of the lane number `at`, one bit each.
fn bits(flags: i8x16, at: usize) -> u64 {
    u64::from(flags.to_bitmask()) << (16 * at)
}

/// Of the backslashes those that escape the byte after them: in every run the first, the third and so on. `carried` is one
/// if the first byte is escaped by what stood before it, and is then no such backslash.
///
/// A run that begins at an even place has them at the even places, and the other way round. Adding the first bit of a run to the run
/// carries out of it, which tells the runs of either kind apart without looking at each.
fn escaping(backslashes: u64, carried: u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let runs = backslashes & !carried;
    let begins = runs & !(runs << 1);
    let even_begins = begins & EVEN;
    // What is left of the runs once those that begin at an even place are carried away.
    let odd_runs = runs & runs.wrapping_add(even_begins);
    let even_runs = runs & !odd_runs;
    (even_runs & EVEN) | (odd_runs & !EVEN)
}

/// The bits below the lowest one that is set; all of them if none is.
fn below_lowest(bits: u64) -> u64 {
    bits.wrapping_sub(1) & !bits
}

#[cfg(test)]
mod tests;
