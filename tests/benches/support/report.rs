//! Tables and verdicts on standard output, in Markdown.

use std::time::Duration;

use super::measure::Ratio;
use super::quick;

/// A table, printed when it is complete.
#[derive(Debug)]
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        Self(vec![heads.map(str::to_owned).into()])
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.0.push(cells.into());
    }

    pub(crate) fn print(&self) {
        let columns = self.0[0].len();
        let width = |column: usize| self.0.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<_> = (0..columns).map(width).collect();
        for (at, row) in self.0.iter().enumerate() {
            let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
            println!("| {} |", cells.join(" | "));
            if at == 0 {
                let rules: Vec<_> = widths.iter().map(|&width| "-".repeat(width)).collect();
                println!("| {} |", rules.join(" | "));
            }
        }
        println!();
    }
}

pub(crate) fn heading(text: &str) {
    println!("\n## {text}\n");
    if quick() {
        println!("(quick: the figures mean nothing)\n");
    }
}

/// Says whether a ratio is where it should be. A bench says so and never fails for it: the machine may be busy.
pub(crate) fn at_least(what: &str, ratio: Ratio, wanted: f64) {
    verdict(what, &ratio.to_string(), &format!("at least {wanted}"), ratio.median >= wanted);
}

/// As [`at_least`], for what should be small.
pub(crate) fn at_most(what: &str, ratio: Ratio, wanted: f64) {
    verdict(what, &ratio.to_string(), &format!("at most {wanted}"), ratio.median <= wanted);
}

/// As [`at_most`], for memory.
pub(crate) fn below_megabytes(what: &str, bytes: u64, wanted: u64) {
    verdict(what, &megabytes(bytes), &format!("below {wanted} MB"), bytes < wanted * 1_000_000);
}

fn verdict(what: &str, found: &str, wanted: &str, met: bool) {
    let verdict = match met {
        _ if quick() => "not judged",
        true => "met",
        false => "MISSED",
    };
    println!("- {what}: {found}, wanted {wanted}: {verdict}");
}

pub(crate) fn millis(duration: Duration) -> String {
    let millis = duration.as_secs_f64() * 1e3;
    match millis {
        0.0..1.0 => format!("{millis:.3} ms"),
        1.0..10.0 => format!("{millis:.2} ms"),
        10.0..100.0 => format!("{millis:.1} ms"),
        _ => format!("{millis:.0} ms"),
    }
}

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
