//! How fast and how lean images are read as evidence, next to a mere reading and hashing of the same files.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use attache_evidence::{Options, RunOptions};
use attache_media::fixtures;
use attache_tests::binary;
use sha2::{Digest, Sha256};

use support::measure::{Caches, race, timed};
use support::report::{Table, at_most, below_megabytes, heading, millis};
use support::{child, machine, quick, size};

fn main() {
    match child::arguments().as_deref() {
        None => bench(),
        Some([what, folder]) if what == "peak" => print_peak(Path::new(folder)),
        Some(other) => panic!("no such child: {other:?}"),
    }
}

fn bench() {
    machine::print_limits();
    heading("evidence: 100 images of 16 x 16");
    small_images();
    heading("evidence: photographs of 12 megapixels");
    photographs();
}

/// What the crate and its commands do, against the least that anybody has to do.
fn small_images() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let files = write(place.path(), size(100, 10), |seed| fixtures::png(16, 16, seed));
    let bundle = place.path().with_extension("bundle");
    let within = |work: &mut dyn FnMut(&Path)| {
        let took = timed(|| work(&bundle));
        fs::remove_dir_all(&bundle).expect("the bundle is ours");
        took
    };
    let options = Options::default();
    let [probed, ran, probe_command, run_command, plain] = race(
        size(15, 1),
        Caches::Warm,
        [
            &mut || timed(|| attache_evidence::probe(place.path(), &options).expect("the images are sound")),
            &mut || {
                within(&mut |bundle| {
                    let mut asked = RunOptions::default();
                    asked.workdir = Some(bundle.to_owned());
                    attache_evidence::run(place.path(), &asked, &options).expect("the images are sound");
                })
            },
            &mut || timed(|| call(&["image", "probe"], place.path(), None)),
            &mut || within(&mut |bundle| call(&["image", "run"], place.path(), Some(bundle))),
            &mut || timed(|| read_and_hash(&files)),
        ],
    );
    let mut table = Table::new(["what", "median", "of reading and hashing once"]);
    for (what, times) in [
        ("probe", &probed),
        ("run: copies, durable and read back", &ran),
        ("attache image probe, a process", &probe_command),
        ("attache image run, a process", &run_command),
        ("read and hash", &plain),
    ] {
        table.row([what.to_owned(), millis(times.median()), times.over(&plain).to_string()]);
    }
    table.print();
    at_most("probe over reading and hashing once", probed.over(&plain), 6.0);
}

fn photographs() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let (width, height) = if quick() { (400, 300) } else { (4000, 3000) };
    write(place.path(), size(100, 4), |seed| photograph(width, height, seed));
    let folder = place.path().to_str().expect("temporary paths are text");
    let [peak, milliseconds] = child::numbers(&["peak", folder])[..] else { panic!("the child prints two numbers") };
    below_megabytes("peak memory of a probe of 100 photographs", peak, 600);
    println!("- it took {milliseconds} ms");
}

/// A colourful JPEG, different for each seed.
fn photograph(width: u32, height: u32, seed: u64) -> Vec<u8> {
    use image::codecs::jpeg::JpegEncoder;
    let pixel = |at: u32| ((at.wrapping_mul(2_654_435_761) >> 27) as u64 + u64::from(at / 4000) + seed) as u8;
    let pixels: Vec<u8> = (0..width * height * 3).map(pixel).collect();
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, 85)
        .encode(&pixels, width, height, image::ExtendedColorType::Rgb8)
        .expect("a picture can be encoded");
    jpeg
}

fn print_peak(folder: &Path) {
    let took = timed(|| attache_evidence::probe(folder, &Options::default()).expect("the photographs are sound"));
    println!("{} {}", child::peak_memory(), took.as_millis());
}

fn write(folder: &Path, count: usize, image: impl Fn(u64) -> Vec<u8>) -> Vec<PathBuf> {
    let file = |number: usize| {
        let bytes = image(number as u64);
        let extension = attache_media::sniff(&bytes).expect("an image").extension();
        let path = folder.join(format!("slide{number}.{extension}"));
        fs::write(&path, bytes).expect("the folder takes files");
        path
    };
    (1..=count).map(file).collect()
}

fn read_and_hash(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|file| hex::encode(Sha256::digest(fs::read(file).expect("the file is there")))).collect()
}

fn call(words: &[&str], input: &Path, bundle: Option<&Path>) {
    let mut command = Command::new(binary());
    command.args(words).arg(input).stdout(Stdio::null());
    if let Some(bundle) = bundle {
        command.arg("--workdir").arg(bundle);
    }
    assert!(command.status().expect("attache starts").success(), "attache {words:?} failed");
}
