//! The grammar of the commands that read images as evidence.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Show what there is to read: an image or a folder of images, and their order
#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) input: Guided,
}

/// Show what reading it would cost an agent
#[derive(Args, Debug)]
pub(crate) struct PreviewArgs {
    #[command(flatten)]
    pub(crate) input: Guided,
    #[command(flatten)]
    pub(crate) asked: EstimateFlags,
}

/// Make a bundle of it: checked copies, and a manifest that an agent can cite
#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) input: Guided,
    #[command(flatten)]
    pub(crate) asked: EstimateFlags,
    #[command(flatten)]
    pub(crate) bundle: BundleFlags,
    /// Also make view.html in the bundle, a page for people that holds everything it shows
    #[arg(long)]
    pub(crate) view: bool,
}

/// What the guided commands take.
#[derive(Args, Debug)]
pub(crate) struct Guided {
    /// An image, or a folder of images
    pub(crate) input: PathBuf,
    /// What kind of reader to use; only images are read
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) reader: Reader,
    /// Where to stop, which only a video knows
    #[arg(long, hide = true, value_name = "STAGE")]
    pub(crate) stop_at: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reader {
    Auto,
    Video,
    Image,
    Article,
    Chat,
}

/// How an input is read.
#[derive(Args, Debug)]
pub(crate) struct Reading {
    /// A JSON file with "inbox_dir", "agent_model" and prices; $ATTACHE_CONFIG unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Refuse images of more pixels than this
    #[arg(long, value_name = "N", default_value_t = attache_evidence::DEFAULT_MAX_PIXELS)]
    pub(crate) max_pixels: u64,
}

#[derive(Args, Debug)]
pub(crate) struct EstimateFlags {
    /// How many words the agent is to write
    #[arg(long, value_name = "INT", default_value_t = 600, allow_negative_numbers = true)]
    pub(crate) out_words: i64,
    /// The agent's model
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_model: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct BundleFlags {
    /// An empty folder, or one that is not there yet; a new temporary one unless given
    #[arg(long, value_name = "PATH")]
    pub(crate) workdir: Option<OsString>,
    /// Leave out absolute paths and the time, so that equal inputs give equal bundles
    #[arg(long)]
    pub(crate) reproducible: bool,
}

/// Read images as evidence, one JSON document a call
#[derive(Args, Debug)]
pub(crate) struct ImageArgs {
    #[command(subcommand)]
    pub(crate) command: ImageCommand,
}

#[derive(Debug, Subcommand)]
#[command(infer_long_args = true)]
pub(crate) enum ImageCommand {
    /// Print the contract of these commands
    #[command(infer_long_args = true)]
    Manifest {
        #[command(flatten)]
        form: Form,
    },
    /// Print which images there are, in order, and what was measured of each
    #[command(infer_long_args = true)]
    Probe {
        /// An image, or a folder of images
        input: PathBuf,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        form: Form,
    },
    /// Print what reading it would cost an agent
    #[command(infer_long_args = true)]
    Estimate {
        /// An image, or a folder of images
        input: PathBuf,
        #[command(flatten)]
        asked: EstimateFlags,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        form: Form,
    },
    /// Make a bundle: checked copies and a manifest
    #[command(infer_long_args = true)]
    Run {
        /// An image, or a folder of images
        input: PathBuf,
        #[command(flatten)]
        bundle: BundleFlags,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        form: Form,
    },
    /// Hash and measure a bundle again; exit code 3 if anything differs
    #[command(infer_long_args = true)]
    Verify {
        /// The bundle
        workdir: PathBuf,
        #[command(flatten)]
        reading: Reading,
        #[command(flatten)]
        form: Form,
    },
}

/// How the result is printed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Print text where there is a text form
    #[arg(long, conflicts_with = "envelope")]
    pub(crate) human: bool,
    /// Print {"ok", "data", "error", "meta"} around the result
    #[arg(long)]
    pub(crate) envelope: bool,
    /// Print everything on one line
    #[arg(long)]
    pub(crate) compact: bool,
}
