//! From what the caller wrote to a folder that is held open.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind as Io};
use std::path::{Path, PathBuf};

use attache_workdir_fs::WorkDir;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::EvidenceError;
use crate::redact::redact;

/// Where the images are.
#[derive(Debug)]
pub(crate) struct Input {
    /// The file or folder: absolute, every link on the way to it resolved.
    pub(crate) path: PathBuf,
    /// The folder, or the one that the file is in.
    pub(crate) folder: WorkDir,
    /// The file's name, if it is one.
    pub(crate) file: Option<OsString>,
}

/// Finds `input`, then looks in `inbox` if nothing is there. Nothing is ever fetched.
pub(crate) fn resolve(input: &Path, inbox: Option<&Path>) -> Result<Input, EvidenceError> {
    if looks_like_url(input) {
        return Err(missing(input, inbox));
    }
    let given = expand_home(input);
    let mut found = look(&given);
    if let (Err(Look::Missing), true, Some(inbox)) = (&found, given.is_relative(), inbox) {
        found = look(&inbox.join(&given));
    }
    found.map_err(|look| look.explain(input, inbox))
}

/// `~` and `~/…` lie in the home directory of whoever runs this, where that is known.
pub(crate) fn expand_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => home,
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// Whether this begins like `https://`.
pub(crate) fn looks_like_url(input: &Path) -> bool {
    let Some((scheme, _)) = input.to_str().and_then(|text| text.split_once("://")) else {
        return false;
    };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Why a look found no input.
enum Look {
    Missing,
    Refused(EvidenceError),
    Failed(PathBuf, io::Error),
}

impl Look {
    fn explain(self, input: &Path, inbox: Option<&Path>) -> EvidenceError {
        match self {
            Look::Missing => missing(input, inbox),
            Look::Refused(error) => error,
            Look::Failed(path, cause) => {
                // What no file system has a place for is nobody's input.
                let kind = match cause.kind() {
                    Io::InvalidFilename => crate::ErrorKind::Unexpected,
                    _ => crate::ErrorKind::Input,
                };
                EvidenceError::new(kind, format!("cannot read {}: {}", path.display(), words(&cause)))
            }
        }
    }
}

/// Links on the way are the caller's own and are followed; the last component must not be one.
fn look(path: &Path) -> Result<Input, Look> {
    // Without a final slash, which would follow a link.
    let path: PathBuf = path.components().collect();
    let failed = |cause: io::Error| match cause.kind() {
        Io::NotFound | Io::NotADirectory => Look::Missing,
        // Links that lead in a circle lead nowhere, as dangling ones do.
        _ if cause.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Look::Missing,
        _ => Look::Failed(path.clone(), cause),
    };
    let found = fs::symlink_metadata(&path).map_err(failed)?;
    if found.is_symlink() {
        fs::metadata(&path).map_err(failed)?;
        return Err(refused("image input cannot be a symlink", &path));
    }
    match path.file_name() {
        Some(name) => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let parent = parent.canonicalize().map_err(failed)?;
            let whole = parent.join(name);
            if found.is_dir() {
                Ok(Input { folder: open_folder(&whole)?, path: whole, file: None })
            } else if found.is_file() {
                Ok(Input { folder: open_folder(&parent)?, path: whole, file: Some(name.to_owned()) })
            } else {
                Err(refused("image input is not a file or folder", &path))
            }
        }
        // The root, or something that ends in `..`.
        None => {
            let whole = path.canonicalize().map_err(failed)?;
            Ok(Input { folder: open_folder(&whole)?, path: whole, file: None })
        }
    }
}

/// Opens the folder itself, and not what has taken its place since.
fn open_folder(path: &Path) -> Result<WorkDir, Look> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened =
        rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| Look::Failed(path.to_owned(), errno.into()))?;
    WorkDir::adopt(File::from(opened), path)
        .map_err(|error| Look::Refused(EvidenceError::input(format!("cannot read {}: {error}", path.display()))))
}

fn refused(why: &str, path: &Path) -> Look {
    Look::Refused(EvidenceError::input(format!("{why}: {}", path.display())))
}

/// A relative name may have been meant for another folder, so the text says where was looked.
fn missing(input: &Path, inbox: Option<&Path>) -> EvidenceError {
    let mut message = format!("no such file or folder: {}", redact(&input.to_string_lossy()));
    if expand_home(input).is_relative() && !looks_like_url(input) {
        if let Ok(here) = std::env::current_dir() {
            message.push_str(&format!("\nlooked in: {}", here.display()));
        }
        match inbox {
            Some(inbox) => message.push_str(&format!("\nlooked in the inbox: {}", inbox.display())),
            None => message.push_str(
                "\nno inbox is configured; name one as \"inbox_dir\" in a JSON file and pass it with --config FILE",
            ),
        }
    }
    EvidenceError::input(message)
}

