//! Images that arrive as base64 in a peer's message, without a file.

use attache_blobstore::BlobStore;
use attache_conversation::{Refusal, RefusalCode, blocking, decode_base64};
use attache_media::MediaType;
use bytes::Bytes;

use crate::accepted::Accepted;
use crate::attachment::allowed;
use crate::check::Sound;
use crate::keep;
use crate::settings::Settings;

/// A part of a peer's message that holds an image as base64.
#[derive(Clone, Copy, Debug)]
pub struct RawPart<'a> {
    /// What notes and the trace call it.
    pub name: &'a str,
    /// The type it claims. Where there is none (or a blank one) the bytes decide; pass none as well where a peer's
    /// labels are only hints.
    pub media_type: Option<&'a str>,
    /// Base64 in the standard or the URL-safe alphabet, with or without padding and ASCII white space.
    pub data: &'a str,
}

/// Checks and stores one raw part: is it base64 (`malformed`), is the type allowed, the size, the leading bytes and, where
/// asked, soundness. What must be too large once decoded is not decoded. The limit of a turn does not apply, as no
/// turn brought it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use attache_runtime::{MemoryStore, RawPart, Settings, accept_raw_part};
///
/// let (store, settings) = (MemoryStore::new(), Settings::default());
/// let part = RawPart { name: "part 1", media_type: Some("image/gif"), data: "R0lGODlh" };
/// assert_eq!(accept_raw_part(part, &store, &settings).await.blocks.len(), 1);
///
/// let refused = accept_raw_part(RawPart { data: "%%%", ..part }, &store, &settings).await;
/// assert_eq!(
///     refused.notes[0].as_str(),
///     "attachment 'part 1' was not attached: the data (3 characters) is not base64 (malformed)"
/// );
/// # });
/// ```
pub async fn accept_raw_part(part: RawPart<'_>, store: &dyn BlobStore, settings: &Settings) -> Accepted {
    let decoded = decode(part, settings.limits.max_bytes());
    accept_decoded(part.name, part.media_type, decoded, store, settings).await
}

/// Like [`accept_raw_part`] for a `data:` URL, which is only ever read as one where the caller says that it is one:
/// text that holds such a URL stays text. It has to be base64; a URL without a type leaves it to the bytes.
pub async fn accept_data_url(name: &str, url: &str, store: &dyn BlobStore, settings: &Settings) -> Accepted {
    let Some((media_type, data)) = split_data_url(url) else {
        let refusal = Refusal::new(RefusalCode::Malformed, "it is not a data URL with base64");
        return accept_decoded(name, None, Err(refusal), store, settings).await;
    };
    accept_raw_part(RawPart { name, media_type: Some(media_type), data }, store, settings).await
}

async fn accept_decoded(
    name: &str,
    declared: Option<&str>,
    decoded: Result<(Option<MediaType>, Vec<u8>), Refusal>,
    store: &dyn BlobStore,
    settings: &Settings,
) -> Accepted {
    let sound = match decoded {
        Ok((label, bytes)) => check(label, bytes, settings).await,
        Err(refusal) => Err(refusal),
    };
    let mut outcome = [match sound {
        Ok(sound) => keep::stage(store, sound).await,
        Err(refusal) => Err(refusal),
    }];
    keep::sync(store, &mut outcome).await;
    let mut accepted = Accepted::default();
    let [outcome] = outcome;
    accepted.add(name, declared, outcome, settings);
    accepted
}

/// First whether it is base64, then the type, then the size.
fn decode(part: RawPart<'_>, max_bytes: u64) -> Result<(Option<MediaType>, Vec<u8>), Refusal> {
    let decoded = decode_base64(part.data, max_bytes);
    if decoded.as_ref().is_err_and(|refusal| refusal.code == RefusalCode::Malformed) {
        return decoded.map(|bytes| (None, bytes));
    }
    let label = part.media_type.filter(|text| !text.trim().is_empty()).map(allowed).transpose()?;
    Ok((label, decoded?))
}

async fn check(label: Option<MediaType>, bytes: Vec<u8>, settings: &Settings) -> Result<Sound, Refusal> {
    let intake = settings.intake();
    blocking(move || {
        let checked = intake.check(&bytes, label)?;
        Ok(Sound { checked, bytes: Bytes::from(bytes) })
    })
    .await
}

/// `data:<type>;base64,<data>`: the type, parameters included, and the data.
pub(crate) fn split_data_url(url: &str) -> Option<(&str, &str)> {
    const SCHEME: &str = "data:";

    let url = url.trim_ascii();
    let (scheme, rest) = url.split_at_checked(SCHEME.len())?;
    let (head, data) = rest.split_once(',')?;
    let (media_type, encoding) = head.rsplit_once(';')?;
    let is_base64 = scheme.eq_ignore_ascii_case(SCHEME) && encoding.trim_ascii().eq_ignore_ascii_case("base64");
    is_base64.then_some((media_type, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_url_is_split_or_refused() {
        for (url, parts) in [
            ("data:image/png;base64,AAAA", Some(("image/png", "AAAA"))),
            (" DATA:image/png;charset=x;BASE64,AAAA\n", Some(("image/png;charset=x", "AAAA"))),
            ("data:;base64,AAAA", Some(("", "AAAA"))),
            ("data:image/png;base64,", Some(("image/png", ""))),
            ("data:image/png,AAAA", None),
            ("data:base64,AAAA", None),
            ("image/png;base64,AAAA", None),
            ("https://example.org/a.png", None),
            ("dät", None),
            ("", None),
        ] {
            assert_eq!(split_data_url(url), parts, "{url:?}");
        }
    }

    #[test]
    fn base64_comes_before_the_type_and_the_type_before_the_size() {
        for (data, media_type, code) in [
            ("%%%", Some("image/svg+xml"), RefusalCode::Malformed),
            ("AAAAAAAA", Some("image/svg+xml"), RefusalCode::MediaTypeNotAllowed),
            ("AAAAAAAA", Some("image/png"), RefusalCode::TooLarge),
            ("AAAAAAAA", Some(" "), RefusalCode::TooLarge),
            ("AAAAAAAA", None, RefusalCode::TooLarge),
        ] {
            let part = RawPart { name: "part", media_type, data };
            assert_eq!(decode(part, 4).unwrap_err().code, code, "{data} {media_type:?}");
        }
    }
}
