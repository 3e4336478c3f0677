//! Walks through JSON text: checks it and tells where its parts stand, without building a value.
//!
//! A log is gigabytes of strings, and opening it means finding the ends of them all. `serde_json` takes a byte or eight
//! at a time for that, this walk 64. What is JSON is the same for both; a test compares them.

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
    /// The number of the block whose stops are at hand.
    block: usize,
    stops: u64,
    /// The string `image` was passed, or an escape for one of its letters, which are all `\u006?`.
    image: bool,
}

impl<'a> Walker<'a> {
    fn through<T>(text: &'a str, walk: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut walker = Self { text, at: 0, depth: 0, block: usize::MAX, stops: 0, image: false };
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
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            let stops = self.stops_from(at);
            if stops == 0 {
                at = (at / BLOCK + 1) * BLOCK;
                continue;
            }
            at += stops.trailing_zeros() as usize;
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    let len = escape_len(&bytes[at..]).ok_or(Fault::NotJson)?;
                    self.image |= len > 2 && bytes[at..].starts_with(b"\\u006");
                    at += len;
                }
                _ => return Err(Fault::NotJson),
            }
        }
        self.image |= bytes[self.at..at] == *b"image";
        self.at = at + 1;
        Ok(())
    }

    /// Where the rest of the block has stops, from byte `at` on.
    fn stops_from(&mut self, at: usize) -> u64 {
        let block = at / BLOCK;
        if block != self.block {
            (self.block, self.stops) = (block, stops_in(&self.text.as_bytes()[block * BLOCK..]));
        }
        self.stops >> (at % BLOCK)
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

/// How long the escape is that the text begins with.
fn escape_len(text: &[u8]) -> Option<usize> {
    match text {
        [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => Some(2),
        [_, b'u', digits @ ..] => digits.first_chunk::<4>()?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// One bit for each of the first 64 bytes that cannot simply stand in a string: quotes, backslashes and control
/// characters. Where there are fewer bytes, the end stops too.
fn stops_in(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(block) => stops(block),
        None => {
            let mut block = [0; BLOCK];
            block[..bytes.len()].copy_from_slice(bytes);
            stops(&block)
        }
    }
}

/// Written so that compilers turn it into vector instructions: 64 comparisons at once, then eight flags a multiplication
/// are gathered into a byte.
fn stops(block: &[u8; BLOCK]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let flags = block.map(|byte| u8::from(byte < b' ') | u8::from(byte == b'"') | u8::from(byte == b'\\'));
    let mut stops = 0;
    for (at, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        stops |= (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << (8 * at);
    }
    stops
}

#[cfg(test)]
mod tests;
