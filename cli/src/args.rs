//! The command line's grammar.

pub(crate) mod evidence;

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use attache_runtime::{LimitError, Limits, OnMismatch, OpenOptions, RenderOptions, Verify};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Pictures in agent conversations: checked, stored once, sent only as long as they matter.
///
/// Exit codes: 0 done, 1 unexpected, 2 usage, 3 bad input, 5 a dependency is missing, 6 an operation failed.
#[derive(Debug, Parser)]
#[command(name = "attache", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print one JSON document on stdout and nothing else there
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Attach(AttachArgs),
    Append(AppendArgs),
    Render(RenderArgs),
    Show(ShowArgs),
    View(ViewArgs),
    Withhold(WithholdArgs),
    Restore(RestoreArgs),
    Check(CheckArgs),
    Sweep(SweepArgs),
    Inspect(evidence::InspectArgs),
    Preview(evidence::PreviewArgs),
    Read(evidence::ReadArgs),
    Image(evidence::ImageArgs),
    Profiles(ProfilesArgs),
    Mcp(McpArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Run the whole loop on pictures drawn for it, with a scripted model: no network, no key
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Where to put the work folder and the conversation; a new temporary directory unless given
    pub(crate) dir: Option<PathBuf>,
}

/// Record one tool result: its text, and the image files it names
#[derive(Args, Debug)]
pub(crate) struct AttachArgs {
    #[command(flatten)]
    pub(crate) conversation: Writable,
    /// The work folder: the only directory that files are read from
    #[arg(long, value_name = "DIR", required_unless_present = "evidence")]
    pub(crate) workdir: Option<PathBuf>,
    /// Attach all images of a bundle that `attache read` made, each after its label [image 1], [image 2], …
    #[arg(long, value_name = "BUNDLE", conflicts_with_all = ["workdir", "from", "entries", "on_mismatch", "announce"])]
    pub(crate) evidence: Option<PathBuf>,
    /// The tool call that this answers [default: call_ and the number of the message]
    #[arg(long, value_name = "ID")]
    pub(crate) call_id: Option<String>,
    /// The tool's name; with it the text is fenced as untrusted content of that tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The tool's text
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) text: String,
    /// Read text and attachments from a tool result {"content", "attachments": [{"media_type", "path"}]}; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) from: Option<PathBuf>,
    /// Largest accepted image in bytes [default: 3932160]
    #[arg(long, value_name = "N")]
    pub(crate) max_bytes: Option<u64>,
    /// Most images accepted [default: 5; with --evidence all of the bundle]
    #[arg(long, value_name = "N")]
    pub(crate) max_per_turn: Option<u64>,
    #[command(flatten)]
    pub(crate) checks: Checks,
    /// What to do with an image under the wrong label
    #[arg(long, value_enum, default_value = "refuse")]
    pub(crate) on_mismatch: OnMismatchArg,
    /// Announce each accepted image by its path, so that a model can ask for the file again
    #[arg(long)]
    pub(crate) announce: bool,
    /// End with exit code 3 if anything was refused; the result is recorded all the same
    #[arg(long)]
    pub(crate) strict: bool,
    /// PATH (typed by its bytes) or PATH=MEDIA/TYPE (declared; split at the last =)
    #[arg(value_name = "ENTRY")]
    pub(crate) entries: Vec<String>,
}

/// Serve the file tools to a client of the Model Context Protocol, over standard input and output
///
/// The tools are read, read_image, write and edit, over one work folder. Images that were read are resources too.
#[derive(Args, Debug)]
pub(crate) struct McpArgs {
    /// The work folder: the only directory that files are read from and written to
    #[arg(long, value_name = "DIR")]
    pub(crate) workdir: PathBuf,
    /// Store images in this context directory, and record each that is read there
    #[arg(long, short = 'c', value_name = "DIR")]
    pub(crate) conversation: Option<PathBuf>,
    /// How long to wait for another writer of the conversation
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) lock_wait: Duration,
    /// Leave out the tools that write
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The client's model takes no images: read_image says so
    #[arg(long)]
    pub(crate) no_images: bool,
    /// Serve over HTTP instead, on this machine only, with a bearer token (that in ATTACHE_MCP_TOKEN, or a new one)
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0", require_equals = true)]
    pub(crate) http: Option<SocketAddr>,
}

/// Append messages, one JSON object a line; inline images are lifted out of them
#[derive(Args, Debug)]
pub(crate) struct AppendArgs {
    #[command(flatten)]
    pub(crate) conversation: Writable,
    #[command(flatten)]
    pub(crate) checks: Checks,
    /// The messages; standard input unless given
    pub(crate) file: Option<PathBuf>,
}

/// Print the messages as a model driver receives them
#[derive(Args, Debug)]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub(crate) conversation: Readable,
    #[command(flatten)]
    pub(crate) ageing: AgeingArgs,
    /// Write to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// List the images of a conversation: shown, aged, withheld, missing
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) conversation: Readable,
    #[command(flatten)]
    pub(crate) ageing: AgeingArgs,
}

/// Make a page of a conversation for people: one file, no scripts, nothing fetched
#[derive(Args, Debug)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) conversation: Readable,
    /// The page to write; its folder has to be there, and a regular file of that name is replaced
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// How many of the newest images a request shows (0 to 1000) [default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<u64>,
}

