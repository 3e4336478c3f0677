//! `attache profiles`: what routes to models accept, and who says so.

use std::path::Path;
use std::process::ExitCode;

use attache_runtime::profile::{
    AsOf, Cap, CountLimit, EdgeLimit, Grade, Limit, Listed, Scope, TokenRule, Tokens, Unit,
};
use attache_runtime::{Profile, Profiles};
use serde::Serialize;
use serde_json::{Value, json};

use super::evidence::shown;
use crate::args::ProfilesArgs;
use crate::output::{Failure, Output};

pub(crate) fn run(args: &ProfilesArgs, output: Output) -> Result<ExitCode, Failure> {
    let profiles = Profiles::builtin();
    match (&args.file, &args.id) {
        (Some(file), _) => {
            let profile = read(file)?;
            output.result(&profile, || one(&profile))?;
        }
        (None, Some(id)) => {
            let profile = profiles.get(id).ok_or_else(|| unknown(id, profiles))?;
            output.result(profile, || one(profile))?;
        }
        (None, None) => {
            let all: Vec<&Profile> = profiles.iter().collect();
            output.result(&json!({"profiles": all}), || list(&all))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a profile of the caller's own.
fn read(file: &Path) -> Result<Profile, Failure> {
    let name = format!("\"{}\"", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| Failure::input("io_error", error.to_string()));
    let read = text.and_then(|text| {
        Profile::from_toml(&text).map_err(|error| {
            Failure::input(error.code(), error.to_string().lines().map(shown).collect::<Vec<_>>().join("\n"))
        })
    });
    read.map_err(|failure| failure.within(name))
}

fn unknown(id: &str, profiles: &Profiles) -> Failure {
    let known: Vec<&str> = profiles.iter().map(|profile| &*profile.id).collect();
    Failure::input("unknown_profile", format!("there is no profile {id:?}, only {}", known.join(", ")))
}

fn list(profiles: &[&Profile]) -> String {
    let head = ["id", "wire", "per image", "images", "edge", "body", "tokens"].map(str::to_owned);
    let row = |profile: &&Profile| {
        let limits = &profile.limits;
        let edges = &limits.edge_by_count;
        let strictest = profile.max_edge().map(|edge| edge.to_string());
        [
            profile.id.clone(),
            profile.wire.as_str().to_owned(),
            brief(&limits.per_image),
            limits.images_per_request.max.to_string(),
            strictest.or(edges.last().map(|limit| limit.max_edge.to_string())).unwrap_or_default(),
            brief(&limits.request_bytes),
            kind(&profile.tokens),
        ]
    };
    let rows: Vec<_> = std::iter::once(head).chain(profiles.iter().map(row)).collect();
    table(&rows) + "\nattache profiles ID shows one, and who says so.\n"
}

/// A limit in a column.
fn brief(limit: &Limit) -> String {
    let unit = match (limit.max, limit.unit) {
        (Cap::At(_), Unit::B64Chars) => " b64",
        (Cap::At(_), Unit::DataUrlChars) => " url",
        (Cap::At(_), Unit::RawBytes) => " raw",
        _ => "",
    };
    let scope = if limit.scope == Scope::Total { " in all" } else { "" };
    format!("{}{unit}{scope}", limit.max)
}

fn kind(tokens: &Tokens) -> String {
    match &tokens.rule {
        TokenRule::Area { divisor, .. } => format!("area {divisor}"),
        TokenRule::Patch { patch, .. } => format!("patch {patch}"),
        TokenRule::Tile { size, .. } => format!("tile {size}"),
        TokenRule::ByLevel { .. } => "by level".to_owned(),
        TokenRule::Fixed { n } => format!("fixed {n}"),
        _ => "unknown".to_owned(),
    }
}

fn one(profile: &Profile) -> String {
    let text = shown(&profile.id);
    let mut text = format!("{text} ({})\n", profile.wire.as_str());
    text += &profile.note.as_ref().map(|note| format!("{}\n", shown(note))).unwrap_or_default();
    text + "\n" + &table(&shape(profile)) + "\n" + &sourced(profile) + "\n" + LEGEND
}

const LEGEND: &str = "Sources: S the vendor's library or schema, T tried, D the vendor's documentation, I a third party's report,\n\
                      L a constant in another library, ? not confirmed, set whoever wrote the profile.\n";

fn shape(profile: &Profile) -> Vec<[String; 2]> {
    let placement = &profile.placement;
    let images = [
        format!("user {}", word(&placement.user)),
        format!("system {}", word(&placement.system)),
        format!("assistant {}", word(&placement.assistant)),
        format!("tool result {}", word(&placement.tool_result)),
    ];
    let models: Vec<&str> = profile.matches.models.iter().map(|pattern| pattern.as_str()).collect();
    let types = match &profile.media_types {
        Listed::These(types) => types.join(", "),
        other => word(other),
    };
    let sources: Vec<String> = profile.sources.iter().map(word).collect();
    let resize = &profile.server_resize;
    let control = resize.control.as_ref().map(|control| format!(", by {control}")).unwrap_or_default();
    let detail = &profile.detail;
    let detail = detail.field.as_ref().map(|field| format!("{field}: {}", detail.values.join(", ")));
    [
        ("models", models.join(", ")),
        ("vision", word(&profile.vision)),
        ("images stand", images.join(", ")),
        ("given by", sources.join(", ")),
        ("base64", word(&profile.encoding.base64_form)),
        ("types", types),
        ("animated", word(&profile.animated)),
        ("server resizes", word(&resize.mode) + &control),
        ("detail", detail.unwrap_or_else(|| "none".to_owned())),
        ("caching", word(&profile.cache.mode)),
    ]
    .map(|(name, value)| [name.to_owned(), shown(&value)])
    .into()
}

/// The word that stands for a value in a profile.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => other.map(|value| value.to_string()).unwrap_or_default(),
    }
}

/// A number, and who says so.
struct Row<'a> {
    name: String,
    value: String,
    src: Grade,
    as_of: &'a Option<AsOf>,
    remarks: Vec<String>,
}

