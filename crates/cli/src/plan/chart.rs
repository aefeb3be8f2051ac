//! Bar charts of the plan, one per link: a self-contained SVG that follows the reader's light or dark theme.

use crate::failure::Failure;
use dunnage_plan::{
    Estimate, LinkPlan, Report,
    numbers::{amount, megabytes},
};
use plotters::{
    coord::{Shift, ranged1d::SegmentValue},
    element::{EmptyElement, Rectangle, Text},
    prelude::{ChartBuilder, DrawingArea, IntoDrawingArea, IntoSegmentedCoord, SVGBackend},
    style::{Color, IntoFont, RGBColor, text_anchor},
};
use std::fmt::Display;

const WIDTH: u32 = 860;
const ROW: u32 = 24;
/// Height of a link's title, axis and margins.
const FRAME: u32 = 96;
const LEGEND: u32 = 40;
const NAMES: u32 = 170;

const INK: RGBColor = RGBColor(0x1c, 0x27, 0x33);
const AXIS: RGBColor = RGBColor(0xc6, 0xce, 0xd6);
const USABLE: RGBColor = RGBColor(0x5a, 0xa5, 0xbf);
const UNUSABLE: RGBColor = RGBColor(0xd0, 0x8c, 0x2f);

/// The library writes colours as attributes, which rules of a style sheet override.
const STYLE: &str = r##"<style>
svg{background:#fff}text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}
@media(prefers-color-scheme:dark){svg{background:#10171e}[fill="#1C2733"]{fill:#e6ebf0}[stroke="#C6CED6"]{stroke:#3a4652}
[fill="#5AA5BF"]{fill:#2f7f9b}[fill="#D08C2F"]{fill:#e0a95a}}
</style>
"##;

/// Draws the charts as SVG text.
pub fn svg(report: &Report) -> Result<String, Failure> {
    let panel = FRAME + ROW * report.sizes.formats.len() as u32;
    let height = LEGEND + panel * report.links.len() as u32;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        let (legend, panels) = root.split_vertically(LEGEND);
        draw_legend(&legend)?;
        for (plan, area) in report.links.iter().zip(panels.split_evenly((report.links.len(), 1))) {
            draw(plan, &area)?;
        }
        root.present().map_err(failed)?;
    }
    let body = text.find('>').map_or(0, |end| end + 1);
    text.insert_str(body, STYLE);
    Ok(text)
}

fn failed(error: impl Display) -> Failure {
    Failure::about("chart", error)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw_legend(area: &Area<'_>) -> Result<(), Failure> {
    let entries = [
        (USABLE, "fits and is lossless"),
        (UNUSABLE, "does not fit, is lossy or too often, or the link has ended"),
    ];
    let mut x = NAMES as i32;
    for (colour, label) in entries {
        area.draw(&Rectangle::new([(x, 14), (x + 12, 26)], colour.filled())).map_err(failed)?;
        let style = ("sans-serif", 15).into_font().color(&INK);
        area.draw(&Text::new(label, (x + 18, 14), style)).map_err(failed)?;
        x += 190;
    }
    Ok(())
}

/// The length of a format's bar, and its label.
fn value(plan: &LinkPlan, estimate: &Estimate) -> Option<f64> {
    match plan.link.price {
        Some(_) => estimate.month.cost.map(|cost| cost.amount),
        None => Some(megabytes(estimate.month.billed_bytes)),
    }
}

fn title(plan: &LinkPlan) -> String {
    let ended = plan.link.ended.as_ref().map(|ended| format!(", ended in {ended}")).unwrap_or_default();
    match plan.link.currency.filter(|_| plan.link.price.is_some()) {
        Some(currency) => format!("{}{ended}: {currency} a month for the fleet", plan.link.name),
        None => format!("{}{ended}: MB a month for the fleet, price not published", plan.link.name),
    }
}

fn draw(plan: &LinkPlan, area: &Area<'_>) -> Result<(), Failure> {
    let count = plan.estimates.len();
    let values = plan.estimates.iter().filter_map(|estimate| value(plan, estimate));
    // Room to the right of the longest bar, for its figure.
    let end = values.fold(0.0, f64::max).max(f64::MIN_POSITIVE) * 1.15;
    let name = |at: &SegmentValue<usize>| match at {
        // The first row is at the top.
        SegmentValue::CenterOf(row) if *row < count => plan.estimates[count - 1 - row].format.clone(),
        _ => String::new(),
    };
    let mut chart = ChartBuilder::on(area)
        .caption(title(plan), ("sans-serif", 20).into_font().color(&INK))
        .margin(8)
        .y_label_area_size(NAMES)
        .x_label_area_size(24)
        .build_cartesian_2d(0.0..end, (0..count.saturating_sub(1)).into_segmented())
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(plotters::style::TRANSPARENT)
        .bold_line_style(AXIS)
        .axis_style(AXIS)
        .y_labels(count + 1)
        .x_labels(6)
        .x_label_formatter(&|number| amount(*number).trim_end_matches(".00").to_owned())
        .y_label_formatter(&name)
        .label_style(("sans-serif", 15).into_font().color(&INK))
        .draw()
        .map_err(failed)?;
    let rows = || plan.estimates.iter().enumerate().map(|(index, estimate)| (count - 1 - index, estimate));
    let bars = rows().filter_map(|(row, estimate)| {
        let colour = if estimate.is_usable() { USABLE } else { UNUSABLE };
        let corners =
            [(0.0, SegmentValue::Exact(row)), (value(plan, estimate)?, SegmentValue::Exact(row + 1))];
        let mut bar = Rectangle::new(corners, colour.filled());
        bar.set_margin(3, 3, 0, 0);
        Some(bar)
    });
    chart.draw_series(bars).map_err(failed)?;
    let style = ("sans-serif", 15)
        .into_font()
        .color(&INK)
        .pos(text_anchor::Pos::new(text_anchor::HPos::Left, text_anchor::VPos::Center));
    let figures = rows().map(|(row, estimate)| {
        let value = value(plan, estimate);
        let label = value.map_or_else(|| "not published".to_owned(), amount);
        let end = EmptyElement::at((value.unwrap_or(0.0), SegmentValue::CenterOf(row)));
        end + Text::new(label, (5, 0), style.clone())
    });
    chart.draw_series(figures).map_err(failed)?;
    Ok(())
}
