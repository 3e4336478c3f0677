//! Calls whose conversation is held elsewhere.

use attache_runtime::{Attachment, BlobId, OnMismatch, TraceEntry, check_bridged};

#[cfg(target_os = "linux")]
use crate::support::Opens;
use crate::support::{Folder, limits, outcomes, png};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_come_in_call_order_and_each_file_is_read_once() {
    let folder = Folder::new();
    for n in 0..4 {
        folder.write(&format!("{n}.png"), png(n));
    }
    folder.write("text.png", "no image");
    let paths = ["0.png", "absent.png", "1.png", "text.png", "2.png", "3.png"];
    let entries = paths.map(|path| Attachment::new(path, "image/png"));
    #[cfg(target_os = "linux")]
    let opens = Opens::of(&folder.path());
    let bridged = check_bridged(&folder.work, &limits(10_000, 3), &entries).await;
    #[cfg(target_os = "linux")]
    assert_eq!(opens.take(), ["0.png", "1.png", "2.png", "text.png"]);

    let png_ok = "image/png";
    assert_eq!(outcomes(&bridged.trace), [png_ok, "not_found", png_ok, "content_mismatch", png_ok, "turn_limit"]);
    let bytes = png(0).len();
    let attached = |n: u64| format!("[image attached: {n}.png, image/png, {bytes} bytes]");
    assert_eq!(bridged.lines.len(), 6);
    for (at, n) in [(0, 0), (2, 1), (4, 2)] {
        assert_eq!(bridged.lines[at].as_str(), attached(n));
    }
    for at in [1, 3, 5] {
        assert!(bridged.lines[at].starts_with(&format!("attachment '{}' was not attached: ", paths[at])));
    }
    let images: Vec<_> = bridged.images.iter().map(|image| (image.path.as_str(), image.bytes.to_vec())).collect();
    assert_eq!(images, [("0.png", png(0)), ("1.png", png(1)), ("2.png", png(2))]);
    let TraceEntry::Accepted { sha256, .. } = &bridged.trace[0] else { panic!("accepted") };
    assert_eq!(*sha256, BlobId::of(&png(0)).to_string());

    let again = check_bridged(&folder.work, &limits(10_000, 3), &entries[..1]).await;
    assert_eq!(again.images.len(), 1, "the limit is that of one call");
}

#[tokio::test]
async fn a_new_label_gets_a_line_of_its_own() {
    let folder = Folder::new();
    folder.write("a.jpg", png(1));
    let settings = limits(10_000, 5).with_on_mismatch(OnMismatch::Relabel);
    let bridged = check_bridged(&folder.work, &settings, &[Attachment::new("a.jpg", "image/jpeg")]).await;
    assert_eq!(bridged.lines.len(), 2);
    assert_eq!(bridged.images[0].media_type.as_str(), "image/png");
}
