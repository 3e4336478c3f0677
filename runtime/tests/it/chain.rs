//! Each check of the chain, and their order.

use std::os::unix::fs::symlink;

use attache_media::fixtures;
use attache_runtime::{Attachment, LocalStore, MediaType, Settings, Verify};
use futures_util::FutureExt;
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;

use crate::support::{Folder, image, limits, names, outcomes, png, texts};

#[tokio::test]
async fn every_type_is_accepted_by_its_own_magic() {
    let folder = Folder::new();
    let heads: [(&str, &[u8]); 5] = [
        ("image/png", b"\x89PNG\r\n\x1a\n"),
        ("image/jpeg", b"\xff\xd8\xff"),
        ("image/gif", b"GIF87a"),
        ("image/gif", b"GIF89a"),
        ("image/webp", b"RIFF\x04\0\0\0WEBP"),
    ];
    for (media_type, bytes) in heads {
        folder.write("x", bytes);
        let accepted = folder.accept(&Settings::default(), &[Attachment::new("x", media_type)]).await;
        assert_eq!(outcomes(&accepted.trace), [media_type]);
        let sha256 = attache_runtime::BlobId::of(bytes).to_string();
        let len = bytes.len();
        let source = json!({"type": "file", "sha256": sha256, "media_type": media_type, "bytes": len});
        let expected = json!({"type": "image", "source": source});
        assert_eq!(accepted.blocks[0].to_string(), expected.to_string(), "the order of the keys counts too");
        assert_eq!(texts(&accepted), [""; 0]);
    }
}

#[tokio::test]
async fn all_cross_pairs_are_refused_by_the_name_of_what_was_found() {
    let folder = Folder::new();
    for found in MediaType::ALL {
        folder.write("x", image(found));
        for declared in MediaType::ALL.into_iter().filter(|declared| *declared != found) {
            let accepted = folder.accept(&Settings::default(), &[Attachment::new("x", declared.as_str())]).await;
            assert_eq!(outcomes(&accepted.trace), ["content_mismatch"]);
            let note = accepted.notes[0].as_str();
            let expected = format!(
                "attachment 'x' was not attached: declared as {declared}, but the bytes are {found} (content_mismatch)"
            );
            assert_eq!(note, expected);
        }
    }
}

#[tokio::test]
async fn bytes_of_no_allowed_type_are_a_mismatch_that_says_so() {
    let folder = Folder::new();
    for (bytes, found) in [
        (&b"RIFF\x04\0\0\0WAVE"[..], "WAV audio"),
        (b"RIFF", "RIFF"),
        (b"\x89PNG\r\n\x1a", "a damaged PNG"),
        (b"", "empty"),
        (b"<html>not found</html>", "HTML text"),
        (b"{\"success\":true}", "JSON text"),
        (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "SVG text"),
        (b"\0\0\0\x20ftypheic\0\0\0\0mif1heic", "HEIC/HEIF"),
        (b"\0\0\x01\0\x01\0", "ICO"),
        (b"II*\0", "TIFF"),
    ] {
        folder.write("x.png", bytes);
        for attachment in [Attachment::new("x.png", "image/png"), Attachment::by_bytes("x.png")] {
            let accepted = folder.accept(&Settings::default(), &[attachment]).await;
            assert_eq!(outcomes(&accepted.trace), ["content_mismatch"]);
            let note = accepted.notes[0].as_str();
            assert!(note.contains(found), "{note}");
            assert!(note.contains("none of image/png, image/jpeg, image/gif, image/webp"), "{note}");
        }
    }
}

#[tokio::test]
async fn the_type_is_judged_before_the_file_is_looked_for() {
    let folder = Folder::new();
    let accepted = folder.accept(&Settings::default(), &[Attachment::new("absent.svg", "image/svg+xml")]).await;
    assert_eq!(
        texts(&accepted),
        [
            "attachment 'absent.svg' was not attached: the media type \"image/svg+xml\" is none of image/png, image/jpeg, \
          image/gif, image/webp (media_type_not_allowed)"
        ]
    );
}

