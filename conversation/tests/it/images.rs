//! Images of a stored conversation: lifting, withholding, sweeping, checking.

use std::time::Duration;

use attache_blobstore::{BlobId, CheckOptions, SweepOptions};
use attache_conversation::{ConversationErrorKind, ImageState, RenderOptions};
use attache_media::fixtures;
use serde_json::{Value, json};

use super::{Fixture, inline, user};

fn states(fixture: &Fixture, keep: usize) -> Vec<&'static str> {
    let view = fixture.view();
    let images = fixture.run(view.images(RenderOptions::newest(keep)));
    images.iter().map(|image| image.state.as_str()).collect()
}

#[test]
fn inline_bytes_never_enter_the_log() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let pngs = [fixtures::png_of_len(40_000, 1), fixtures::png_of_len(40_000, 2)];
    let message =
        user(vec![inline(&pngs[0]), json!({"type": "tool_result", "content": [inline(&pngs[1]), inline(&pngs[0])]})]);
    let report = fixture.run(conversation.append(&message)).unwrap();
    assert_eq!((report.appended, report.lifted, report.notes.len()), (1, 3, 0));
    assert!(fixture.log().len() < 1000);
    for png in &pngs {
        assert_eq!(&std::fs::read(fixture.blob(BlobId::of(png))).unwrap(), png);
    }
    let rendered = fixture.run(conversation.render(RenderOptions::newest(3))).unwrap();
    assert_eq!(rendered, [message]);
}

