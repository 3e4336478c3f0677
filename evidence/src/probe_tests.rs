use super::*;
use attache_media::fixtures::png;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::AtomicBool;

/// A writer replaces two images one after the other, over and over, so that the first is at most one round ahead.
#[test]
fn a_folder_that_changes_is_an_error_or_one_moment() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("in");
    fs::create_dir(&folder).unwrap();
    let publish = |name: &str, round: u32| {
        fs::write(place.path().join("new"), png(round, 1, 1)).unwrap();
        fs::rename(place.path().join("new"), folder.join(name)).unwrap();
    };
    publish("1.png", 1);
    publish("2.png", 1);
    let stop = AtomicBool::new(false);
    let (mut moments, mut errors) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 2.. {
                publish("1.png", round);
                publish("2.png", round);
                if stop.load(Ordering::Relaxed) || round > 3000 {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_micros(u64::from(round % 7) * 100));
            }
        });
        for _ in 0..300 {
            match probe(&folder, &Options::default()) {
                Ok(found) => {
                    moments += 1;
                    let [first, second] = [&found.images[0], &found.images[1]].map(|image| image.width);
                    assert!(first == second || first == second + 1, "no moment had {first} and {second}");
                }
                Err(error) => {
                    errors += 1;
                    assert!(error.to_string().contains(" changed while it was read: "), "{error}");
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(moments + errors == 300);
    publish("2.png", 1);
    assert_eq!(probe(&folder, &Options::default()).unwrap().images[1].width, 1, "at rest it is read");
}

/// A long write sets the file's time when it begins, and a read may meet it half done.
#[test]
fn a_file_that_is_written_over_is_never_a_mixture() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.png");
    // What follows the picture is nothing to a decoder, so that only the hash tells.
    let states = [1, 2].map(|fill| [png(2, 2, 1), vec![fill; 4 << 20]].concat());
    let known = states.each_ref().map(|bytes| hex::encode(Sha256::digest(bytes)));
    fs::write(&path, &states[0]).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            for round in 1_u64.. {
                file.write_all_at(&states[round as usize % 2], 0).unwrap();
                if stop.load(Ordering::Relaxed) || round > 1_000 {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(round * 7 % 20));
            }
        });
        for _ in 0..30 {
            match probe(&path, &Options::default()) {
                Ok(found) => {
                    let hash = &found.images[0].provenance["importer_verified"]["sha256"];
                    assert!(known.iter().any(|known| hash == known), "a mixture");
                }
                Err(error) => assert!(error.to_string().contains(" changed while it was read: "), "{error}"),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_came_went_or_changed_is_named() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().canonicalize().unwrap();
    for name in ["a.png", "b.png"] {
        fs::write(path.join(name), png(2, 2, 1)).unwrap();
    }
    fs::write(path.join("log.txt"), "x").unwrap();
    let found = input::resolve(&path, None).unwrap();
    let before = Before::of(&found).unwrap();
    let seen = look_at_all(&found.folder, &before.images, &Options::default()).unwrap();
    let now = || before.is_still_so(&found, &seen).map_err(|error| error.to_string());
    assert_eq!(now(), Ok(()));
    fs::write(path.join("log.txt"), "what is not read may change").unwrap();
    assert_eq!(now(), Ok(()));
    fs::write(path.join("c.png"), "").unwrap();
    assert!(now().unwrap_err().contains("c.png is new"));
    fs::remove_file(path.join("c.png")).unwrap();
    assert_eq!(now(), Ok(()));
    fs::write(path.join("b.png"), png(2, 2, 1)).unwrap();
    assert!(now().unwrap_err().contains("b.png is not what it was"), "even by the same bytes");
    fs::remove_file(path.join("b.png")).unwrap();
    assert!(now().unwrap_err().contains("b.png is gone"));
    fs::create_dir(path.join("b.png")).unwrap();
    assert!(now().unwrap_err().contains("b.png is something else"));
}

#[test]
fn a_large_hostile_folder() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..10_000 {
        fs::write(place.path().join(format!("{number}.txt")), "").unwrap();
    }
    fs::write(place.path().join("only.png"), png(2, 2, 1)).unwrap();
    std::os::unix::fs::symlink("..", place.path().join("loop.png")).unwrap();
    let found = probe(place.path(), &Options::default()).unwrap();
    assert_eq!((found.item_count, found.skipped.len()), (1, 10_001));
    assert_eq!((&*found.skipped[2].name, &*found.skipped[10].name), ("2.txt", "10.txt"));
}

#[test]
fn pixels_are_budgeted_and_unreadable_files_named() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.png");
    fs::write(&path, png(10, 10, 1)).unwrap();
    assert!(probe(&path, &Options::default().with_max_pixels(100)).is_ok());
    let error = probe(&path, &Options::default().with_max_pixels(99)).unwrap_err().to_string();
    assert!(error.starts_with("image too large: a.png: 10x10"), "{error}");
    let done = AtomicU64::new(0);
    let report = |now, total| {
        assert!(now <= total);
        done.store(now, Ordering::Relaxed);
    };
    let found = probe(&path, &Options::default().with_progress(&report)).unwrap();
    assert_eq!(done.into_inner(), found.images[0].bytes);
}