#[tokio::test]
async fn too_large_names_both_sizes_and_the_limit_is_inclusive() {
    let folder = Folder::new();
    folder.write("big.png", fixtures::png_of_len(2048, 1));
    let entry = [Attachment::new("big.png", "image/png")];
    let accepted = folder.accept(&limits(1024, 5), &entry).await;
    assert_eq!(
        texts(&accepted),
        [
            "attachment 'big.png' was not attached: the file has 2048 bytes, more than the limit of 1024 bytes (too_large)"
        ]
    );
    assert_eq!(outcomes(&folder.accept(&limits(2047, 5), &entry).await.trace), ["too_large"]);
    assert_eq!(outcomes(&folder.accept(&limits(2048, 5), &entry).await.trace), ["image/png"]);
}

#[tokio::test]
async fn what_a_path_may_not_be() {
    let folder = Folder::new();
    std::fs::write(folder.outside("escape.png"), png(1)).unwrap();
    symlink(folder.outside("escape.png"), folder.path().join("link.png")).unwrap();
    symlink(folder.outside(""), folder.path().join("dir-link")).unwrap();
    std::fs::create_dir(folder.path().join("dir.png")).unwrap();
    mkfifoat(CWD, folder.path().join("fifo.png"), Mode::RUSR).unwrap();
    folder.write("file.png", png(2));
    let absolute = folder.path().join("file.png");
    for (path, code) in [
        ("../escape.png", "outside_root"),
        ("a/../file.png", "outside_root"),
        ("/etc/passwd", "outside_root"),
        (".", "outside_root"),
        ("nul\0.png", "outside_root"),
        ("link.png", "symlink_refused"),
        ("dir-link/escape.png", "symlink_refused"),
        ("missing.png", "not_found"),
        ("missing/a.png", "not_found"),
        ("file.png/a.png", "not_found"),
        ("~/file.png", "not_found"),
        ("%66ile.png", "not_found"),
        ("file\\.png", "not_found"),
        ("file://file.png", "not_found"),
        ("C:\\Users\\me\\file.png", "not_found"),
        ("dir.png", "not_a_regular_file"),
        ("fifo.png", "not_a_regular_file"),
        (&"n".repeat(300), "io_error"),
        ("./file.png", "image/png"),
        (absolute.to_str().unwrap(), "image/png"),
    ] {
        let accepted = folder.accept(&Settings::default(), &[Attachment::new(path, "image/png")]).await;
        assert_eq!(outcomes(&accepted.trace), [code], "{path:?}");
    }
}

#[tokio::test]
async fn blank_or_missing_fields_are_malformed_and_later_entries_go_on() {
    let folder = Folder::new();
    folder.write("a.png", png(1));
    let good = json!({"path": "a.png", "media_type": "image/png"});
    let entries = json!([
        {"path": "", "media_type": "image/png"}, {"path": "a.png", "media_type": " "}, {"path": "\n", "media_type": ""},
        {"path": "a.png"}, {"path": 1, "media_type": "image/png"}, {"path": "a.png", "media_type": null}, null, "a.png",
        good,
    ]);
    let entries = Attachment::list_from_value(&entries);
    let accepted = folder.accept(&Settings::default(), &entries).await;
    let mut expected = vec!["malformed"; 8];
    expected.push("image/png");
    assert_eq!(outcomes(&accepted.trace), expected);
    assert_eq!((accepted.notes.len(), accepted.blocks.len()), (8, 1));
    assert_eq!(accepted.notes[3].as_str(), "attachment 'a.png' was not attached: it has no media type (malformed)");
}

#[tokio::test]
async fn one_entry_that_fails_every_check_fails_the_first() {
    let folder = Folder::new();
    let mut entry = json!({"path": " ", "media_type": "text/html"});
    let none = limits(1, 0);
    for (change, code) in [
        (json!({}), "malformed"),
        (json!({"path": "../x"}), "media_type_not_allowed"),
        (json!({"media_type": "image/png"}), "outside_root"),
        (json!({"path": "x"}), "not_found"),
    ] {
        for (key, value) in change.as_object().unwrap() {
            entry[key] = value.clone();
        }
        let entry = [Attachment::from_value(&entry)];
        assert_eq!(outcomes(&folder.accept(&none, &entry).await.trace), ["turn_limit"]);
        assert_eq!(outcomes(&folder.accept(&limits(1, 1), &entry).await.trace), [code]);
    }
    folder.write("x", "<html>");
    let entry = [Attachment::from_value(&entry)];
    assert_eq!(outcomes(&folder.accept(&limits(1, 1), &entry).await.trace), ["too_large"]);
    assert_eq!(outcomes(&folder.accept(&limits(9, 1), &entry).await.trace), ["content_mismatch"]);
}

