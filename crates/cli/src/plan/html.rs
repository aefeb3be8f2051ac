//! The plan as a self-contained page that follows the reader's light or dark theme.

use super::{
    chart,
    table::{columns, facts, notes, summary},
};
use crate::{failure::Failure, output::printable};
use dunnage_plan::{Report, json};
use std::fmt::Write;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c2733;--soft:#5d6b7a;--paper:#fff;--line:#c6ced6;--best:#e3f1f6}
@media(prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#93a1b0;--paper:#10171e;--line:#3a4652;--best:#17313b}}
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;color:var(--ink);background:var(--paper);
margin:0 auto;padding:1rem;max-width:62rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2rem 0 .2rem}.soft{color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.15rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:400}th:first-child,td:first-child,.word{text-align:left}
.no{color:var(--soft)}.best{background:var(--best);font-weight:600}svg{max-width:100%;height:auto}a{color:inherit}";

/// Renders the page.
pub fn render(report: &Report) -> Result<String, Failure> {
    let title = format!("Plan for {}", escaped(&report.schema));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{}.</p>\n<h2>Recommendation</h2>\n<p>{}</p>\n",
        escaped(&summary(report)),
        escaped(&report.advice.sentences.join(" "))
    );
    links(report, &mut out);
    if !report.sizes.refused.is_empty() {
        out.push_str("<h2>Formats that cannot carry the messages</h2>\n<ul>\n");
        for (format, reason) in &report.sizes.refused {
            let _ = writeln!(out, "<li>{}: {}</li>", escaped(format), escaped(reason));
        }
        out.push_str("</ul>\n");
    }
    let _ = writeln!(out, "<h2>Charts</h2>\n<div class=\"wide\">\n{}</div>", chart::svg(report)?);
    sources(report, &mut out);
    out.push_str("</body>\n</html>\n");
    Ok(out)
}

/// A section for each link.
fn links(report: &Report, out: &mut String) {
    for plan in &report.links {
        let choice = report.advice.choices.iter().find(|(id, _)| *id == plan.link.id);
        let columns = columns(report, plan.link);
        let _ = writeln!(
            out,
            "<h2>{}</h2>\n<p class=\"soft\">{}</p>",
            escaped(&plan.link.name),
            escaped(&facts(plan))
        );
        out.push_str("<div class=\"wide\"><table>\n<tr>");
        for (heading, _) in &columns {
            let _ = write!(out, "<th{}>{}</th>", class(heading), escaped(heading));
        }
        out.push_str("</tr>\n");
        for estimate in &plan.estimates {
            let is_choice = choice.is_some_and(|(_, format)| *format == estimate.format);
            let row = match (is_choice, estimate.is_usable()) {
                (true, _) => " class=\"best\"",
                (false, true) => "",
                (false, false) => " class=\"no\"",
            };
            let _ = write!(out, "<tr{row}>");
            for (heading, cell) in &columns {
                let _ = write!(out, "<td{}>{}</td>", class(heading), escaped(&cell(estimate)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</table></div>\n<ul class=\"soft\">\n");
        for note in notes(plan.link) {
            let _ = writeln!(out, "<li>{}</li>", escaped(&note));
        }
        out.push_str("</ul>\n");
    }
}

fn class(heading: &str) -> &'static str {
    if heading == "fits" { " class=\"word\"" } else { "" }
}

/// The sources of all figures.
fn sources(report: &Report, out: &mut String) {
    out.push_str("<h2>Sources</h2>\n<ul>\n");
    for plan in &report.links {
        for (figure, source) in json::sources(plan.link) {
            let date = source.date.as_ref().map(|date| format!("{date}, ")).unwrap_or_default();
            let _ = writeln!(
                out,
                "<li>{}, {}: <a href=\"{}\">{}</a> ({date}read {})</li>",
                escaped(&plan.link.id),
                escaped(figure),
                escaped(&source.url),
                escaped(&source.title),
                source.read
            );
        }
    }
    out.push_str("</ul>\n");
}

fn escaped(text: &str) -> String {
    let text = printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
