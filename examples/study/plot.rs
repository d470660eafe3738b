//! Figures of side-by-side panels of curves, drawn as SVG and written as CSV.

use anyhow::Result;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// Colours that are distinguishable with colour blindness (Okabe, Ito 2008).
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
pub const ORANGE: RGBColor = RGBColor(230, 120, 0);
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);
pub const SKY: RGBColor = RGBColor(86, 180, 233);
/// The colour of closed-form solutions.
pub const GRAY: RGBColor = RGBColor(110, 110, 110);

const PANEL: (u32, u32) = (480, 340);
const LEGEND_ROW: u32 = 18;
const TITLE: u32 = 40;

/// The style of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mark {
    Line,
    /// A line with a dot at each point.
    Dots,
    Dashes,
}

#[derive(Debug, Clone)]
pub struct Series {
    pub label: String,
    pub color: RGBColor,
    pub mark: Mark,
    pub points: Vec<(f64, f64)>,
}

impl Series {
    pub fn new(label: impl Into<String>, color: RGBColor, mark: Mark, points: Vec<(f64, f64)>) -> Self {
        Self { label: label.into(), color, mark, points }
    }
}

/// An axis; its default range is that of the points.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    /// The label, with the unit.
    pub label: &'static str,
    pub log: bool,
    pub range: Option<(f64, f64)>,
}

impl Axis {
    pub fn linear(label: &'static str) -> Self {
        Self { label, ..Self::default() }
    }

    pub fn log(label: &'static str) -> Self {
        Self { label, log: true, range: None }
    }

    pub fn range(self, from: f64, to: f64) -> Self {
        Self { range: Some((from, to)), ..self }
    }

    /// The coordinate of a value along the axis.
    fn place(&self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }

    /// The ends of the axis, as returned by [`Axis::place`].
    fn ends(&self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        if let Some((from, to)) = self.range {
            return (self.place(from), self.place(to));
        }
        let (from, to) = values
            .map(|value| self.place(value))
            .filter(|place| place.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), place| (from.min(place), to.max(place)));
        let pad = 0.04 * (to - from).max(1e-9);
        (from - pad, to + pad)
    }

    /// Round numbers between the ends.
    fn ticks(&self, (from, to): (f64, f64)) -> Vec<f64> {
        if self.log {
            let decades = from.floor() as i32..=to.ceil() as i32;
            let each: &[f64] = if to - from > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let figures = decades.flat_map(|decade| each.iter().map(move |lead| lead.log10() + f64::from(decade)));
            let figures: Vec<f64> = figures.filter(|tick| (from..=to).contains(tick)).collect();
            // If there are many decades, only every second or third has a label.
            let stride = figures.len().div_ceil(8);
            return figures.into_iter().step_by(stride).collect();
        }
        let rough = (to - from) / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|lead| lead * power).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(rough);
        let first = (from / step).ceil() as i64;
        (first..).map(|count| count as f64 * step).take_while(|&tick| tick <= to).collect()
    }

    fn text(&self, place: f64) -> String {
        let value = if self.log { 10f64.powf(place) } else { place };
        let size = value.abs();
        if size < 1e-12 {
            "0".into()
        } else if (1e-3..1e5).contains(&size) {
            // At most six digits, without trailing zeros.
            let text = format!("{value:.*}", (5 - size.log10().floor() as i32).clamp(0, 8) as usize);
            let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            text.replace('-', "−")
        } else {
            format!("{value:.0e}").replace('-', "−")
        }
    }
}

/// An axis with its ends and ticks, as plotters requires it.
struct Scale<'a> {
    axis: &'a Axis,
    ends: (f64, f64),
}

impl Ranged for Scale<'_> {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        let part = (place - self.ends.0) / (self.ends.1 - self.ends.0);
        from + (part * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.axis.ticks(self.ends)
    }

    fn range(&self) -> Range<f64> {
        self.ends.0..self.ends.1
    }
}

impl ValueFormatter<f64> for Scale<'_> {
    fn format_ext(&self, place: &f64) -> String {
        self.axis.text(*place)
    }
}

