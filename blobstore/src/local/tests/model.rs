//! Any sequence of operations and faults, against a map.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::store::Verdict;

/// What may happen to blob `n`.
#[derive(Clone, Copy, Debug)]
enum Op {
    Stage,
    Sync,
    Get,
    GetMany,
    Verify,
    Contains,
    Inventory,
    /// The bytes change in place and keep their length.
    Damage,
    Truncate,
    Lose,
    Age,
    RemoveOld,
    Quarantine,
    /// Another process begins: it knows nothing.
    Reopen,
    /// What is verified from here on is remembered.
    Settle,
}

fn op() -> impl Strategy<Value = Op> {
    use Op::*;
    prop_oneof![
        4 => Just(Stage), 2 => Just(Sync), 4 => Just(Get), 1 => Just(GetMany), 2 => Just(Verify), 1 => Just(Contains),
        1 => Just(Inventory), 2 => Just(Damage), 1 => Just(Truncate), 1 => Just(Lose), 1 => Just(Age),
        1 => Just(RemoveOld), 1 => Just(Quarantine), 1 => Just(Reopen), 1 => Just(Settle),
    ]
}

/// What the file of a blob holds, and whether it is a day old.
#[derive(Clone, Debug)]
struct Held {
    bytes: Vec<u8>,
    old: bool,
}

fn content(n: u8) -> Vec<u8> {
    // Two blobs of one length, and an empty one.
    vec![b'a' + n; [5, 5, 0, 70_000][usize::from(n)]]
}

fn reading(held: Option<&Held>, n: u8) -> &'static str {
    match held {
        None => "missing",
        Some(held) if held.bytes.len() != content(n).len() => "wrong_length",
        Some(held) if held.bytes != content(n) => "damaged",
        Some(_) => "ok",
    }
}

fn run(durability: Durability, cache_bytes: u64, ops: &[(Op, u8)]) {
    let set = |builder: LocalStoreBuilder| builder.durability(durability).cache_bytes(cache_bytes);
    let mut fixture = Fixture::with(set);
    let mut model: HashMap<u8, Held> = HashMap::new();
    let mut asides = 0;
    let day = Duration::from_secs(86_400);
    for &(op, n) in ops {
        let (bytes, id) = (content(n), BlobId::of(&content(n)));
        let good = model.get(&n).is_some_and(|held| held.bytes == bytes);
        match op {
            Op::Stage => {
                let stored = fixture.store.stage_blocking(&bytes).unwrap();
                assert_eq!((stored.id, stored.len, stored.new), (id, bytes.len() as u64, !good));
                model.insert(n, Held { bytes, old: false });
            }
            Op::Sync => fixture.store.sync_blocking().unwrap(),
            Op::Get => {
                let got = fixture.store.get_blocking(id, Some(bytes.len() as u64));
                assert_eq!(got.as_ref().map_or_else(|error| error.code(), |_| "ok"), reading(model.get(&n), n));
                assert!(got.is_err() || got.unwrap() == bytes);
            }
            Op::GetMany => {
                let all = [3, 2, 1, 0].map(|n| (BlobId::of(&content(n)), Some(content(n).len() as u64)));
                let got = fixture.store.0.get_many(&all);
                let codes: Vec<_> = got.iter().map(|got| got.as_ref().map_or_else(|e| e.code(), |_| "ok")).collect();
                assert_eq!(codes, [3, 2, 1, 0].map(|n| reading(model.get(&n), n)));
            }
            Op::Verify => {
                let verdict = match model.get(&n) {
                    None => Verdict::Missing,
                    Some(_) if good => Verdict::Good { len: bytes.len() as u64 },
                    Some(held) => {
                        Verdict::Damaged { found_len: held.bytes.len() as u64, found_digest: BlobId::of(&held.bytes) }
                    }
                };
                assert_eq!(fixture.store.0.verify(id).unwrap(), verdict);
            }
            Op::Contains => {
                let len = model.get(&n).map(|held| held.bytes.len() as u64);
                assert_eq!(fixture.store.0.contains(id).unwrap(), len);
            }
            Op::Inventory => {
                let inventory = fixture.store.0.inventory().unwrap();
                let mut expected: Vec<_> =
                    model.iter().map(|(&n, held)| (BlobId::of(&content(n)), held.bytes.len() as u64)).collect();
                expected.sort_unstable();
                assert_eq!(inventory.blobs.iter().map(|blob| (blob.id, blob.len)).collect::<Vec<_>>(), expected);
                assert_eq!(inventory.foreign.len(), asides);
            }
            Op::Damage | Op::Truncate => {
                if let Some(held) = model.get_mut(&n) {
                    match op {
                        Op::Damage => held.bytes.iter_mut().for_each(|byte| *byte ^= 1),
                        _ => held.bytes.clear(),
                    }
                    fs::write(fixture.path(id), &held.bytes).unwrap();
                    held.old = false;
                }
            }
            Op::Lose => {
                if model.remove(&n).is_some() {
                    fs::remove_file(fixture.path(id)).unwrap();
                }
            }
            Op::Age => {
                if let Some(held) = model.get_mut(&n) {
                    fixture.age(id);
                    held.old = true;
                }
            }
            Op::RemoveOld => {
                let old = model.get(&n).is_some_and(|held| held.old);
                let removed = fixture.store.0.remove_if_older(id, SystemTime::now() - day / 2).unwrap();
                assert_eq!(removed, old);
                if removed {
                    model.remove(&n);
                }
            }
            Op::Quarantine => {
                let code = match model.get(&n) {
                    None => "missing",
                    Some(_) if good => "not_damaged",
                    Some(_) => "ok",
                };
                let outcome = fixture.store.0.quarantine(id);
                assert_eq!(outcome.as_ref().map_or_else(|error| error.code(), |_| "ok"), code);
                if outcome.is_ok() {
                    model.remove(&n);
                    asides += 1;
                }
            }
            Op::Reopen => fixture.store = set(LocalStore::builder(fixture.store.dir())).build(),
            Op::Settle => settle(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn behaves_like_a_map(
        full: bool,
        cache_bytes in prop_oneof![Just(0u64), Just(8), Just(1 << 20)],
        ops in proptest::collection::vec((op(), 0u8..4), 1..40),
    ) {
        run(if full { Durability::Full } else { Durability::Os }, cache_bytes, &ops);
    }
}
