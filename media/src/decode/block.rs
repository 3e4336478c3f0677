//! The codes of one block of 64 coefficients, in each of the ways that JPEG writes them.

use super::huffman::{Bits, Table};

/// Which coefficients of a block a scan holds.
#[derive(Clone, Copy)]
pub(super) enum Band {
    /// All, as in every image that is not progressive.
    All,
    /// The first coefficient's upper bits.
    First,
    /// One more bit of the first coefficient.
    RefineFirst,
    /// A range of the others: their upper bits, or one more bit of each.
    Rest { first: u8, last: u8, refines: bool },
}

/// Why blocks could not be read on.
pub(super) enum Stop {
    /// A marker, or the end of the bytes, came before the bits that were asked for.
    Short,
    /// Bits that mean nothing.
    NoCode,
    /// A table that is needed has not been defined.
    NoTable,
}

/// Reads one scan's blocks, one after another.
pub(super) struct Blocks<'a> {
    bits: Bits<'a>,
    band: Band,
    /// How many blocks from here on have nothing new in the band.
    ended: u32,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(bits: Bits<'a>, band: Band) -> Self {
        Blocks { bits, band, ended: 0 }
    }

    /// Reads a restart marker, and says whether it was there.
    pub(super) fn restart(&mut self, turn: u8) -> bool {
        self.ended = 0;
        self.bits.restart(turn)
    }

    /// Reads one block. `nonzero` has a bit for each of its coefficients that earlier scans made other than zero.
    pub(super) fn read(&mut self, dc: Option<&Table>, ac: Option<&Table>, nonzero: &mut u64) -> Result<(), Stop> {
        match self.band {
            Band::All => {
                self.first(dc)?;
                self.all_but_first(ac)
            }
            Band::First => self.first(dc),
            Band::RefineFirst => self.bits.take(1).map(drop),
            Band::Rest { first, last, refines: false } => self.range(ac, first, last, nonzero),
            Band::Rest { first, last, refines: true } => self.refine(ac, first, last, nonzero),
        }
    }

    /// A code for the number of bits, then the bits of the difference to the block before.
    fn first(&mut self, dc: Option<&Table>) -> Result<(), Stop> {
        let size = self.bits.code(dc.ok_or(Stop::NoTable)?)?;
        if size > 15 {
            return Err(Stop::NoCode);
        }
        self.bits.take(size.into()).map(drop)
    }

    fn all_but_first(&mut self, ac: Option<&Table>) -> Result<(), Stop> {
        let ac = ac.ok_or(Stop::NoTable)?;
        let mut at = 1;
        while at < 64 {
            match split(self.bits.code(ac)?) {
                (15, 0) => at += 16,
                (_, 0) => break,
                (run, size) => {
                    at += run + 1;
                    if at > 64 {
                        return Err(Stop::NoCode);
                    }
                    self.bits.take(size)?;
                }
            }
        }
        Ok(())
    }

    fn range(&mut self, ac: Option<&Table>, first: u8, last: u8, nonzero: &mut u64) -> Result<(), Stop> {
        if self.ended > 0 {
            self.ended -= 1;
            return Ok(());
        }
        let ac = ac.ok_or(Stop::NoTable)?;
        let (mut at, last) = (u32::from(first), u32::from(last));
        while at <= last {
            match split(self.bits.code(ac)?) {
                (15, 0) => at += 16,
                (run, 0) => {
                    // This block is the first of those that have ended.
                    self.ended = (1 << run) - 1 + self.bits.take(run)?;
                    break;
                }
                (run, size) => {
                    at += run;
                    if at > last {
                        return Err(Stop::NoCode);
                    }
                    self.bits.take(size)?;
                    *nonzero |= 1 << at;
                    at += 1;
                }
            }
        }
        Ok(())
    }

    /// New coefficients come with a sign; each older one that is passed on the way to them takes a bit of correction.
    fn refine(&mut self, ac: Option<&Table>, first: u8, last: u8, nonzero: &mut u64) -> Result<(), Stop> {
        let (mut at, last) = (u32::from(first), u32::from(last));
        if self.ended == 0 {
            let ac = ac.ok_or(Stop::NoTable)?;
            while at <= last {
                let (run, size) = split(self.bits.code(ac)?);
                if size > 1 {
                    return Err(Stop::NoCode);
                }
                if size == 0 && run < 15 {
                    self.ended = (1 << run) + self.bits.take(run)?;
                    break;
                }
                self.bits.take(size)?;
                at = self.pass(run, at, last, *nonzero)?;
                if size == 1 {
                    if at > last {
                        return Err(Stop::NoCode);
                    }
                    *nonzero |= 1 << at;
                }
                at += 1;
            }
        }
        if self.ended > 0 {
            self.ended -= 1;
            self.corrections(at, last, *nonzero)?;
        }
        Ok(())
    }

    /// The bits of correction for what is not zero from `at` to `last`. Counted, not visited one by one: hostile images
    /// are made of little else than blocks that have ended.
    fn corrections(&mut self, at: u32, last: u32, nonzero: u64) -> Result<(), Stop> {
        if at > last {
            return Ok(());
        }
        let mut bits = (nonzero << (63 - last) >> (63 - last) >> at).count_ones();
        while bits > 0 {
            let some = bits.min(16);
            self.bits.take(some)?;
            bits -= some;
        }
        Ok(())
    }

    /// Passes `zeros` coefficients that are zero, and the others among them, and stops at the next that is zero.
    fn pass(&mut self, mut zeros: u32, mut at: u32, last: u32, nonzero: u64) -> Result<u32, Stop> {
        while at <= last {
            if nonzero >> at & 1 == 1 {
                self.bits.take(1)?;
            } else if zeros == 0 {
                break;
            } else {
                zeros -= 1;
            }
            at += 1;
        }
        Ok(at)
    }
}

/// A symbol's two halves: how many zeros to pass, how many bits follow.
fn split(symbol: u8) -> (u32, u32) {
    (u32::from(symbol >> 4), u32::from(symbol & 15))
}
