//! The simulation as a histogram of sizes: a self-contained SVG.

use super::Report;
use crate::failure::Failure;
use plotters::prelude::*;

const SIZE: (u32, u32) = (860, 420);
/// A colour for each form, in their order.
const COLORS: [RGBColor; 3] =
    [RGBColor(0x80, 0x8a, 0x94), RGBColor(0xb8, 0x6b, 0x14), RGBColor(0x1f, 0x7a, 0x99)];

/// Draws the histogram as SVG text.
pub fn svg(report: &Report) -> Result<String, Failure> {
    let mut out = String::new();
    draw(report, &mut out).map_err(|error| Failure::about("--svg", error))?;
    Ok(out)
}

fn draw(report: &Report, out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let share = |count: u64, all: u64| 100.0 * count as f64 / all.max(1) as f64;
    let longest = report.outcomes.iter().map(|one| one.sizes.counts().len()).max().unwrap_or(1) as u32;
    let highest = report.outcomes.iter().flat_map(|one| {
        let all = one.sizes.messages();
        one.sizes.counts().iter().map(move |count| share(*count, all))
    });
    let highest = highest.fold(1.0, f64::max);
    let area = SVGBackend::with_string(out, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Bytes of a message", ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(0..longest + 1, 0.0..highest * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .label_style(("sans-serif", 14))
        .x_desc("bytes")
        .y_desc("% of the messages")
        .draw()?;
    for (outcome, color) in report.outcomes.iter().zip(COLORS) {
        let all = outcome.sizes.messages();
        let bars = outcome.sizes.counts().iter().zip(0u32..).filter(|(count, _)| **count > 0);
        let bar = |(count, bytes): (&u64, u32)| {
            Rectangle::new([(bytes, 0.0), (bytes + 1, share(*count, all))], color.mix(0.7).filled())
        };
        let drawn = chart.draw_series(bars.map(bar))?;
        drawn
            .label(outcome.form.name())
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
    }
    chart.configure_series_labels().label_font(("sans-serif", 14)).border_style(BLACK.mix(0.2)).draw()?;
    Ok(area.present()?)
}
