use super::*;
use attache_media::fixtures::png;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

struct Case {
    place: tempfile::TempDir,
}

impl Case {
    fn new(images: u64) -> Self {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("in")).unwrap();
        for number in 1..=images {
            let image = png(4, number as u32, number);
            std::fs::write(place.path().join(format!("in/slide{number}.png")), image).unwrap();
        }
        Self { place }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn run(&self, fault: Fault<'_>) -> Result<Manifest, Box<RunFailure>> {
        let asked = RunOptions { workdir: Some(self.at("out")), reproducible: false };
        run_with(&self.at("in"), &asked, &Options::default(), None, fault).map(|(manifest, _)| manifest)
    }

    fn copies(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.at("out/images")) else { return Vec::new() };
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn has(&self, name: &str) -> bool {
        self.at("out").join(name).exists()
    }
}

fn full() -> io::Error {
    io::Error::from(io::ErrorKind::StorageFull)
}

#[test]
fn a_bundle() {
    let case = Case::new(11);
    let manifest = case.run(&|_| Ok(())).unwrap();
    let paths: Vec<_> = manifest.images.iter().map(|image| &*image.path).collect();
    assert_eq!(paths[0], "images/001-slide1.png");
    assert_eq!(paths[10], "images/011-slide11.png");
    assert_eq!(manifest.stages_completed, Stage::Recovery.before());
    for image in &manifest.images {
        let copy = std::fs::read(image.file.as_ref().unwrap()).unwrap();
        assert!(copy == std::fs::read(case.at("in").join(&image.source_name)).unwrap(), "{}", image.path);
    }
    let written = std::fs::read(case.at("out/manifest.json")).unwrap();
    assert_eq!(written, to_text(&manifest).unwrap());
    assert_eq!(serde_json::from_slice::<Manifest>(&written).unwrap(), manifest);
    let mut names: Vec<_> =
        std::fs::read_dir(case.at("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".agent", "images", "manifest.json"], "nothing temporary is left");
    let pointer: serde_json::Value =
        serde_json::from_slice(&std::fs::read(case.at("out/.agent/latest-read.json")).unwrap()).unwrap();
    assert_eq!(pointer["manifest_sha256"], hex::encode(Sha256::digest(&written)));
    assert!(crate::verify(&case.at("out"), &Options::default()).unwrap().ok);
}

#[test]
fn copies_that_fail() {
    // (images, the one that fails, copies left, images listed)
    for (images, failing, left, listed) in [(2, 1, 0, 0), (2, 2, 1, 1), (30, 7, 6, 6)] {
        let case = Case::new(images);
        let failure = case.run(&|step| if step == Step::Copy(failing) { Err(full()) } else { Ok(()) }).unwrap_err();
        assert_eq!(failure.error.kind(), ErrorKind::Operation);
        assert!(failure.error.to_string().starts_with("image copy failed: "), "{}", failure.error);
        assert_eq!((failure.failed_stage, &failure.stages_completed), (Stage::Copy, &Stage::Copy.before()));
        assert_eq!((case.copies().len(), case.has(".agent")), (left, false));
        assert_eq!(failure.manifest_written, listed > 0);
        assert_eq!(case.has("manifest.json"), listed > 0);
        if let Some(data) = failure.data {
            assert_eq!((data.status, data.item_count, data.images.len()), (Status::Partial, listed, listed));
            assert_eq!(data.failed_stage, Some(Stage::Copy));
            assert_eq!(data.warnings.last().unwrap().code, "read_incomplete");
            assert!(crate::verify(&case.at("out"), &Options::default()).unwrap().ok, "what is listed is whole");
        } else {
            assert_eq!(listed, 0);
        }
    }
}

#[test]
fn originals_and_copies_that_change() {
    let case = Case::new(3);
    let swap = |step| match step {
        Step::Copy(2) => std::fs::write(case.at("in/slide2.png"), png(4, 2, 99)),
        _ => Ok(()),
    };
    let failure = case.run(&swap).unwrap_err();
    assert_eq!(failure.error.kind(), ErrorKind::Input);
    assert!(failure.error.to_string().contains("changed after inspection"), "{}", failure.error);
    assert_eq!(failure.data.unwrap().item_count, 1);

    let case = Case::new(1);
    let swap = |step| match step {
        Step::Check(1) => std::fs::write(case.at("out/images/001-slide1.png"), "other bytes"),
        _ => Ok(()),
    };
    let failure = case.run(&swap).unwrap_err();
    assert!(failure.error.to_string().contains("changed after inspection"), "{}", failure.error);
    assert_eq!((failure.data, case.has("manifest.json")), (None, false));
    assert_eq!(case.copies().len(), 1, "the bad copy stays, to be looked at");
}

#[test]
fn manifests_that_cannot_be_written() {
    let case = Case::new(2);
    let failure = case.run(&|step| if step == Step::Manifest { Err(full()) } else { Ok(()) }).unwrap_err();
    assert!(failure.error.to_string().starts_with("manifest write failed: "), "{}", failure.error);
    assert_eq!((failure.failed_stage, failure.manifest_written), (Stage::Manifest, true));
    assert_eq!(failure.data.unwrap().status, Status::Partial);

    let case = Case::new(2);
    let broken = |step| if matches!(step, Step::Manifest | Step::PartialManifest) { Err(full()) } else { Ok(()) };
    let failure = case.run(&broken).unwrap_err();
    assert_eq!((failure.manifest_written, case.has("manifest.json")), (false, false));
    assert_eq!(failure.warnings.last().unwrap().code, "partial_manifest_unavailable");

    // Somebody else's manifest is not replaced.
    let case = Case::new(1);
    let theirs = |step| match step {
        Step::Manifest => std::fs::write(case.at("out/manifest.json"), "theirs"),
        _ => Ok(()),
    };
    let failure = case.run(&theirs).unwrap_err();
    assert!(!failure.manifest_written);
    assert_eq!(std::fs::read(case.at("out/manifest.json")).unwrap(), b"theirs");
}

#[test]
fn a_pointer_that_cannot_be_written_leaves_the_manifest_complete() {
    let case = Case::new(1);
    let there = |step| match step {
        Step::Recovery => std::fs::create_dir(case.at("out/.agent")),
        _ => Ok(()),
    };
    let failure = case.run(&there).unwrap_err();
    assert_eq!((failure.failed_stage, failure.error.kind()), (Stage::Recovery, ErrorKind::Unexpected));
    assert!(failure.manifest_written);
    assert_eq!(failure.data.unwrap().status, Status::Complete);
    assert_eq!(failure.warnings.last().unwrap().code, "read_incomplete");
}

#[test]
fn work_folders() {
    let case = Case::new(1);
    for (make, expect) in [
        ((|path| symlink("in", path)) as fn(&Path) -> io::Result<()>, "workdir cannot be a symlink: "),
        (|path| symlink("nowhere", path), "workdir cannot be a symlink: "),
        (|path| std::fs::write(path, ""), "workdir already exists and is not empty: "),
        (|path| std::fs::create_dir_all(path.join(".hidden")), "workdir already exists and is not empty: "),
    ] {
        let out = case.at("out");
        make(&out).unwrap();
        let failure = case.run(&|_| Ok(())).unwrap_err();
        assert!(failure.error.to_string().starts_with(expect), "{}", failure.error);
        assert_eq!((failure.failed_stage, failure.error.kind()), (Stage::Workdir, ErrorKind::Input));
        std::fs::remove_file(&out).or_else(|_| std::fs::remove_dir_all(&out)).unwrap();
    }
    std::fs::create_dir(case.at("out")).unwrap();
    case.run(&|_| Ok(())).expect("an empty folder is fine");

    let asked = RunOptions { workdir: Some(case.at("in/slide1.png/sub")), reproducible: false };
    let failure = run(&case.at("in"), &asked, &Options::default()).unwrap_err();
    assert_eq!(failure.error.kind(), ErrorKind::Operation);
    let temporary = run(&case.at("in"), &RunOptions::default(), &Options::default()).unwrap().workdir.unwrap();
    assert!(temporary.contains("/attache-images-"), "{temporary}");
    std::fs::remove_dir_all(temporary).unwrap();
}

#[test]
fn invalid_input_makes_no_work_folder() {
    let case = Case::new(1);
    std::fs::write(case.at("in/bad.png"), "garbage").unwrap();
    let failure = case.run(&|_| Ok(())).unwrap_err();
    assert_eq!((failure.failed_stage, failure.stages_completed.len()), (Stage::Probe, 0));
    assert!(!case.at("out").exists());

    let case = Case::new(101);
    let failure = case.run(&|_| Ok(())).unwrap_err();
    assert_eq!((failure.failed_stage, failure.stages_completed), (Stage::Validate, vec![Stage::Probe]));
    assert!(failure.error.to_string().contains("more than 100 items"), "{}", failure.error);
    assert!(!case.at("out").exists());
    let found = crate::probe(&case.at("in"), &Options::default()).unwrap();
    assert_eq!((found.item_count, found.within_limit), (101, false));
}

#[test]
fn reproducible_bundles_are_equal() {
    let case = Case::new(3);
    let read = |out: &str| {
        let asked = RunOptions { workdir: Some(case.at(out)), reproducible: true };
        run(&case.at("in"), &asked, &Options::default()).unwrap();
        ["manifest.json", ".agent/latest-read.json"]
            .map(|name| std::fs::read_to_string(case.at(out).join(name)).unwrap())
    };
    let (one, two) = (read("one"), read("two"));
    assert_eq!(one, two);
    assert!(!one.concat().contains(case.place.path().to_str().unwrap()));
    assert!(crate::verify(&case.at("one"), &Options::default()).unwrap().ok);
}

#[test]
fn what_differs_is_named() {
    let case = Case::new(3);
    case.run(&|_| Ok(())).unwrap();
    let differences = || {
        let verified = crate::verify(&case.at("out"), &Options::default()).unwrap();
        assert_eq!(verified.ok, verified.differences.is_empty());
        verified.differences.into_iter().map(|difference| difference.path).collect::<Vec<_>>()
    };
    assert_eq!(differences(), [""; 0]);
    let moved = case.at("elsewhere");
    std::fs::rename(case.at("out"), &moved).unwrap();
    assert!(crate::verify(&moved, &Options::default()).unwrap().ok, "a bundle may move");
    std::fs::rename(&moved, case.at("out")).unwrap();

    let second = case.at("out/images/002-slide2.png");
    let whole = std::fs::read(&second).unwrap();
    let mut bytes = whole.clone();
    bytes[60] ^= 1;
    std::fs::write(&second, &bytes).unwrap();
    assert_eq!(differences(), ["images/002-slide2.png"]);
    std::fs::remove_file(&second).unwrap();
    symlink("001-slide1.png", &second).unwrap();
    assert_eq!(differences(), ["images/002-slide2.png"], "no link is followed");
    std::fs::remove_file(&second).unwrap();
    std::fs::write(&second, whole).unwrap();
    std::fs::write(case.at("out/images/extra"), "").unwrap();
    assert_eq!(differences(), ["images/extra"]);
    std::fs::remove_file(case.at("out/images/extra")).unwrap();
    let manifest = case.at("out/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"height\": 2,", "\"height\": 3,")).unwrap();
    assert_eq!(differences(), ["images/002-slide2.png", ".agent/latest-read.json"]);
    std::fs::write(&manifest, text.replace("images/003", "../images/003")).unwrap();
    assert!(differences().contains(&"../images/003-slide3.png".to_owned()), "nothing outside is read");
    std::fs::write(&manifest, &text[..100]).unwrap();
    assert!(crate::verify(&case.at("out"), &Options::default()).is_err());
}

#[test]
fn no_complete_bundle_passes_for_a_partial_one() {
    let case = Case::new(3);
    let whole = case.run(&|_| Ok(())).unwrap();
    let differences = |manifest: &Manifest| {
        std::fs::write(case.at("out/manifest.json"), to_text(manifest).unwrap()).unwrap();
        let verified = crate::verify(&case.at("out"), &Options::default()).unwrap();
        verified.differences.into_iter().map(|difference| difference.path).collect::<Vec<_>>()
    };
    let pointer = ".agent/latest-read.json";
    let mut partial = Manifest { status: Status::Partial, ..whole.clone() };
    assert_eq!(differences(&partial), ["manifest.json", pointer]);
    partial.failed_stage = Some(Stage::Copy);
    assert_eq!(differences(&partial), [pointer]);
    std::fs::remove_dir_all(case.at("out/.agent")).unwrap();
    assert_eq!(differences(&partial), [""; 0], "nothing is left to tell it by");
    // The copy that failed may be there, and nothing behind it.
    partial.item_count = 2;
    partial.images.pop();
    assert_eq!(differences(&partial), [""; 0]);
    partial.item_count = 1;
    partial.images.pop();
    assert_eq!(differences(&partial), ["images/003-slide3.png"]);
    let whole = Manifest { failed_stage: Some(Stage::Copy), ..whole };
    assert_eq!(differences(&whole), ["manifest.json", pointer]);
}

#[test]
fn a_pointer_says_what_it_should() {
    let case = Case::new(1);
    case.run(&|_| Ok(())).unwrap();
    let path = case.at("out/.agent/latest-read.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to) in [("\"success\"", "\"failed\""), ("\"schema_version\": 1", "\"schema_version\": 2")] {
        assert!(text.contains(from));
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let verified = crate::verify(&case.at("out"), &Options::default()).unwrap();
        assert_eq!(verified.differences.len(), 1, "{to}");
        assert_eq!(verified.differences[0].path, ".agent/latest-read.json");
    }
}