fn sourced(profile: &Profile) -> String {
    let limits = &profile.limits;
    let mut rows = vec![limit("per image", &limits.per_image)];
    rows.extend(limits.edge_by_count.iter().map(edge));
    rows.extend([
        limit("pixels", &limits.pixels),
        count(&limits.images_per_request),
        limit("body", &limits.request_bytes),
    ]);
    tokens("tokens", &profile.tokens, &mut rows);
    for (name, family) in &profile.families {
        let models: Vec<&str> = family.matches.models.iter().map(|pattern| pattern.as_str()).collect();
        let first = rows.len();
        tokens(&format!("  {name}"), &family.tokens, &mut rows);
        rows[first].remarks.insert(0, format!("for {}", models.join(", ")));
    }
    let head = ["limit", "value", "source", "as of"].map(str::to_owned);
    let cells = |row: &Row<'_>| {
        let as_of = row.as_of.as_ref().map_or("-", AsOf::as_str).to_owned();
        [row.name.clone(), row.value.clone(), row.src.as_str().to_owned(), as_of].map(|cell| shown(&cell))
    };
    let cells: Vec<_> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let lines = table(&cells);
    let indent = cells.iter().map(|row| row[0].chars().count()).max().unwrap_or_default() + 2;
    let remarks = std::iter::once(&[][..]).chain(rows.iter().map(|row| &*row.remarks));
    let with_remarks = |(line, remarks): (&str, &[String])| {
        let remarks = remarks.iter().map(|remark| format!("{:indent$}{}\n", "", shown(remark)));
        format!("{line}\n") + &remarks.collect::<String>()
    };
    lines.lines().zip(remarks).map(with_remarks).collect()
}

fn limit<'a>(name: &str, limit: &'a Limit) -> Row<'a> {
    let Limit { max, unit, scope, alt, conflict, src, as_of, note, .. } = limit;
    let unit = max.get().map(|_| format!(" {}", unit.words())).unwrap_or_default();
    let scope = if *scope == Scope::Total { ", all images together" } else { "" };
    Row {
        name: name.to_owned(),
        value: format!("{max}{unit}{scope}"),
        src: *src,
        as_of,
        remarks: remarks(*conflict, *alt, note),
    }
}

