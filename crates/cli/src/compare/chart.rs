//! The comparison as a bar chart: a self-contained SVG that follows the reader's light or dark theme.

use super::{Comparison, Outcome};
use std::fmt::Write;

const WIDTH: f64 = 860.0;
/// Left edge of the bars. The format names end to its left.
const LEFT: f64 = 196.0;
/// Right edge of the longest bar. The sizes stand to its right.
const RIGHT: f64 = 760.0;
const TITLE: f64 = 56.0;
/// Height of one row of link labels.
const LEVEL: f64 = 18.0;
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;
/// Approximate width of a character at 12 px, rounded up.
const CHARACTER: f64 = 6.6;

const STYLE: &str = "\
    svg{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;--ink:#1c2733;--soft:#5d6b7a;\
--paper:#fff;--bar:#5aa5bf;--loss:#d08c2f;--limit:#a23b52;--axis:#c6ced6}\n    \
    @media(prefers-color-scheme:dark){svg{--ink:#e6ebf0;--soft:#93a1b0;--paper:#10171e;--bar:#2f7f9b;--loss:#e0a95a;\
--limit:#f08aa0;--axis:#3a4652}}\n    \
    .paper{fill:var(--paper)}text{fill:var(--ink)}.title{font-size:17px;font-weight:600}.soft{fill:var(--soft);font-size:12px;font-weight:400}\n    \
    .name{text-anchor:end}.best{font-weight:600}.figure{font-variant-numeric:tabular-nums;paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}\n    \
    .bar{fill:var(--bar)}.loss{fill:var(--loss)}.limit{stroke:var(--limit);stroke-width:1.2;stroke-dasharray:4 3;opacity:.85}\n    \
    .link{fill:var(--limit);font-size:12px}.axis{stroke:var(--axis)}";

/// Draws the chart as SVG text.
pub fn svg(comparison: &Comparison) -> String {
    let widest = comparison.links.iter().filter_map(|link| link.max_payload_bytes).max().unwrap_or(0);
    let most = comparison.most_bytes();
    // A limit far above every message would compress the bars, so its line is left out.
    let end = if widest <= 2 * most { most.max(widest) } else { most }.max(1);
    let scale = (RIGHT - LEFT) / end as f64;
    let limits = place(comparison, end, scale);
    let top = TITLE + LEVEL * limits.iter().map(|limit| limit.level + 1).max().unwrap_or(0) as f64 + 8.0;
    let bottom = top + ROW * comparison.measured().count() as f64;
    let height = bottom + 44.0;

    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">
  <title>Bytes of one message per format</title>
  <style>
{STYLE}
  </style>
  <rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>
  <text class="title" x="24" y="34">Bytes of one message<tspan class="soft" dx="12">compact JSON, {} B, is 100 %</tspan></text>"#,
        comparison.compact_bytes
    );
    // Bars first, then the lines of the limits over them, then the sizes on top.
    let rows = || comparison.measured().enumerate().map(|(index, row)| (top + ROW * index as f64, row));
    for (y, (_, outcome)) in rows() {
        bar(&mut out, outcome, y, scale);
    }
    let _ = writeln!(out, r#"  <line class="axis" x1="{LEFT}" y1="{top}" x2="{LEFT}" y2="{bottom}"/>"#);
    for limit in &limits {
        limit.draw(&mut out, bottom);
    }
    for (y, (format, outcome)) in rows() {
        figures(&mut out, comparison, format, outcome, y, scale);
    }
    legend(&mut out, bottom + 26.0);
    out.push_str("</svg>\n");
    out
}

/// A link's limit on the chart.
struct Limit {
    x: f64,
    level: usize,
    label: String,
    /// Whether the label is to the left of its line, because there is no room to the right.
    before: bool,
}

/// Assigns the link labels to rows so that no line crosses a label. Each line starts at its label.
fn place(comparison: &Comparison, end: usize, scale: f64) -> Vec<Limit> {
    // From the widest limit to the narrowest: a label without room to its right goes to the left of its line, in a row above all
    // narrower limits.
    let mut limits = Vec::new();
    let mut room = WIDTH - 8.0;
    let mut level = 0;
    for link in comparison.links.iter().rev() {
        let Some(bytes) = link.max_payload_bytes.filter(|bytes| *bytes <= end) else { continue };
        let label = format!("{} {bytes} B", link.name);
        let x = LEFT + bytes as f64 * scale;
        let before = x + length(&label) > room;
        if before {
            room = x;
            level += 1;
        }
        limits.push(Limit { x, level: level - usize::from(before), label, before });
    }
    // From the narrowest limit to the widest: each label goes one row lower, or back to the first row when all labels so far have
    // ended.
    limits.reverse();
    let (first, mut next, mut stop) = (level, level, 0.0f64);
    for limit in limits.iter_mut().filter(|limit| !limit.before) {
        if limit.x > stop {
            next = first;
        }
        limit.level = next;
        next += 1;
        stop = stop.max(limit.x + length(&limit.label));
    }
    limits
}

/// Width of a link's label, including the gap to its line.
fn length(label: &str) -> f64 {
    label.chars().count() as f64 * CHARACTER + 12.0
}

impl Limit {
    fn draw(&self, out: &mut String, bottom: f64) {
        let y = TITLE + LEVEL * self.level as f64;
        let (x, top) = (self.x, y - 8.0);
        let _ = writeln!(out, r#"  <line class="limit" x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{bottom}"/>"#);
        let (x, anchor) = if self.before { (x - 6.0, "end") } else { (x + 6.0, "start") };
        let label = escaped(&self.label);
        let _ = writeln!(
            out,
            r#"  <text class="link" x="{x:.1}" y="{}" text-anchor="{anchor}">{label}</text>"#,
            y + 4.0
        );
    }
}

fn bar(out: &mut String, outcome: Outcome, y: f64, scale: f64) {
    let kind = if outcome.lossless { "bar" } else { "loss" };
    let (y, width) = (y + (ROW - BAR) / 2.0, outcome.bytes as f64 * scale);
    let _ = writeln!(
        out,
        r#"  <rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1}" height="{BAR}" rx="2"/>"#
    );
}

fn figures(out: &mut String, comparison: &Comparison, format: &str, outcome: Outcome, y: f64, scale: f64) {
    let bytes = outcome.bytes;
    let best = comparison.smallest_lossless().is_some_and(|(smallest, _)| smallest == format);
    let weight = if best { " best" } else { "" };
    let (name, percent) = (escaped(format), comparison.percent(bytes));
    let (left, right, y) = (LEFT - 10.0, LEFT + bytes as f64 * scale + 8.0, y + ROW / 2.0 + 4.5);
    let _ = writeln!(
        out,
        r#"  <text class="name{weight}" x="{left}" y="{y}">{name}</text>
  <text class="figure{weight}" x="{right:.1}" y="{y}">{bytes}<tspan class="soft" dx="6">{percent:.0} %</tspan></text>"#
    );
}

fn legend(out: &mut String, y: f64) {
    let box_y = y - 10.0;
    let second = LEFT + 244.0;
    let _ = writeln!(
        out,
        r#"  <rect class="bar" x="{LEFT}" y="{box_y}" width="12" height="12" rx="2"/>
  <text class="soft" x="{}" y="{y}">lossless for every message</text>
  <rect class="loss" x="{second}" y="{box_y}" width="12" height="12" rx="2"/>
  <text class="soft" x="{}" y="{y}">not always</text>
  <text class="soft" x="{}" y="{y}" text-anchor="end">dashed: largest message of a link</text>"#,
        LEFT + 18.0,
        second + 18.0,
        WIDTH - 24.0,
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
