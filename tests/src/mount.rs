//! File systems of our own: one that is soon full, and two that can lose their power.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;

use tempfile::TempDir;

use crate::Call;

/// A file system on a loop file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// The usual one.
    Ext4,
    /// The one that delays most.
    Xfs,
}

/// What a power cut leaves of what was not flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// The journal is written out: names and lengths survive, unflushed bytes do not.
    JournalKept,
    /// Nothing is.
    JournalLost,
}

impl Shutdown {
    fn flag(self) -> u32 {
        match self {
            Self::JournalKept => 1,
            Self::JournalLost => 2,
        }
    }
}

/// A mounted file system, unmounted when dropped.
#[derive(Debug)]
pub struct Mount {
    path: PathBuf,
    image: Option<PathBuf>,
    mounted: bool,
    // Dropped last: it holds the mount point and the image.
    _dir: TempDir,
}

impl Mount {
    /// A `tmpfs` of that many bytes.
    ///
    /// # Errors
    /// What the system said.
    pub fn tmpfs(bytes: u64) -> Result<Self, String> {
        let mut mount = Self::prepare(None)?;
        tool("mount", &["-t", "tmpfs", "-o", &format!("size={bytes},mode=700"), "tmpfs", &mount.path_text()])?;
        mount.mounted = true;
        Ok(mount)
    }

    /// A new file system on a loop file of that many MiB; xfs makes none below 300.
    ///
    /// # Errors
    /// What the system said.
    pub fn new(kind: FileSystem, mebibytes: u64) -> Result<Self, String> {
        let mut mount = Self::prepare(Some("image"))?;
        let image = mount.image.clone().expect("an image was asked for");
        let file = File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(mebibytes << 20).map_err(|error| error.to_string())?;
        let image = image.display().to_string();
        match kind {
            FileSystem::Ext4 => tool("mkfs.ext4", &["-q", "-F", &image])?,
            FileSystem::Xfs => tool("mkfs.xfs", &["-q", "-f", &image])?,
        }
        mount.attach()?;
        Ok(mount)
    }

    fn prepare(image: Option<&str>) -> Result<Self, String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = dir.path().join("mount");
        std::fs::create_dir(&path).map_err(|error| error.to_string())?;
        Ok(Self { path, image: image.map(|name| dir.path().join(name)), mounted: false, _dir: dir })
    }

    fn attach(&mut self) -> Result<(), String> {
        let image = self.image.as_ref().expect("only a loop file is mounted again").display().to_string();
        tool("mount", &["-o", "loop", &image, &self.path_text()])?;
        self.mounted = true;
        Ok(())
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes everything ready for a power cut, so that it follows at once when it is asked for.
    ///
    /// # Errors
    /// What the system said.
    pub fn arm(&self, shutdown: Shutdown) -> Result<PowerCut, String> {
        // `_IOR('X', 125, __u32)`, the same for both file systems. Perl calls it, for an ioctl takes unsafe code in
        // Rust and perl is there wherever mkfs is.
        let program = "open(my $dir, '<', $ARGV[0]) or die $!; $| = 1; print \"ready\\n\"; <STDIN>; \
                       ioctl($dir, 0x8004587d, pack('I', $ARGV[1])) or die $!;";
        let call = Call::new("perl").args(["-e", program, &self.path_text(), &shutdown.flag().to_string()]);
        let mut cut = PowerCut(call.spawn());
        let mut ready = String::new();
        // An error is told by what is not there.
        let _ = BufReader::new(cut.0.stdout.as_mut().expect("stdout is piped")).read_line(&mut ready);
        if ready == "ready\n" { Ok(cut) } else { Err(cut.fire().err().unwrap_or_default()) }
    }

    /// What a restart of the machine does.
    ///
    /// # Errors
    /// What the system said.
    pub fn remount(&mut self) -> Result<(), String> {
        tool("umount", &[&self.path_text()])?;
        self.mounted = false;
        self.attach()
    }

    fn path_text(&self) -> String {
        self.path.display().to_string()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let path = self.path_text();
        if self.mounted && tool("umount", &[&path]).is_err() {
            // Somebody still stands in it, for example a child of a test that has just failed.
            if let Err(error) = tool("umount", &["--lazy", &path]) {
                eprintln!("{path} is still mounted: {error}");
            }
        }
    }
}

/// A power cut about to happen.
#[derive(Debug)]
pub struct PowerCut(Child);

impl PowerCut {
    /// From the moment in which this returns, and perhaps from a little before, nothing reaches the disk any more.
    ///
    /// # Errors
    /// What the system said.
    pub fn fire(mut self) -> Result<(), String> {
        // Closing its input is the sign.
        drop(self.0.stdin.take());
        let done = self.0.wait_with_output().map_err(|error| error.to_string())?;
        let complaint = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        if done.status.success() { Ok(()) } else { Err(format!("the shutdown failed: {complaint}")) }
    }
}

fn tool(program: &str, args: &[&str]) -> Result<(), String> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    // `env` looks the program up in the path it is given.
    let done = Call::new("env").arg(format!("PATH={path}")).arg(program).args(args).run();
    match done.code {
        Some(0) => Ok(()),
        _ => Err(format!("{program} {args:?}: {}", done.error_text().trim())),
    }
}
