//! Lines beside the messages: kept in order, read by kind, never sent, never a reason not to open a log.

use attache_blobstore::{BlobId, SweepOptions};
use attache_conversation::{Aside, Item, NewAside, RenderOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Fixture, user};

fn aside(kind: &str, fields: Value) -> Item<'static> {
    Item::Aside(NewAside::new(kind, fields).unwrap())
}

fn found(asides: &[Aside]) -> Vec<(Option<usize>, &Value)> {
    asides.iter().map(|aside| (aside.message, &aside.value["n"])).collect()
}

#[test]
fn they_are_found_by_kind_behind_their_message_now_and_after_a_restart() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let (one, two) = (user("one").to_string(), user("two").to_string());
    let items = [
        aside("a", json!({"n": 1})),
        Item::Message(&one),
        aside("a", json!({"n": 2})),
        aside("b", json!({"n": 3})),
        Item::Message(&two),
        aside("a", json!({"n": 4})),
    ];
    let appended = fixture.run(conversation.append_items(items)).unwrap();
    assert_eq!(appended.appended, 2);
    fixture.run(conversation.append_items([aside("b", json!({"n": 5}))])).unwrap();
    let check = |view: &attache_conversation::View| {
        let asides = |kind| fixture.run(view.asides(kind)).unwrap();
        assert_eq!(found(&asides("a")), [(None, &json!(1)), (Some(0), &json!(2)), (Some(1), &json!(4))]);
        assert_eq!(found(&asides("b")), [(Some(0), &json!(3)), (Some(1), &json!(5))]);
        assert_eq!(asides("c"), []);
        let messages = fixture.run(view.render(RenderOptions::newest(5))).unwrap();
        assert_eq!(messages, [user("one"), user("two")]);
        assert_eq!((view.len(), view.log_report().is_clean()), (2, true));
    };
    check(&conversation);
    drop(conversation);
    check(&fixture.view());
    check(&fixture.open());
}

#[test]
fn positions_hold_across_the_ranges_in_which_a_log_is_read() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let long = user("x".repeat(300 << 10)).to_string();
    for n in 0..6 {
        fixture.run(conversation.append_items([Item::Message(&long), aside("a", json!({"n": n}))])).unwrap();
    }
    drop(conversation);
    let asides = fixture.run(fixture.view().asides("a")).unwrap();
    let expected: Vec<_> = (0..6).map(|n| (Some(n), json!(n))).collect();
    assert_eq!(found(&asides), expected.iter().map(|(at, n)| (*at, n)).collect::<Vec<_>>());
}

#[test]
fn a_tail_torn_off_behind_one_costs_nothing_but_itself() {
    let fixture = Fixture::new();
    let one = user("one").to_string();
    let items = || [Item::Message(&one), aside("a", json!({"n": 1}))];
    fixture.run(fixture.open().append_items(items())).unwrap();
    let whole = fixture.log();
    fixture.run(fixture.open().append_items(items())).unwrap();
    let twice = fixture.log();
    for cut in whole.len()..twice.len() {
        fixture.write_log(&twice[..cut]);
        let conversation = fixture.open();
        let asides = fixture.run(conversation.asides("a")).unwrap();
        assert_eq!(found(&asides)[0], (Some(0), &json!(1)), "cut at {cut}");
        assert!(asides.len() == 1 || cut + 1 == twice.len());
        assert!(conversation.len() >= asides.len(), "one without its message, cut at {cut}");
    }
}

#[test]
fn a_blob_that_only_such_a_line_names_is_spared() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let (named, other) = (b"named".to_vec(), b"other".to_vec());
    for bytes in [&named, &other] {
        fixture.run(conversation.store().put(bytes.clone().into())).unwrap();
    }
    let items = [aside("a", json!({"image": {"sha256": BlobId::of(&named).to_string()}}))];
    fixture.run(conversation.append_items(items)).unwrap();
    drop(conversation);
    let mut conversation = fixture.open();
    let mut options = SweepOptions::default();
    (options.grace, options.dry_run) = (std::time::Duration::ZERO, false);
    fixture.run(conversation.sweep(options)).unwrap();
    assert!(fixture.blob(BlobId::of(&named)).exists());
    assert!(!fixture.blob(BlobId::of(&other)).exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_stands_there_the_log_opens_and_its_messages_are_read(
        kind in "[a-z.]{0,8}|meta|observed|header|withhold|\\PC{0,6}",
        rest in prop_oneof!["[\\[\\]{}\":,0-9a-z\\\\ ]{0,40}", "\\PC{0,40}"],
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let fixture = Fixture::new();
        let mut log = format!("{}\n", user("before")).into_bytes();
        log.extend(format!("{{\"type\":{},{rest}}}\n", json!(format!("attache.{kind}"))).into_bytes());
        log.extend(format!("{{\"type\":\"attache.{kind}").into_bytes());
        log.extend(bytes.iter().filter(|byte| **byte != b'\n'));
        log.extend(format!("\n{}\n", user("after")).into_bytes());
        fixture.write_log(&log);
        let mut conversation = fixture.open();
        let messages = fixture.run(conversation.render(RenderOptions::newest(5))).unwrap();
        prop_assert!(messages.contains(&user("before")) && messages.contains(&user("after")));
        for kind in [&*kind, "meta", "observed"] {
            fixture.run(conversation.asides(kind)).unwrap();
        }
        fixture.run(conversation.append_items([aside("a", json!({"n": 1}))])).unwrap();
        prop_assert_eq!(fixture.run(conversation.asides("a")).unwrap().last().map(|aside| aside.value["n"].clone()), Some(json!(1)));
    }
}
