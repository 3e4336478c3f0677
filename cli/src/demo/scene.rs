//! The demo's work folder: good pictures of every type, and one of each thing that must be refused.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use attache_runtime::BlobId;

use crate::demo::pictures::{Kind, Look, picture};

/// One byte more than an image may have by default would do; this is plainly too much.
const TOO_LARGE: usize = 4_200_000;

/// The pictures: path, type, the number drawn in them, and what they show.
const PICTURES: [(&str, Kind, u32, Look); 11] = [
    ("chart.png", Kind::Png, 1, Look::Chart),
    ("photo.jpg", Kind::Jpeg, 2, Look::Photo),
    ("window.webp", Kind::Webp, 3, Look::Screenshot),
    ("sketch.gif", Kind::Gif, 4, Look::Sketch),
    ("map.png", Kind::Png, 5, Look::Map),
    ("burst/1.jpg", Kind::Jpeg, 6, Look::Sketch),
    ("burst/2.png", Kind::Png, 7, Look::Document),
    ("burst/3.gif", Kind::Gif, 8, Look::Chart),
    ("burst/4.webp", Kind::Webp, 9, Look::Document),
    ("burst/5.png", Kind::Png, 10, Look::Screenshot),
    ("burst/6.png", Kind::Png, 11, Look::Sketch),
];

/// The work folder, and which number stands in which picture.
#[derive(Debug)]
pub(crate) struct Scene {
    dir: PathBuf,
    pictures: BTreeMap<BlobId, Picture>,
}

/// A picture of the scene.
#[derive(Debug)]
pub(crate) struct Picture {
    /// The number drawn in it.
    pub(crate) number: u32,
    pub(crate) path: &'static str,
    pub(crate) bytes: usize,
}

impl Scene {
    /// Draws everything below `dir`, and puts a picture outside for links and `..` to point at.
    pub(crate) fn draw(dir: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(dir.join("burst"))?;
        let mut scene = Self { dir: dir.to_owned(), pictures: BTreeMap::new() };
        for (path, kind, number, look) in PICTURES {
            let bytes = picture(kind, number, look).map_err(io::Error::other)?;
            std::fs::write(dir.join(path), &bytes)?;
            scene.pictures.insert(BlobId::of(&bytes), Picture { number, path, bytes: bytes.len() });
        }
        scene.draw_what_is_refused()?;
        Ok(scene)
    }

    fn draw_what_is_refused(&self) -> io::Result<()> {
        std::fs::write(self.dir.join("logo.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>")?;
        let mut huge = picture(Kind::Png, 99, Look::Map).map_err(io::Error::other)?;
        huge.resize(TOO_LARGE, 0);
        std::fs::write(self.dir.join("huge.png"), huge)?;
        let secret = picture(Kind::Png, 100, Look::Sketch).map_err(io::Error::other)?;
        std::fs::write(self.dir.join("../secret.png"), secret)?;
        symlink("../secret.png", self.dir.join("link.png"))?;
        make_fifo(&self.dir.join("pipe.png"))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The picture of these bytes.
    pub(crate) fn picture(&self, id: BlobId) -> Option<&Picture> {
        self.pictures.get(&id)
    }

    pub(crate) fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.pictures.values()
    }
}

/// A FIFO that nobody writes to: whoever opens it plainly waits for ever.
fn make_fifo(path: &Path) -> io::Result<()> {
    let status = Command::new("mkfifo").arg(path).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("mkfifo ended with {status}"))) }
}