#[derive(Debug, Clone)]
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

#[derive(Debug, Clone)]
pub struct Figure {
    /// The finding that the figure shows.
    pub title: String,
    pub panels: Vec<Panel>,
}

impl Figure {
    /// One row per point: panel, series, x, y.
    pub fn csv(&self) -> String {
        let mut text = String::from("panel,series,x,y\n");
        for panel in &self.panels {
            for series in &panel.series {
                for (x, y) in &series.points {
                    let _ = writeln!(text, "\"{}\",\"{}\",{x},{y}", panel.title, series.label);
                }
            }
        }
        text
    }

    pub fn draw(&self, path: &Path) -> Result<()> {
        let rows = self.panels.iter().map(|panel| panel.series.len()).max().unwrap_or(0) as u32;
        // A single panel is wider, because of the title.
        let width = if self.panels.len() == 1 { 640 } else { PANEL.0 * self.panels.len() as u32 };
        let size = (width, TITLE + PANEL.1 + LEGEND_ROW * rows + 10);
        let root = SVGBackend::new(path, size).into_drawing_area();
        root.fill(&WHITE)?;
        let text = FontDesc::new(FontFamily::SansSerif, 19.0, FontStyle::Bold).color(&BLACK);
        root.draw(&Text::new(self.title.clone(), (18, 14), text))?;
        let (_, root) = root.split_vertically(TITLE);
        for (panel, area) in self.panels.iter().zip(root.split_evenly((1, self.panels.len()))) {
            let (plot, legend) = area.split_vertically(PANEL.1);
            panel.draw(&plot)?;
            panel.draw_legend(&legend)?;
        }
        root.present()?;
        Ok(())
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Panel {
    fn draw(&self, area: &Area) -> Result<()> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (x_ends, y_ends) = (self.x.ends(points().map(|point| point.0)), self.y.ends(points().map(|point| point.1)));
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 15))
            .margin(10)
            .margin_right(22)
            .x_label_area_size(44)
            .y_label_area_size(66)
            .build_cartesian_2d(Scale { axis: &self.x, ends: x_ends }, Scale { axis: &self.y, ends: y_ends })?;
        chart
            .configure_mesh()
            .x_desc(self.x.label)
            .y_desc(self.y.label)
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 14))
            .bold_line_style(RGBColor(225, 225, 225))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for series in &self.series {
            let places = series.points.iter().map(|&(x, y)| (self.x.place(x), self.y.place(y)));
            let inside =
                |&(x, y): &(f64, f64)| (x_ends.0..=x_ends.1).contains(&x) && (y_ends.0..=y_ends.1).contains(&y);
            let places: Vec<_> = places.filter(inside).collect();
            match series.mark {
                Mark::Dashes => {
                    chart.draw_series(DashedLineSeries::new(places, 7, 4, series.color.stroke_width(2)))?;
                }
                mark => {
                    chart.draw_series(LineSeries::new(places.clone(), series.color.stroke_width(2)))?;
                    let dots = places.into_iter().filter(|_| mark == Mark::Dots);
                    chart.draw_series(dots.map(|place| Circle::new(place, 3, series.color.filled())))?;
                }
            }
        }
        Ok(())
    }

    /// Draws the legend below the plot, where it covers no curve.
    fn draw_legend(&self, area: &Area) -> Result<()> {
        let text = ("sans-serif", 13).into_font().color(&BLACK);
        for (row, series) in self.series.iter().enumerate() {
            let y = row as i32 * LEGEND_ROW as i32 + 6;
            let ends: &[(i32, i32)] =
                if series.mark == Mark::Dashes { &[(80, 88), (92, 100), (104, 112)] } else { &[(80, 112)] };
            for &(from, to) in ends {
                area.draw(&PathElement::new(vec![(from, y), (to, y)], series.color.stroke_width(2)))?;
            }
            if series.mark == Mark::Dots {
                area.draw(&Circle::new((96, y), 3, series.color.filled()))?;
            }
            area.draw(&Text::new(series.label.clone(), (122, y - 6), text.clone()))?;
        }
        Ok(())
    }
}
