//! Repeatable chance: no clock, no system randomness, whole-number mixing only.

/// A well-mixed number for a place and a seed.
pub(super) fn hash(x: u32, y: u32, seed: u32) -> u32 {
    scramble(x ^ scramble(y ^ scramble(seed)))
}

/// Spreads the bits over 0 (included) to 1 (not included).
pub(super) fn unit(bits: u32) -> f32 {
    // 24 bits are what an `f32` holds exactly.
    (bits >> 8) as f32 / 16_777_216.0
}

/// The `index`-th chance value of a seed, from `low` to `high`.
pub(super) fn between(seed: u32, index: u32, low: f32, high: f32) -> f32 {
    low + (high - low) * unit(hash(index, 0x5eed, seed))
}

/// Soft noise that wanders over about one unit, 0 to 1.
pub(super) fn smooth(x: f32, y: f32, seed: u32) -> f32 {
    let (column, row) = (x.floor(), y.floor());
    let (across, down) = (ease(x - column), ease(y - row));
    let corner = |right: i32, below: i32| {
        let (x, y) = (column as i32 + right, row as i32 + below);
        unit(hash(x as u32, y as u32, seed))
    };
    let top = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * across;
    let bottom = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * across;
    top + (bottom - top) * down
}

/// Soft noise with finer noise on top, 0 to 1: clouds, ridges, hills.
pub(super) fn rough(x: f32, y: f32, seed: u32, octaves: u32) -> f32 {
    let (mut sum, mut total, mut weight, mut scale) = (0.0, 0.0, 1.0, 1.0);
    for octave in 0..octaves {
        sum += weight * smooth(x * scale, y * scale, seed.wrapping_add(octave));
        total += weight;
        weight *= 0.5;
        scale *= 2.0;
    }
    sum / total
}

fn ease(share: f32) -> f32 {
    share * share * (3.0 - 2.0 * share)
}

/// The last step of MurmurHash3: each input bit reaches every output bit.
fn scramble(mut bits: u32) -> u32 {
    bits = bits.wrapping_add(0x9e37_79b9);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}
