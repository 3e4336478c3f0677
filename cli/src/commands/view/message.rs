//! A message on the page: its texts, calls and results, and where its images stand.

use attache_evidence::html_text;
use attache_runtime::conversation::file_block;
use serde_json::Value;

/// A text with more characters than this, or more lines than [`LONG_LINES`], is folded.
const LONG: usize = 2000;
const LONG_LINES: usize = 30;
/// A string of an unknown block with more characters than this is only counted: it is data, and not to be read.
const DATA: usize = 1000;

pub(super) const CLOSE: &str = "</div>\n</li>\n";

/// What a message holds, in order.
pub(super) enum Part {
    Html(String),
    /// A block in record form, or meant as one.
    Image(Value),
}

/// A text from outside. Line ends and tabs stay: it stands where they are kept.
pub(super) fn text(given: &str) -> String {
    let line = |line: &str| line.split('\t').map(html_text).collect::<Vec<_>>().join("\t");
    given.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The beginning of a message's item.
pub(super) fn open(at: usize, message: &Value) -> String {
    let role = message.get("role").and_then(Value::as_str).unwrap_or("unreadable");
    let known = match role {
        "user" | "assistant" | "tool" | "system" => role,
        _ => "other",
    };
    let call = message.get("tool_call_id").and_then(Value::as_str);
    let call =
        call.map_or_else(String::new, |id| format!(" <span class=\"id\">answers <code>{}</code></span>", text(id)));
    let failed = if message.get("is_error") == Some(&Value::Bool(true)) { FAILED } else { "" };
    format!(
        "<li class=\"message {known}\" id=\"message-{at}\">\n<h3><span class=\"number\">{at}</span> <span class=\"role\">{}</span>{call}{failed}</h3>\n\
         <div class=\"body\">\n",
        text(role)
    )
}

const FAILED: &str = " <span class=\"failed\">error</span>";

/// The parts of a message, in order.
pub(super) fn parts(message: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    let is_tool = message.get("role").and_then(Value::as_str) == Some("tool");
    content(message.get("content"), is_tool, &mut parts);
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let function = call.get("function").unwrap_or(call);
        let arguments = function.get("arguments").or_else(|| function.get("input"));
        parts.push(Part::Html(self::call(function.get("name"), call.get("id"), arguments)));
    }
    parts
}

fn content(content: Option<&Value>, is_tool: bool, parts: &mut Vec<Part>) {
    match content {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => parts.push(Part::Html(prose(text, is_tool))),
        Some(Value::Array(blocks)) => blocks.iter().for_each(|one| block(one, is_tool, parts)),
        Some(other) => parts.push(Part::Html(unknown(other))),
    }
}

fn block(block: &Value, is_tool: bool, parts: &mut Vec<Part>) {
    if file_block(block).is_some() {
        return parts.push(Part::Image(block.clone()));
    }
    let field = |key: &str| block.get(key);
    match (field("type").and_then(Value::as_str), field("text").and_then(Value::as_str)) {
        (Some("text"), Some(text)) => parts.push(Part::Html(prose(text, is_tool))),
        (Some("tool_use"), _) => parts.push(Part::Html(call(field("name"), field("id"), field("input")))),
        (Some("tool_result"), _) => {
            let id = field("tool_use_id").and_then(Value::as_str).unwrap_or("an unnamed call");
            let failed = if field("is_error") == Some(&Value::Bool(true)) { FAILED } else { "" };
            parts.push(Part::Html(format!("<p class=\"id\">Result of <code>{}</code>{failed}</p>\n", text(id))));
            content(field("content"), true, parts);
        }
        _ => parts.push(Part::Html(unknown(block))),
    }
}

/// A text; of a tool's, the notes about its attachments are marked.
fn prose(given: &str, is_tool: bool) -> String {
    if !is_tool {
        return folded(given);
    }
    // Behind a fence stand our own lines, and before its end nothing can pass for one.
    let inside = match given.starts_with("<untrusted-content") {
        true => given.rfind("</untrusted-content>").map_or(given.len(), |at| at + "</untrusted-content>".len()),
        false => 0,
    };
    let (fenced, rest) = given.split_at(inside);
    let (mut html, mut plain) = (String::new(), fenced.to_owned());
    for line in rest.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        let class = match bare {
            _ if is_refusal(bare) => "refused",
            _ if bare.starts_with("[image attached: ") && bare.ends_with(']') => "attached",
            _ => {
                plain += line;
                continue;
            }
        };
        html += &folded(&std::mem::take(&mut plain));
        let mark = if class == "refused" { "<strong>Refused</strong> " } else { "" };
        html += &format!("<p class=\"note {class}\">{mark}<span class=\"line\">{}</span></p>\n", text(bare));
    }
    html + &folded(&plain)
}

