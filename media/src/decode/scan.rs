//! Reads all entropy-coded data of a JPEG without making pixels of it, to learn whether every block is there.
//!
//! Decoders paint over data that is missing. Here each code is read and each block counted: a scan that meets a marker
//! before its last block, a restart that is missing or out of turn, and a component that never appears are errors. Data
//! left over at a scan's end is not, since some cameras write it.

use super::block::{Band, Blocks, Stop};
use super::huffman::{Bits, Table};
use super::tables::DHT;
use crate::container::{JpegStep, JpegWalk};
use crate::error::{Reason, fault};

/// Scans of one image at most. Encoders write about ten; each costs a pass over all blocks, however few bytes it has.
pub(super) const MAX_SCANS: usize = 100;

/// Checks an image whose container has been walked.
pub(super) fn check(bytes: &[u8]) -> Result<(), Reason> {
    let mut walk = JpegWalk::new(bytes);
    let mut tables = Tables::default();
    let mut frame = None;
    let mut scans = 0;
    loop {
        match walk.next()? {
            JpegStep::Frame(code, data) => frame = Some(Frame::parse(code, data)?),
            JpegStep::Segment(DHT, data) => tables.define(data)?,
            JpegStep::Segment(DRI, data) => tables.restart = restart_interval(data)?,
            JpegStep::Segment(..) => {}
            JpegStep::Scan(data, start) => {
                scans += 1;
                if scans > MAX_SCANS {
                    fault!("it has more than {MAX_SCANS} scans");
                }
                let frame = frame.as_mut().ok_or("its first scan comes before its frame header")?;
                Scan::parse(data, frame)?.read(frame, &tables, Bits::new(bytes, start), scans)?;
            }
            JpegStep::End => break,
        }
    }
    match frame.iter().flat_map(|frame| &frame.components).position(|component| !component.seen) {
        Some(index) => fault!("no scan holds its component {}", index + 1),
        None => Ok(()),
    }
}

const DRI: u8 = 0xdd;

#[derive(Default)]
struct Tables {
    dc: [Option<Table>; 4],
    ac: [Option<Table>; 4],
    /// Units between two restarts, zero for none.
    restart: usize,
}

impl Tables {
    fn define(&mut self, mut data: &[u8]) -> Result<(), Reason> {
        while let Some((&head, rest)) = data.split_first() {
            let (table, rest) = Table::parse(rest)?;
            let number = usize::from(head & 15);
            let slot = match head >> 4 {
                0 => self.dc.get_mut(number),
                1 => self.ac.get_mut(number),
                _ => None,
            };
            *slot.ok_or_else(|| format!("a table of codes has number {head}, which does not exist"))? = Some(table);
            data = rest;
        }
        Ok(())
    }
}

fn restart_interval(data: &[u8]) -> Result<usize, Reason> {
    match data {
        &[high, low] => Ok(usize::from(u16::from_be_bytes([high, low]))),
        _ => fault!("its restart interval has {} bytes", data.len()),
    }
}

struct Frame {
    progressive: bool,
    /// Interleaved units across and down, each of eight pixels times the largest sampling factor.
    across: usize,
    down: usize,
    components: Vec<Component>,
}

struct Component {
    id: u8,
    /// Blocks of one interleaved unit, across and down.
    horizontal: usize,
    vertical: usize,
    /// Blocks across and down that hold pixels, without those that only fill up a unit.
    across: usize,
    down: usize,
    /// Whether a scan has held its first coefficients.
    seen: bool,
    /// In a progressive image, one bit for each coefficient of each block: is it known not to be zero?
    nonzero: Vec<u64>,
}

impl Frame {
    fn parse(code: u8, data: &[u8]) -> Result<Frame, Reason> {
        let Some((&[depth, h0, h1, w0, w1, count], components)) = data.split_first_chunk() else {
            fault!("its frame header has {} bytes", data.len());
        };
        if !matches!(code, 0xc0..=0xc2) || depth != 8 {
            fault!("it is of a rare kind (SOF{} with {depth} bits) that is not decoded", code & 15);
        }
        let mut components: Vec<Component> = components.chunks_exact(3).map(Component::parse).collect();
        let sampled =
            |component: &Component| (1..=4).contains(&component.horizontal) && (1..=4).contains(&component.vertical);
        if !(1..=4).contains(&count) || !components.iter().all(sampled) {
            fault!("its frame header has {count} components, or one that is sampled in no way there is");
        }
        let (width, height) = (usize::from(u16::from_be_bytes([w0, w1])), usize::from(u16::from_be_bytes([h0, h1])));
        let horizontal = components.iter().map(|component| component.horizontal).max().unwrap_or(1);
        let vertical = components.iter().map(|component| component.vertical).max().unwrap_or(1);
        let (across, down) = (width.div_ceil(8 * horizontal), height.div_ceil(8 * vertical));
        let progressive = code == 0xc2;
        for component in &mut components {
            component.across = (width * component.horizontal).div_ceil(8 * horizontal);
            component.down = (height * component.vertical).div_ceil(8 * vertical);
            if progressive {
                component.nonzero = vec![0; across * component.horizontal * down * component.vertical];
            }
        }
        Ok(Frame { progressive, across, down, components })
    }
}