#[test]
fn a_workdir_that_cannot_be_made_is_named() {
    let case = Case::new(1);
    let asked = RunOptions { workdir: Some(case.at("in/slide1.png/out")), reproducible: false };
    let failure = run(&case.at("in"), &asked, &Options::default()).unwrap_err();
    assert_eq!((failure.error.kind(), failure.failed_stage), (ErrorKind::Operation, Stage::Workdir));
    let expect = format!("workdir creation failed: {}: ", case.at("in/slide1.png/out").display());
    assert!(failure.error.to_string().starts_with(&expect), "{}", failure.error);
}

#[test]
fn names_of_copies() {
    assert_eq!(copy::copy_name(7, "slide.PNG"), "007-slide.PNG");
    let long = format!("{}.png", "ä".repeat(125));
    let short = copy::copy_name(100, &long);
    assert!(short.len() <= 255 && short.len() >= 254 && short.ends_with(".png"), "{}", short.len());
}

#[test]
fn times() {
    let at = |seconds| utc(UNIX_EPOCH + std::time::Duration::from_secs(seconds));
    for (seconds, expect) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_709_251_199, "2024-02-29T23:59:59Z"),
        (1_796_083_200, "2026-12-01T00:00:00Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
    ] {
        assert_eq!(at(seconds), expect);
    }
}