fn edge(limit: &EdgeLimit) -> Row<'_> {
    let EdgeLimit { when_images_lte, max_edge, retroactive, src, as_of, note, .. } = limit;
    let name = when_images_lte.map_or_else(|| "edge".to_owned(), |count| format!("edge, up to {count} images"));
    let pixels = max_edge.get().map(|_| " pixels").unwrap_or_default();
    let before = if *retroactive { ", of images sent before too" } else { "" };
    Row { name, value: format!("{max_edge}{pixels}{before}"), src: *src, as_of, remarks: remarks(false, None, note) }
}

fn count(limit: &CountLimit) -> Row<'_> {
    let CountLimit { max, by_context, alt, conflict, src, as_of, note, .. } = limit;
    let more = by_context.iter().map(|step| format!("; {} where the context is over {} tokens", step.max, step.gt));
    let value = max.to_string() + &more.collect::<String>();
    Row { name: "images".to_owned(), value, src: *src, as_of, remarks: remarks(*conflict, *alt, note) }
}

fn tokens<'a>(name: &str, tokens: &'a Tokens, rows: &mut Vec<Row<'a>>) {
    let at_most = if tokens.is_maximum { " at most" } else { "" };
    rows.push(Row {
        name: name.to_owned(),
        value: rule(&tokens.rule) + at_most,
        src: tokens.src,
        as_of: &tokens.as_of,
        remarks: remarks(tokens.conflict, None, &tokens.note),
    });
    let indent = name.len() - name.trim_start().len() + 2;
    for (detail, at_detail) in &tokens.details {
        self::tokens(&format!("{:indent$}at {detail}", ""), at_detail, rows);
    }
}

fn remarks(conflict: bool, alt: Option<u64>, note: &Option<String>) -> Vec<String> {
    let other = match (conflict, alt) {
        (true, Some(alt)) => Some(format!("sources disagree: another has {alt}")),
        (true, None) => Some("sources disagree".to_owned()),
        (false, Some(alt)) => Some(format!("another source has {alt}")),
        (false, None) => None,
    };
    other.into_iter().chain(note.clone()).collect()
}

fn rule(rule: &TokenRule) -> String {
    let edge = |edge: &Option<_>| edge.map(|edge: std::num::NonZeroU32| format!(", edge {edge}")).unwrap_or_default();
    let most = |most: &Option<_>, what: &str| {
        most.map(|most: std::num::NonZeroU64| format!(", {most} {what} at most")).unwrap_or_default()
    };
    match rule {
        TokenRule::Area { divisor, max_edge, max_tokens } => {
            format!("width x height / {divisor}{}{}", edge(max_edge), most(max_tokens, "tokens"))
        }
        TokenRule::Patch { patch, max_edge, max_tokens, budget, multiplier } => {
            let by = f64::from(*multiplier);
            let by = if by == 1.0 { String::new() } else { format!("{by} a ") };
            let caps = edge(max_edge) + &most(max_tokens, "tokens") + &most(budget, "patches");
            format!("{by}patch of {patch} x {patch}{caps}")
        }
        TokenRule::Tile { base, tile, size, fit, short_side } => {
            let base = if *base == 0 { String::new() } else { format!("{base} and ") };
            let short = short_side.map(|side| format!(", short side {side}")).unwrap_or_default();
            format!("{base}{tile} a tile of {size} x {size}{}{short}", edge(fit))
        }
        TokenRule::ByLevel { low, medium, high, ultra, default } => {
            let default = word(default);
            format!("{default} unless asked: low {low}, medium {medium}, high {high}, ultra {ultra}")
        }
        TokenRule::Fixed { n } => n.to_string(),
        _ => "unknown".to_owned(),
    }
}

/// Rows in columns, the last of which is as long as it is.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: String = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect();
        format!("{}\n", cells.trim_end())
    };
    rows.iter().map(line).collect()
}