/// Text cut in the middle of a character and numbers beyond every double are in order by JSON's grammar, and other
/// writers' logs hold them. An image beside them is an image.
#[test]
fn records_beside_what_no_value_can_hold_are_records() {
    let png = fixtures::png(2, 2, 1);
    let id = BlobId::of(&png);
    let source = format!(r#"{{"type":"file","sha256":"{id}","media_type":"image/png","bytes":{}}}"#, png.len());
    let malformed = format!(r#"{{"type":"file","sha256":"{id}","media_type":"\ud83d","bytes":1e400}}"#);
    let no_name = r#"{"type":"file","sha256":"\ude00","bytes":5}"#;
    for (block, state) in [
        (format!(r#"{{"type":"image","source":{source}}}"#), "shown"),
        (format!(r#"{{"type":"image","alt":"\ud83d","source":{source}}}"#), "shown"),
        (format!(r#"{{"type":"image","\ud83d":-1e400,"source":{source}}}"#), "shown"),
        (format!(r#"{{"type":"image","source":{malformed}}}"#), "missing"),
        (format!(r#"{{"type":"image","source":{no_name}}}"#), "missing"),
    ] {
        let fixture = Fixture::new();
        fixture.run(fixture.open().append(&user(vec![inline(&png)]))).unwrap();
        fixture.write_log(format!("{{\"role\":\"user\",\"\\udfff\":1e999,\"content\":[{block}]}}\n").as_bytes());
        assert_eq!(states(&fixture, 5), [state], "{block}");
        // No half-formed record reaches a driver, in either form of the render pass.
        let view = fixture.view();
        let messages = fixture.run(view.render(RenderOptions::newest(5))).unwrap();
        let body = fixture.run(view.render_body(RenderOptions::newest(5), Default::default())).unwrap();
        let expected = if state == "shown" { "base64" } else { "[image unavailable: " };
        assert!(messages[0]["content"][0].to_string().contains(expected), "{messages:?}");
        assert!(String::from_utf8(body).unwrap().contains(expected), "{block}");
        if block.contains(&id.to_string()) {
            let swept = fixture.run(fixture.open().sweep(SweepOptions::default().with_grace(Duration::ZERO))).unwrap();
            assert_eq!((swept.deleted.len(), swept.kept), (0, 1), "{block}");
        }
    }
}

#[test]
fn withholding_lasts_over_a_restart_until_it_is_ended() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let png = fixtures::png(2, 2, 1);
    let id = BlobId::of(&png);
    fixture.run(conversation.append(&user(vec![inline(&png)]))).unwrap();
    let entry = fixture.run(conversation.withhold(id, "refused by the service")).unwrap();
    assert_eq!(
        entry,
        json!({"type": "attache.withhold", "sha256": id.to_string(), "reason": "refused by the service"})
    );
    drop(conversation);
    let mut conversation = fixture.open();
    let images = fixture.run(conversation.images(RenderOptions::newest(5)));
    assert_eq!((images[0].state, images[0].reason.as_deref()), (ImageState::Withheld, Some("refused by the service")));
    let line = format!("[image withheld: image/png, {} bytes, sha256 {id}; refused by the service]", png.len());
    let rendered = fixture.run(conversation.render(RenderOptions::newest(5))).unwrap();
    assert_eq!(rendered, [user(vec![json!({"type": "text", "text": line})])]);
    fixture.run(conversation.restore(id)).unwrap();
    drop(conversation);
    assert_eq!(states(&fixture, 5), ["shown"]);
}

#[test]
fn images_go_by_any_unique_beginning_of_their_sha256() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let pngs: Vec<_> = (0..40).map(|seed| fixtures::png(1, 1, seed)).collect();
    fixture.run(conversation.append(&user(pngs.iter().map(|png| inline(png)).collect::<Vec<_>>()))).unwrap();
    let id = BlobId::of(&pngs[7]);
    let text = id.to_string();
    assert_eq!(conversation.find_image(&text).unwrap(), id);
    assert_eq!(conversation.find_image(&text.to_uppercase()[..20]).unwrap(), id);
    for unknown in ["", "zz", &BlobId::of(b"no").to_string(), "../../etc/passwd"] {
        let error = conversation.find_image(unknown).unwrap_err();
        assert_eq!(error.kind(), ConversationErrorKind::NoSuchImage);
    }
    // Forty hashes cannot all differ in their first digit.
    let shared = (0..16)
        .map(|digit| format!("{digit:x}"))
        .find(|digit| pngs.iter().filter(|png| BlobId::of(png).to_string().starts_with(digit)).count() > 1);
    let error = conversation.find_image(&shared.unwrap()).unwrap_err();
    assert!(error.to_string().contains("images' sha256: "), "{error}");
}

#[test]
fn states_tell_what_a_render_does() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let pngs: Vec<_> = (0..4).map(|seed| fixtures::png(2, 2, seed)).collect();
    for png in &pngs {
        fixture.run(conversation.append(&user(vec![inline(png)]))).unwrap();
    }
    std::fs::remove_file(fixture.blob(BlobId::of(&pngs[2]))).unwrap();
    fixture.run(conversation.withhold(BlobId::of(&pngs[1]), "")).unwrap();
    assert_eq!(states(&fixture, 3), ["aged", "withheld", "missing", "shown"]);
}

#[test]
fn a_blob_damaged_between_two_renders_of_one_process_is_noticed() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let png = fixtures::png(2, 2, 1);
    let id = BlobId::of(&png);
    fixture.run(conversation.append(&user(vec![inline(&png)]))).unwrap();
    let text = |rendered: &[Value]| rendered[0]["content"][0]["text"].as_str().map(str::to_owned);
    let options = RenderOptions::newest(1);
    assert_eq!(text(&fixture.run(conversation.render(options)).unwrap()), None);
    let mut other = png.clone();
    *other.last_mut().unwrap() ^= 1;
    std::fs::write(fixture.blob(id), &other).unwrap();
    assert!(text(&fixture.run(conversation.render(options)).unwrap()).unwrap().starts_with("[image unavailable"));
    // The same bytes appended again heal the blob.
    fixture.run(conversation.append(&user(vec![inline(&png)]))).unwrap();
    assert_eq!(std::fs::read(fixture.blob(id)).unwrap(), png);
}

#[test]
fn a_sweep_takes_only_what_no_record_names() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let pngs: Vec<_> = (0..3).map(|seed| fixtures::png(2, 2, seed)).collect();
    fixture.run(conversation.append(&user(vec![inline(&pngs[0]), inline(&pngs[1])]))).unwrap();
    fixture.run(conversation.withhold(BlobId::of(&pngs[1]), "x")).unwrap();
    let orphan = fixture.run(conversation.store().put(pngs[2].clone().into())).unwrap().id;
    let sweep = |grace: u64, dry_run: bool| {
        SweepOptions::default().with_grace(Duration::from_secs(grace)).with_dry_run(dry_run)
    };
    let report = fixture.run(conversation.sweep(sweep(3600, false))).unwrap();
    assert_eq!((report.deleted, report.kept), (vec![], 3));
    let report = fixture.run(conversation.sweep(sweep(0, true))).unwrap();
    assert_eq!(report.deleted, [orphan]);
    assert!(fixture.blob(orphan).exists());
    let report = fixture.run(conversation.sweep(sweep(0, false))).unwrap();
    assert_eq!((report.deleted, report.kept, report.bytes), (vec![orphan], 2, pngs[2].len() as u64));
    assert!(!fixture.blob(orphan).exists() && fixture.blob(BlobId::of(&pngs[1])).exists());
}

#[test]
fn a_sweep_spares_what_other_tools_lines_and_unusual_records_name() {
    let fixture = Fixture::new();
    let pngs: Vec<_> = (0..3).map(|seed| fixtures::png(2, 2, seed)).collect();
    let store = fixture.open().store().clone();
    let [a, b, c] = [0, 1, 2].map(|at| fixture.run(store.put(pngs[at].clone().into())).unwrap().id);
    let absent = BlobId::of(b"absent");
    fixture.write_log(format!("{{\"type\":\"summary\",\"images\":[\"{a}\",\"{absent}\"]}}\n{{\"role\":\"user\",\"content\":{{\"sha256\":\"{b}\"}}}}\n").as_bytes());
    let options = SweepOptions::default().with_grace(Duration::ZERO).with_dry_run(false);
    let report = fixture.run(fixture.open().sweep(options)).unwrap();
    assert_eq!((report.deleted, report.kept), (vec![c], 2));
}

#[test]
fn a_sweep_fails_closed_when_a_line_cannot_be_read_or_a_named_blob_is_gone() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let pngs: Vec<_> = (0..2).map(|seed| fixtures::png(2, 2, seed)).collect();
    fixture.run(conversation.append(&user(vec![inline(&pngs[0])]))).unwrap();
    let orphan = fixture.run(conversation.store().put(pngs[1].clone().into())).unwrap().id;
    let now = || SweepOptions::default().with_grace(Duration::ZERO).with_dry_run(false);
    drop(conversation);
    let good = fixture.log();
    let mut damaged = good.clone();
    damaged.extend_from_slice(b"{\"role\":\n");
    fixture.write_log(&damaged);
    let error = fixture.run(fixture.open().sweep(now())).unwrap_err();
    assert_eq!(error.kind(), ConversationErrorKind::Damaged);
    assert!(error.to_string().contains("line 3"), "{error}");
    fixture.write_log(&good);
    std::fs::remove_file(fixture.blob(BlobId::of(&pngs[0]))).unwrap();
    let error = fixture.run(fixture.open().sweep(now())).unwrap_err();
    assert_eq!(error.kind(), ConversationErrorKind::Blob);
    assert!(fixture.blob(orphan).exists());
}

#[test]
fn a_check_finds_what_is_missing_damaged_orphaned_and_foreign() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let pngs: Vec<_> = (0..4).map(|seed| fixtures::png(2, 2, seed)).collect();
    fixture.run(conversation.append(&user(pngs[..3].iter().map(|png| inline(png)).collect::<Vec<_>>()))).unwrap();
    fixture.run(conversation.store().put(pngs[3].clone().into())).unwrap();
    let check = || fixture.run(conversation.check(CheckOptions::default(), |_| ())).unwrap();
    assert!(check().missing.is_empty() && check().damaged.is_empty());
    std::fs::remove_file(fixture.blob(BlobId::of(&pngs[0]))).unwrap();
    std::fs::write(fixture.blob(BlobId::of(&pngs[1])), b"x").unwrap();
    std::fs::write(fixture.dir.path().join("blobs/notes.txt"), b"x").unwrap();
    let report = check();
    assert_eq!(report.missing.iter().map(|found| found.id).collect::<Vec<_>>(), [BlobId::of(&pngs[0])]);
    assert_eq!(report.damaged.iter().map(|found| found.id).collect::<Vec<_>>(), [BlobId::of(&pngs[1])]);
    assert_eq!(report.orphaned.iter().map(|found| found.id).collect::<Vec<_>>(), [BlobId::of(&pngs[3])]);
    assert!(report.foreign[0].path.ends_with("blobs/notes.txt"));
}
