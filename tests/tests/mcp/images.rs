//! Images: shown, kept, recorded, asked for again.

use attache_tests::{attache, pictures, sha256};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

use crate::client::{Client, Place, code, text};

fn look(client: &mut Client, name: &str, bytes: &[u8]) -> Value {
    let result = client.call("read_image", json!({"file_path": name}));
    assert!(text(&result).contains("<type>image</type>"), "{result}");
    assert_eq!(result["content"][1]["data"], BASE64_STANDARD.encode(bytes));
    assert_eq!(result["structuredContent"]["image"]["sha256"], sha256(bytes));
    result
}

fn listed(client: &mut Client) -> Vec<(String, u64)> {
    let answer = client.request("resources/list", json!({}));
    let resources = answer["result"]["resources"].as_array().unwrap();
    resources.iter().map(|it| (it["uri"].as_str().unwrap().to_owned(), it["size"].as_u64().unwrap())).collect()
}

fn uri(bytes: &[u8]) -> String {
    format!("attache://blobs/{}", sha256(bytes))
}

#[test]
fn an_image_is_shown_and_is_a_resource_from_then_on() {
    let place = Place::new();
    let (png, jpeg) = (pictures::png(5, 4, 1), pictures::jpeg());
    std::fs::write(place.work("a.png"), &png).unwrap();
    std::fs::write(place.work("b.jpg"), &jpeg).unwrap();
    let mut client = place.serve(&[]);
    assert_eq!(listed(&mut client), []);
    let shown = look(&mut client, "a.png", &png);
    assert_eq!(shown["content"][1]["mimeType"], "image/png");
    look(&mut client, "b.jpg", &jpeg);
    look(&mut client, "a.png", &png);
    assert_eq!(listed(&mut client), [(uri(&jpeg), jpeg.len() as u64), (uri(&png), png.len() as u64)]);
    // The file may be gone by then.
    std::fs::remove_file(place.work("b.jpg")).unwrap();
    let read = client.request("resources/read", json!({"uri": uri(&jpeg)}));
    let contents = &read["result"]["contents"][0];
    assert_eq!(
        (&contents["blob"], &contents["mimeType"]),
        (&json!(BASE64_STANDARD.encode(&jpeg)), &json!("image/jpeg"))
    );
    let unknown = client.request("resources/read", json!({"uri": uri(b"never seen")}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("no resource"), "{unknown}");
}

#[test]
fn what_is_no_image_is_refused_with_a_code() {
    let place = Place::new();
    std::fs::write(place.work("text.png"), "no image").unwrap();
    std::fs::write(place.work("jpeg.png"), pictures::jpeg()).unwrap();
    std::fs::write(place.work("cut.png"), &pictures::png(40, 40, 0)[..60]).unwrap();
    let mut client = place.serve(&[]);
    for (name, expected) in [
        ("text.png", "content_mismatch"),
        ("jpeg.png", "content_mismatch"),
        ("cut.png", "undecodable"),
        ("a.svg", "extension_not_allowed"),
        ("gone.png", "FS_NOT_FOUND"),
    ] {
        assert_eq!(code(&client.call("read_image", json!({"file_path": name}))), expected, "{name}");
    }
    assert_eq!(listed(&mut client), []);
}

#[test]
fn a_client_whose_model_takes_no_images_is_told_so() {
    let place = Place::new();
    std::fs::write(place.work("a.png"), pictures::png(2, 2, 0)).unwrap();
    let mut client = place.serve(&["--no-images"]);
    let refused = client.call("read_image", json!({"file_path": "a.png"}));
    assert_eq!(code(&refused), "model_takes_no_images");
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("does not declare image input"), "{refused}");
}

#[test]
fn with_a_conversation_images_are_stored_and_recorded_beside_other_writers() {
    let place = Place::new();
    let (first, second) = (pictures::png(5, 4, 1), pictures::png(5, 4, 2));
    std::fs::write(place.work("a.png"), &first).unwrap();
    std::fs::write(place.work("b.png"), &second).unwrap();
    let mut client = place.serve(&["--conversation", "ctx"]);
    assert_eq!(listed(&mut client), []);
    look(&mut client, "a.png", &first);
    // Another command writes while the server runs.
    let command = |line: &str| attache(line.split(' ')).current_dir(place.path("")).run().expect_code(0).json();
    command("attach --json -c ctx --workdir work b.png");
    look(&mut client, "a.png", &first);
    let shown = command("show --json -c ctx");
    assert_eq!((&shown["messages"], shown["images"].as_array().unwrap().len()), (&json!(3), 3), "{shown}");
    assert_eq!(std::fs::read(place.path("ctx/blobs").join(sha256(&first))).unwrap(), first);
    assert_eq!(command("check --json -c ctx")["ok"], true);
    assert_eq!(listed(&mut client).len(), 2);
    // What is withheld is shown no more.
    command(&format!("withhold --json -c ctx {}", sha256(&second)));
    assert_eq!(listed(&mut client), [(uri(&first), first.len() as u64)]);
    let withheld = client.request("resources/read", json!({"uri": uri(&second)}));
    assert!(withheld["error"]["code"].is_i64(), "{withheld}");
    // A second server goes on where the first one was.
    let mut other = place.serve(&["--conversation", "ctx"]);
    assert_eq!(listed(&mut other), [(uri(&first), first.len() as u64)]);
    // A blob that was damaged is not handed out.
    std::fs::write(place.path("ctx/blobs").join(sha256(&first)), b"damaged").unwrap();
    let damaged = other.request("resources/read", json!({"uri": uri(&first)}));
    assert!(damaged["error"]["code"].is_i64(), "{damaged}");
}

#[test]
fn many_resources_come_in_pages() {
    let place = Place::new();
    let mut client = place.serve(&[]);
    for width in 1..=201 {
        let png = pictures::png(width, 1, 0);
        std::fs::write(place.work("a.png"), &png).unwrap();
        look(&mut client, "a.png", &png);
    }
    let page = |client: &mut Client, params: Value| client.request("resources/list", params)["result"].clone();
    let uris = |page: &Value| -> Vec<String> {
        page["resources"].as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap().to_owned()).collect()
    };
    let first = page(&mut client, json!({}));
    let second = page(&mut client, json!({"cursor": first["nextCursor"]}));
    assert_eq!((uris(&first).len(), uris(&second).len(), second.get("nextCursor")), (200, 1, None));
    assert!(!uris(&first).contains(&uris(&second)[0]));
    let past = page(&mut client, json!({"cursor": "400"}));
    assert_eq!((uris(&past).len(), past.get("nextCursor")), (0, None));
}