impl Component {
    /// Three bytes: number, sampling factors (four bits each), table of quantisation steps.
    fn parse(data: &[u8]) -> Component {
        Component {
            id: data[0],
            horizontal: usize::from(data[1] >> 4),
            vertical: usize::from(data[1] & 15),
            across: 0,
            down: 0,
            seen: false,
            nonzero: Vec::new(),
        }
    }
}

struct Scan {
    parts: Vec<Part>,
    band: Band,
}

/// A component's part in a scan.
struct Part {
    /// Which of the frame's components it is.
    index: usize,
    /// The numbers of its tables.
    dc: usize,
    ac: usize,
}

impl Scan {
    /// Number of components (1), number and tables of each (2), band's first and last coefficient (1 each), bits (1).
    fn parse(data: &[u8], frame: &mut Frame) -> Result<Scan, Reason> {
        let count = usize::from(data.first().copied().unwrap_or(0));
        if !(1..=4).contains(&count) || data.len() != 4 + 2 * count {
            fault!("a scan header has {} bytes for {count} components", data.len());
        }
        let (components, band) = data[1..].split_at(2 * count);
        let (first, last, refines) = (band[0], band[1], band[2] >> 4 != 0);
        let band = match (frame.progressive, first) {
            // The band's limits mean nothing here, and some writers leave them zero.
            (false, _) => Band::All,
            (true, 0) if last == 0 && refines => Band::RefineFirst,
            (true, 0) if last == 0 => Band::First,
            (true, 1..=63) if count == 1 && first <= last && last <= 63 => Band::Rest { first, last, refines },
            _ => fault!("a scan holds coefficients {first} to {last} of {count} components, which cannot be"),
        };
        let mut parts = Vec::with_capacity(count);
        for pair in components.chunks_exact(2) {
            let Some(index) = frame.components.iter().position(|component| component.id == pair[0]) else {
                fault!("a scan holds component {}, which the frame header does not have", pair[0]);
            };
            frame.components[index].seen |= matches!(band, Band::All | Band::First);
            parts.push(Part { index, dc: usize::from(pair[1] >> 4), ac: usize::from(pair[1] & 15) });
        }
        Ok(Scan { parts, band })
    }

    /// Reads every unit. `number` is the scan's, counted from 1.
    fn read(&self, frame: &mut Frame, tables: &Tables, bits: Bits<'_>, number: usize) -> Result<(), Reason> {
        let mut blocks = Blocks::new(bits, self.band);
        let (across, down) = self.units(frame);
        let total = across * down;
        for unit in 0..total {
            if tables.restart != 0 && unit != 0 && unit % tables.restart == 0 {
                let turn = (unit / tables.restart - 1) % 8;
                if !blocks.restart(turn as u8) {
                    fault!("restart marker {turn} is missing in scan {number}, after {unit} of {total} units");
                }
            }
            for part in &self.parts {
                part.read(&mut blocks, frame, tables, (unit % across, unit / across), self.parts.len() == 1).map_err(
                    |stop| match stop {
                        Stop::Short => format!("the data of scan {number} ends after {unit} of {total} units"),
                        Stop::NoCode => format!("the data of scan {number} is damaged at unit {unit} of {total}"),
                        Stop::NoTable => format!("scan {number} needs a table of codes that is not there"),
                    },
                )?;
            }
        }
        Ok(())
    }

    /// A scan of one component has a unit for each block that holds pixels; one of several has interleaved units.
    fn units(&self, frame: &Frame) -> (usize, usize) {
        match &self.parts[..] {
            [part] => (frame.components[part.index].across, frame.components[part.index].down),
            _ => (frame.across, frame.down),
        }
    }
}

impl Part {
    fn read(
        &self,
        blocks: &mut Blocks<'_>,
        frame: &mut Frame,
        tables: &Tables,
        (x, y): (usize, usize),
        alone: bool,
    ) -> Result<(), Stop> {
        let (dc, ac) = (table(&tables.dc, self.dc), table(&tables.ac, self.ac));
        let component = &mut frame.components[self.index];
        let (horizontal, vertical) = if alone { (1, 1) } else { (component.horizontal, component.vertical) };
        let stride = frame.across * component.horizontal;
        for row in y * vertical..(y + 1) * vertical {
            for column in x * horizontal..(x + 1) * horizontal {
                // Images that are not progressive keep no such record; theirs is thrown away.
                let mut none = 0;
                let nonzero = component.nonzero.get_mut(row * stride + column).unwrap_or(&mut none);
                blocks.read(dc, ac, nonzero)?;
            }
        }
        Ok(())
    }
}

fn table(tables: &[Option<Table>; 4], number: usize) -> Option<&Table> {
    tables.get(number)?.as_ref()
}
