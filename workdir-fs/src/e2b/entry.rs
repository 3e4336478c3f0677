//! What a sandbox tells of a name.

use serde::{Deserialize, Deserializer};

use crate::target::{FileKind, Info, Version};

/// An entry, as `Stat`, `Move` and `ListDir` give it. JSON of protocol buffers: what is zero or empty is left out, and 64-bit numbers
/// are strings.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Entry {
    pub(super) name: String,
    r#type: String,
    #[serde(deserialize_with = "number")]
    pub(super) size: u64,
    /// Permission bits alone.
    pub(super) mode: u32,
    owner: String,
    group: String,
    /// RFC 3339 with up to nine digits of a second's fraction.
    modified_time: Option<String>,
    /// There for a link: where it leads, or itself if it leads nowhere. Kind and mode are those of the place it leads to, size and
    /// time its own.
    pub(super) symlink_target: Option<String>,
}

fn number<'de, D: Deserializer<'de>>(value: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    match Either::deserialize(value)? {
        Either::Number(number) => Ok(number),
        Either::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

impl Entry {
    pub(super) fn is_link(&self) -> bool {
        self.symlink_target.is_some()
    }

    pub(super) fn kind(&self) -> FileKind {
        match self.r#type.as_str() {
            _ if self.is_link() => FileKind::Other,
            "FILE_TYPE_FILE" => FileKind::File,
            "FILE_TYPE_DIRECTORY" => FileKind::Directory,
            _ => FileKind::Other,
        }
    }

    /// `None` from a sandbox that does not tell times: nothing could be found out about changes there.
    pub(super) fn version(&self) -> Option<Version> {
        let Self { size, mode, owner, group, modified_time, .. } = self;
        let time = modified_time.as_ref()?;
        Some(Version::new(format!("e2b {size} {time} {mode:o} {owner} {group}")))
    }

    pub(super) fn info(&self) -> Option<Info> {
        let kind = self.kind();
        Some(Info { version: self.version()?, kind, size: (kind == FileKind::File).then_some(self.size) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(json: &str) -> Entry {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn zeros_are_left_out_and_large_numbers_are_strings() {
        let found = entry(
            r#"{"name":"a","type":"FILE_TYPE_FILE","size":"9007199254740993","modifiedTime":"2026-01-02T03:04:05.000000006Z","new":1}"#,
        );
        assert_eq!((found.size, found.mode, found.kind()), (9_007_199_254_740_993, 0, FileKind::File));
        assert_eq!(entry(r#"{"size":7}"#).size, 7);
        assert_eq!(entry("{}").kind(), FileKind::Other);
        for json in [r#"{"size":"-1"}"#, r#"{"size":1.5}"#, r#"{"size":"1e3"}"#, r#"{"mode":"x"}"#] {
            assert!(serde_json::from_str::<Entry>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_link_is_no_file_whatever_it_leads_to() {
        let found = entry(r#"{"type":"FILE_TYPE_FILE","size":"3","modifiedTime":"t","symlinkTarget":"/a"}"#);
        assert_eq!(found.info().map(|info| (info.kind, info.size)), Some((FileKind::Other, None)));
    }

    #[test]
    fn every_field_is_part_of_the_version() {
        let all = [
            r#"{"modifiedTime":"t"}"#,
            r#"{"modifiedTime":"u"}"#,
            r#"{"modifiedTime":"t","size":"1"}"#,
            r#"{"modifiedTime":"t","mode":1}"#,
            r#"{"modifiedTime":"t","owner":"a"}"#,
            r#"{"modifiedTime":"t","group":"a"}"#,
        ];
        let versions: std::collections::HashSet<_> = all.map(|json| entry(json).version().unwrap()).into();
        assert_eq!(versions.len(), all.len());
        assert_eq!(entry(r#"{"size":"1"}"#).version(), None);
    }
}