/// The system's words without the number that std appends.
pub(crate) fn words(cause: &io::Error) -> String {
    let text = cause.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The extension with its dot, as it is written; empty where there is none. A leading dot begins no extension.
pub(crate) fn extension(name: &str) -> &str {
    match name.rfind('.') {
        Some(at) if at > 0 && at + 1 < name.len() => &name[at..],
        _ => "",
    }
}

/// Whether a name has one of the four extensions that are read.
pub(crate) fn is_supported(name: &str) -> bool {
    [".jpg", ".jpeg", ".png", ".webp"].iter().any(|supported| extension(name).eq_ignore_ascii_case(supported))
}

/// Whether something that is called so is for the image reader: a folder, or an image by its extension, even one of a format
/// that is then refused by name.
pub fn is_image_input(input: &Path) -> bool {
    const OTHERS: [&str; 7] = [".gif", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif"];
    if looks_like_url(input) {
        return false;
    }
    let name = input.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    is_supported(&name)
        || OTHERS.iter().any(|other| extension(&name).eq_ignore_ascii_case(other))
        || expand_home(input).is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn message(path: &Path) -> String {
        resolve(path, None).unwrap_err().to_string()
    }

    #[test]
    fn links_and_special_files_are_refused_and_parents_may_be_links() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("real")).unwrap();
        fs::write(at("real/a.png"), "").unwrap();
        symlink("real", at("link")).unwrap();
        symlink("a.png", at("real/b.png")).unwrap();
        symlink("nowhere", at("dangling.png")).unwrap();
        symlink("circle.png", at("circle.png")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket.png")).unwrap();

        for (name, expect) in [
            ("link", "image input cannot be a symlink: "),
            ("link/", "image input cannot be a symlink: "),
            ("real/b.png", "image input cannot be a symlink: "),
            ("dangling.png", "no such file or folder: "),
            ("circle.png", "no such file or folder: "),
            ("circle.png/a.png", "no such file or folder: "),
            ("gone.png", "no such file or folder: "),
            ("real/a.png/x.png", "no such file or folder: "),
            ("socket.png", "image input is not a file or folder: "),
        ] {
            let message = message(&at(name));
            assert!(message.starts_with(expect) && !message.contains('\n'), "{name}: {message}");
        }
        assert!(message(Path::new("/dev/null")).starts_with("image input is not a file or folder"));

        let real = place.path().canonicalize().unwrap().join("real");
        let through = resolve(&at("link/a.png"), None).unwrap();
        assert_eq!((through.path, through.file), (real.join("a.png"), Some("a.png".into())));
        for folder in ["real", "real/", "real/.", "link/../real"] {
            assert_eq!(resolve(&at(folder), None).unwrap().path, real, "{folder}");
        }
    }

    #[test]
    fn a_name_too_long_for_any_file_is_not_expected() {
        let place = tempfile::tempdir().unwrap();
        for (length, kind) in [(255, crate::ErrorKind::Input), (256, crate::ErrorKind::Unexpected)] {
            let error = resolve(&place.path().join("x".repeat(length)), None).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
        }
    }

    #[test]
    fn the_inbox_is_tried_second() {
        let inbox = tempfile::tempdir().unwrap();
        fs::write(inbox.path().join("only-in-the-inbox.png"), "").unwrap();
        let found = resolve(Path::new("only-in-the-inbox.png"), Some(inbox.path())).unwrap();
        assert_eq!(found.path, inbox.path().canonicalize().unwrap().join("only-in-the-inbox.png"));
        let message = resolve(Path::new("nowhere.png"), Some(inbox.path())).unwrap_err().to_string();
        let lines: Vec<_> = message.lines().collect();
        assert_eq!(lines[0], "no such file or folder: nowhere.png");
        assert!(lines[1].starts_with("looked in: ") && lines[2].contains(inbox.path().to_str().unwrap()), "{message}");
        assert!(self::message(Path::new("nowhere.png")).contains("--config"), "how to configure one");
    }

    #[test]
    fn urls_are_missing_and_lose_their_secrets() {
        let message = message(Path::new("https://user:pw@example.com/a.png?token=x"));
        assert_eq!(message, "no such file or folder: https://example.com/a.png");
    }

    #[test]
    fn extensions() {
        for (name, expect) in
            [("a.png", ".png"), ("a.tar.GZ", ".GZ"), (".png", ""), ("a", ""), ("a.", ""), ("x.png ", ".png ")]
        {
            assert_eq!(extension(name), expect);
        }
        for (name, expect) in
            [("a.PNG", true), ("a.JpEg", true), ("a.gif", false), (".png", false), ("x.png ", false), ("png", false)]
        {
            assert_eq!(is_supported(name), expect, "{name}");
        }
        for name in ["a.gif", "b.BMP", "c.heic", "d.avif", "e.webp", "."] {
            assert!(is_image_input(Path::new(name)), "{name}");
        }
        for name in ["a.md", "https://example.com/a.png", "a"] {
            assert!(!is_image_input(Path::new(name)), "{name}");
        }
    }
}