/// Show an image as a line with a reason from now on
#[derive(Args, Debug)]
pub(crate) struct WithholdArgs {
    #[command(flatten)]
    pub(crate) conversation: Writable,
    /// The image's sha256, or a beginning of it that no other image has
    pub(crate) sha: String,
    /// Why; the model is told
    #[arg(long, default_value = "withheld on request")]
    pub(crate) reason: String,
}

/// Show a withheld image again
#[derive(Args, Debug)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    pub(crate) conversation: Writable,
    /// The image's sha256, or a beginning of it that no other image has
    pub(crate) sha: String,
}

/// Re-hash every blob and compare the store with the log; exit code 3 if anything is missing or damaged
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) conversation: Writable,
    /// Move damaged blobs and a torn tail of the log aside; nothing is deleted
    #[arg(long)]
    pub(crate) repair: bool,
}

/// Delete blobs that no record names
#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) conversation: Writable,
    /// Spare what was stored more recently than this
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub(crate) grace: Duration,
    /// Only say what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// List what routes to models accept, or show one, with the source and date of every limit
#[derive(Args, Debug)]
pub(crate) struct ProfilesArgs {
    /// The profile to show
    pub(crate) id: Option<String>,
    /// Check a profile of your own and show it: TOML, with extends = "ID" for what it does not say itself
    #[arg(long, value_name = "FILE", conflicts_with = "id")]
    pub(crate) file: Option<PathBuf>,
}

/// Print a completion script
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// For which shell
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page, or write all pages to a directory
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write one page a command into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// A conversation to read.
#[derive(Args, Debug)]
pub(crate) struct Readable {
    /// The context directory
    #[arg(long = "conversation", short = 'c', value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// A conversation to write to.
#[derive(Args, Debug)]
pub(crate) struct Writable {
    /// The context directory
    #[arg(long = "conversation", short = 'c', value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// How long to wait for another writer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) lock_wait: Duration,
}

impl Writable {
    /// Options for opening it; `command` is what other writers are told.
    pub(crate) fn options(&self, command: &str) -> OpenOptions {
        OpenOptions::default().with_lock_wait(self.lock_wait).with_writer(format!("attache {command}"))
    }
}

/// How deep images are checked.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Checks {
    /// How deep an image is checked: its first bytes, its structure, or every pixel
    #[arg(long, value_enum, default_value = "decode")]
    pub(crate) verify: VerifyArg,
}

/// Which images are shown.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct AgeingArgs {
    /// How many of the newest images are shown (0 to 1000) [default: 5]
    #[arg(long, value_name = "N")]
    keep: Option<u64>,
    /// Move the boundary with every image, or rarely and by --step images, which spares prompt caches
    #[arg(long, value_enum, default_value = "newest")]
    policy: PolicyArg,
    /// By how many images `stable` moves
    #[arg(long, value_name = "N", default_value = "5")]
    step: NonZero<usize>,
    /// Show every image that the model has not answered yet
    #[arg(long)]
    open_turn: bool,
    /// Show every image of a user message
    #[arg(long)]
    pin_user: bool,
}

impl AgeingArgs {
    /// The render options, or which limit is out of range.
    pub(crate) fn options(self) -> Result<RenderOptions, LimitError> {
        let mut limits = Limits::builder();
        if let Some(keep) = self.keep {
            limits = limits.keep(keep);
        }
        let keep = limits.build()?.keep();
        let options = match self.policy {
            PolicyArg::Newest => RenderOptions::newest(keep),
            PolicyArg::Stable => RenderOptions::stable(keep, self.step),
        };
        Ok(options.with_open_turn(self.open_turn).with_pinned_user_images(self.pin_user))
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PolicyArg {
    Newest,
    Stable,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum OnMismatchArg {
    Refuse,
    Relabel,
}

impl From<OnMismatchArg> for OnMismatch {
    fn from(arg: OnMismatchArg) -> Self {
        match arg {
            OnMismatchArg::Refuse => Self::Refuse,
            OnMismatchArg::Relabel => Self::Relabel,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum VerifyArg {
    Magic,
    Structure,
    Decode,
}

impl From<VerifyArg> for Verify {
    fn from(arg: VerifyArg) -> Self {
        match arg {
            VerifyArg::Magic => Self::Magic,
            VerifyArg::Structure => Self::Structure,
            VerifyArg::Decode => Self::Decode,
        }
    }
}

/// Reads `0s`, `90s`, `5m`, `1h`.
fn duration(text: &str) -> Result<Duration, String> {
    let complaint = || format!("\"{text}\" is no time; write whole seconds, minutes or hours: 0s, 90s, 5m, 1h");
    let unit = text.chars().last().ok_or_else(complaint)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return Err(complaint()),
    };
    let count: u64 = text[..text.len() - 1].parse().map_err(|_| complaint())?;
    count.checked_mul(seconds).map(Duration::from_secs).ok_or_else(complaint)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("5m", 300), ("1h", 3600)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)));
        }
        for bad in ["", "s", "1", "-1s", "1.5h", "1d", "99999999999999999999s", "5000000000000000000h", "1é"] {
            assert!(duration(bad).unwrap_err().contains("90s"), "{bad}");
        }
    }
}