#[tokio::test]
async fn the_same_file_twice_is_two_blocks_and_one_blob() {
    let folder = Folder::new();
    folder.write("a.png", png(1));
    let context = tempfile::tempdir().unwrap();
    let store = LocalStore::new(context.path().join("blobs"));
    let entries = [Attachment::new("a.png", "image/png"), Attachment::new("./a.png", "image/png")];
    let accepted = folder.accept_into(&store, &Settings::default(), &entries).await;
    assert_eq!(accepted.blocks.len(), 2);
    assert_eq!(accepted.blocks[0], accepted.blocks[1]);
    assert_eq!(names(store.dir()).len(), 1);
}

#[tokio::test]
async fn soundness_is_checked_as_deep_as_asked() {
    let folder = Folder::new();
    let mut cut = png(1);
    cut.truncate(cut.len() / 2);
    // 68 bytes of a PNG that claims 65535 by 65535 pixels.
    let mut huge = fixtures::png(1, 1, 1);
    huge[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    folder.write("cut.png", &cut).write("huge.png", &huge);
    let entries = [Attachment::new("cut.png", "image/png"), Attachment::new("huge.png", "image/png")];
    let magic = folder.accept(&Settings::default(), &entries).await;
    assert_eq!(outcomes(&magic.trace), ["image/png", "image/png"]);
    let structure = Settings::default().with_verify(Verify::Structure);
    let (stub, noise) = (&png(1)[..11], [&png(1)[..8], &[0x5a; 2048]].concat());
    for bytes in [stub, &noise] {
        folder.write("bad.png", bytes);
        let accepted = folder.accept(&structure, &[Attachment::new("bad.png", "image/png")]).await;
        assert_eq!(outcomes(&accepted.trace), ["undecodable"]);
    }
    assert_eq!(outcomes(&folder.accept(&structure, &entries[..1]).await.trace), ["undecodable"]);
    #[cfg(feature = "prepare")]
    {
        let decode = Settings::default().with_verify(Verify::Decode);
        assert_eq!(outcomes(&folder.accept(&decode, &entries).await.trace), ["undecodable", "too_many_pixels"]);
        folder.write("ok.png", png(2));
        let few = decode.with_max_pixels(63);
        let accepted = folder.accept(&few, &[Attachment::new("ok.png", "image/png")]).await;
        assert_eq!(outcomes(&accepted.trace), ["too_many_pixels"]);
    }
}

#[tokio::test]
async fn a_unique_match_of_the_folded_name_is_taken_and_several_are_listed() {
    let folder = Folder::new();
    folder.write("Shot 4.05\u{202f}PM.png", png(1));
    let asked = "Shot 4.05 PM.png";
    let accepted =
        folder.accept(&Settings::default().with_announce(true), &[Attachment::new(asked, "image/png")]).await;
    assert_eq!(outcomes(&accepted.trace), ["image/png"]);
    assert!(accepted.notes[0].starts_with("[image attached: Shot 4.05 PM.png, image/png, "), "the tool's own name");

    folder.write("Shot 4.05\u{a0}PM.png", png(2));
    let accepted = folder.accept(&Settings::default(), &[Attachment::new(asked, "image/png")]).await;
    assert_eq!(outcomes(&accepted.trace), ["not_found"]);
    let note = accepted.notes[0].as_str();
    assert!(note.contains(r#""Shot 4.05\u{a0}PM.png", "Shot 4.05\u{202f}PM.png""#), "{note}");
}

#[test]
fn it_works_without_a_runtime_and_on_any_thread() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let folder = Folder::new();
    folder.write("a.png", png(1));
    let (settings, entries) = (Settings::default(), [Attachment::new("a.png", "image/png")]);
    let accepted = is_send(folder.accept(&settings, &entries)).now_or_never();
    assert_eq!(accepted.unwrap().blocks.len(), 1);
}
