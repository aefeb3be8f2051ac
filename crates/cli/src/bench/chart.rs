//! The benchmark as a plot of size against speed: a self-contained SVG that follows the reader's light or dark theme.

use super::Outcome;
use crate::failure::Failure;
use dunnage_measure::Measured;
use plotters::prelude::*;

const SIZE: (u32, u32) = (860, 560);
/// Free space around the points, as a factor: names stand to the right of their points.
const MARGIN: (f64, f64) = (1.3, 2.0);
const LOSSLESS: RGBColor = RGBColor(0x1f, 0x7a, 0x99);
const LOSSY: RGBColor = RGBColor(0xb8, 0x6b, 0x14);

/// Colours of the dark theme. A style sheet has precedence over the attributes that the library writes.
const STYLE: &str = "<style>text{font-family:system-ui,sans-serif}@media(prefers-color-scheme:dark){svg{background:#10171e}\
    text{fill:#e6ebf0}line,polyline{stroke:#3a4652}}</style>";

/// Draws the plot as SVG text.
pub fn svg(outcome: &Outcome) -> Result<String, Failure> {
    let mut out = String::new();
    draw(outcome, &mut out).map_err(|error| Failure::about("--svg", error))?;
    // Behind the opening tag.
    let inside = out.find("<svg").and_then(|tag| Some(tag + out[tag..].find('>')? + 1));
    out.insert_str(inside.unwrap_or(0), STYLE);
    Ok(out)
}

fn draw(outcome: &Outcome, out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let points: Vec<(&str, &Measured)> = outcome
        .rows
        .iter()
        .filter_map(|row| Some((row.format.as_str(), row.outcome.as_ref().ok()?)))
        .collect();
    let span = |of: fn(&Measured) -> f64, (below, above): (f64, f64)| {
        let values = points.iter().map(|(_, measured)| of(measured).max(1e-3));
        let least = values.clone().fold(f64::INFINITY, f64::min);
        (least / below..values.fold(least, f64::max) * above).log_scale()
    };
    let area = SVGBackend::with_string(out, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .caption("Size and speed of the formats", ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(span(bytes, MARGIN), span(microseconds, (MARGIN.0, MARGIN.0)))?;
    chart
        .configure_mesh()
        .disable_mesh()
        .label_style(("sans-serif", 14))
        .x_desc("bytes")
        .y_desc("encode and decode, µs")
        .x_label_formatter(&|value| short(*value))
        .y_label_formatter(&|value| short(*value))
        .draw()?;
    for (format, measured) in points {
        let point = (bytes(measured), microseconds(measured));
        let color = if measured.lossless { LOSSLESS } else { LOSSY };
        let name = if measured.lossless { format.to_owned() } else { format!("{format}, not lossless") };
        let dot = Circle::new((0, 0), 4, color.filled());
        let label = Text::new(name, (8, -6), ("sans-serif", 15));
        chart.draw_series(std::iter::once(EmptyElement::at(point) + dot + label))?;
    }
    area.present()?;
    Ok(())
}

fn bytes(measured: &Measured) -> f64 {
    measured.bytes
}

fn microseconds(measured: &Measured) -> f64 {
    (measured.encode.median_ns + measured.decode.median_ns) / 1e3
}

/// A number on an axis, without needless decimals.
fn short(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}") } else { format!("{value}") }
}
