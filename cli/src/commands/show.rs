//! `attache show`: what a conversation holds.

use std::process::ExitCode;

use attache_runtime::conversation::{ImageInfo, clean};
use attache_runtime::{OpenOptions, View};
use serde_json::{Value, json};

use crate::args::ShowArgs;
use crate::output::{Failure, Output};

pub(crate) async fn run(args: ShowArgs, output: Output) -> Result<ExitCode, Failure> {
    let options = args.ageing.options().map_err(|error| Failure::input("limit_out_of_range", error.to_string()))?;
    let view = View::open(&args.conversation.dir, OpenOptions::default()).await?;
    let images = view.images(options).await;
    let listed: Vec<Value> = images.iter().map(entry).collect();
    output.result(&json!({"messages": view.len(), "images": listed}), || text(view.len(), &images))?;
    Ok(ExitCode::SUCCESS)
}

fn entry(image: &ImageInfo) -> Value {
    let mut entry = json!({
        "index": image.index,
        "sha256": image.sha256,
        "media_type": image.media_type,
        "bytes": image.bytes,
        "state": image.state.as_str(),
        "message": image.message,
    });
    if let Some(reason) = &image.reason {
        entry["reason"] = json!(reason);
    }
    entry
}

fn text(messages: usize, images: &[ImageInfo]) -> String {
    let mut text = format!("{messages} messages, {} images\n", images.len());
    for image in images {
        let ImageInfo { index, message, sha256, media_type, bytes, state, reason } = image;
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!("  ({})", clean(reason)));
        text.push_str(&format!(
            "{index:>4}  message {message:<5} {:<9} {:<11} {bytes:>9} bytes  {}{reason}\n",
            state.as_str(),
            clean(media_type),
            clean(sha256)
        ));
    }
    text
}