fn is_refusal(line: &str) -> bool {
    let code = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")).map_or("", |(_, code)| code);
    line.starts_with("attachment '")
        && line.contains("' was not attached: ")
        && !code.is_empty()
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn folded(given: &str) -> String {
    let given = given.trim_matches('\n');
    if given.trim().is_empty() {
        return String::new();
    }
    let (characters, lines) = (given.chars().count(), given.lines().count());
    let whole = format!("<div class=\"text\">{}</div>\n", text(given));
    if characters <= LONG && lines <= LONG_LINES {
        return whole;
    }
    let start: String = given.lines().next().unwrap_or_default().chars().take(80).collect();
    format!(
        "<details>\n<summary>{}… <span class=\"id\">{characters} characters, {lines} lines</span></summary>\n{whole}</details>\n",
        text(&start)
    )
}

fn call(name: Option<&Value>, id: Option<&Value>, arguments: Option<&Value>) -> String {
    let name = name.and_then(Value::as_str).unwrap_or("an unnamed tool");
    let id = id.and_then(Value::as_str);
    let id = id.map_or_else(String::new, |id| format!(" <span class=\"id\"><code>{}</code></span>", text(id)));
    let arguments = match arguments {
        None => String::new(),
        Some(Value::String(text)) => code(text),
        Some(other) => code(&pretty(other)),
    };
    format!("<div class=\"call\">\n<p>Calls <code>{}</code>{id}</p>\n{arguments}</div>\n", text(name))
}

fn code(given: &str) -> String {
    let html = format!("<pre><code>{}</code></pre>\n", text(given));
    match given.chars().count() {
        characters if characters > LONG => {
            format!("<details>\n<summary>Arguments, {characters} characters</summary>\n{html}</details>\n")
        }
        _ => html,
    }
}

fn unknown(block: &Value) -> String {
    let mut block = block.clone();
    count_data(&mut block);
    format!(
        "<details>\n<summary>A block of another kind</summary>\n<pre><code>{}</code></pre>\n</details>\n",
        text(&pretty(&block))
    )
}

/// Puts its length where data stands.
fn count_data(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > DATA || text.starts_with("data:") => {
            *value = Value::String(format!("({} characters)", text.chars().count()));
        }
        Value::Array(items) => items.iter_mut().for_each(count_data),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "data" => {
                        *value = Value::String(format!("({} characters)", text.chars().count()));
                    }
                    other => count_data(other),
                }
            }
        }
        _ => {}
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn html(message: &Value) -> String {
        let part = |part| match part {
            Part::Html(html) => html,
            Part::Image(_) => "[image]".to_owned(),
        };
        parts(message).into_iter().map(part).collect()
    }

    #[test]
    fn notes_are_marked_where_they_are_ours() {
        let note = "attachment 'x.png' was not attached: gone (not_found)";
        let fenced = format!(
            "<untrusted-content source=tool:t>\n{note}\n</untrusted-content>\n{note}\n[image attached: a, image/png, 1 bytes]"
        );
        let shown = html(&json!({"role": "tool", "content": fenced}));
        assert_eq!((shown.matches("note refused").count(), shown.matches("note attached").count()), (1, 1), "{shown}");
        assert!(!html(&json!({"role": "user", "content": note})).contains("refused"));
    }

    #[test]
    fn calls_data_and_long_texts() {
        let shown = html(&json!({"role": "assistant", "content": "x<b>\n\ty", "tool_calls": [
            {"id": "c", "function": {"name": "<i>", "arguments": "{\"a\":1}"}}]}));
        assert!(shown.contains("x&lt;b&gt;\n\ty") && shown.contains("&lt;i&gt;"), "{shown}");
        assert!(shown.contains("<pre><code>{&quot;a&quot;:1}</code></pre>"), "{shown}");
        let shown = html(&json!({"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]}));
        assert!(!shown.contains("QUJD") && shown.contains("(4 characters)"), "{shown}");
        assert!(html(&json!({"role": "user", "content": "a\n".repeat(40)})).contains("<details>"));
        assert_eq!(html(&Value::Null), "");
    }
}
