//! The frame that all charts share: axes with units, a grid, and how data is drawn into it.

use std::convert::Infallible;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Drawable, PathElement, PointCollection};
use plotters::prelude::{DrawingBackend, IntoFont, Text, TextStyle};
use plotters::style::Color;
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendCoord, DrawingErrorKind};

use super::axis::Axis;
use super::svg::{Ink, Svg, UNITS};
use crate::error::ReportError;

/// The result of drawing.
pub type Drawn = Result<(), DrawingAreaErrorKind<Infallible>>;

/// The inside of a chart.
pub type Inside<'a, 'b> = ChartContext<'a, Svg<'b>, Cartesian2d<Axis, Axis>>;

/// Size, axes and their names.
pub struct Frame {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// Name of the horizontal axis, with its unit.
    pub x_name: String,
    /// Name of the vertical axis, with its unit.
    pub y_name: String,
    /// Lines at the ticks of x.
    pub x_grid: bool,
    /// Lines at the ticks of y.
    pub y_grid: bool,
}

const TOP: i32 = 24;
const RIGHT: i32 = 12;
const BOTTOM: i32 = 38;
/// Width of a character of a label, in pixels.
const CHARACTER: f64 = 6.4;

/// Text of that ink, anchored.
pub fn text_style(ink: Ink, h_pos: HPos, v_pos: VPos) -> TextStyle<'static> {
    ("sans-serif", 11 * UNITS)
        .into_font()
        .color(&ink.colour())
        .pos(Pos::new(h_pos, v_pos))
}

impl Frame {
    /// Pixels left of the plot.
    fn left(&self) -> i32 {
        14 + (self.y.longest_label() as f64 * CHARACTER) as i32
    }

    /// The horizontal position of a value, in pixels.
    pub fn x_pixel(&self, value: f64) -> i32 {
        let span = self.width as i32 - RIGHT - self.left();
        self.left() + (f64::from(span) * self.x.share(value)).round() as i32
    }

    /// The vertical position of a value, in pixels.
    pub fn y_pixel(&self, value: f64) -> i32 {
        let span = self.height as i32 - BOTTOM - TOP;
        TOP + (f64::from(span) * (1.0 - self.y.share(value))).round() as i32
    }

    /// Draws the frame, and the data into it.
    ///
    /// # Errors
    /// [`ReportError::Chart`] when the drawing library refuses.
    pub fn draw(
        &self,
        chart: &str,
        data: impl FnOnce(&mut Inside, &DrawingArea<Svg, Shift>) -> Drawn,
    ) -> Result<String, ReportError> {
        let mut out = String::new();
        self.draw_into(&mut out, data)
            .map_err(|e| ReportError::Chart {
                chart: chart.to_owned(),
                reason: e.to_string(),
            })?;
        Ok(out)
    }

    fn draw_into(
        &self,
        out: &mut String,
        data: impl FnOnce(&mut Inside, &DrawingArea<Svg, Shift>) -> Drawn,
    ) -> Drawn {
        let root = Svg::new(out, self.width, self.height).into_drawing_area();
        let mut inside = ChartBuilder::on(&root)
            .margin_top(TOP * UNITS)
            .margin_right(RIGHT * UNITS)
            .x_label_area_size(BOTTOM * UNITS)
            .y_label_area_size(self.left() * UNITS)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        let mut mesh = inside.configure_mesh();
        mesh.disable_axes()
            .bold_line_style(Ink::Grid.colour())
            .light_line_style(Ink::Grid.colour().mix(0.0));
        if !self.x_grid {
            mesh.disable_x_mesh();
        }
        if !self.y_grid {
            mesh.disable_y_mesh();
        }
        mesh.draw()?;
        self.labels(&root)?;
        data(&mut inside, &root)?;
        root.present()
    }

    /// Labels of ticks and names of axes. Plotters' own labelling leaves out labels that it considers
    /// too close.
    fn labels(&self, root: &DrawingArea<Svg, Shift>) -> Drawn {
        use plotters::coord::ranged1d::{BoldPoints, Ranged, ValueFormatter};
        let label = |text: String, x: i32, y: i32, h_pos, v_pos| {
            let style = text_style(Ink::Text, h_pos, v_pos);
            root.draw(&Text::new(text, (x * UNITS, y * UNITS), style))
        };
        let below = self.height as i32 - BOTTOM + 5;
        let mut free_from = i32::MIN;
        for tick in self.x.key_points(BoldPoints(0)) {
            let text = self.x.format_ext(&tick);
            let half = (text.chars().count() as f64 * CHARACTER / 2.0) as i32;
            let x = self.x_pixel(tick);
            // The last label must not leave the picture, and no label may overlap the one before.
            let x = x.min(self.width as i32 - half);
            if x - half >= free_from {
                free_from = x + half + 4;
                label(text, x, below, HPos::Center, VPos::Top)?;
            }
        }
        for tick in self.y.key_points(BoldPoints(0)) {
            let text = self.y.format_ext(&tick);
            label(
                text,
                self.left() - 6,
                self.y_pixel(tick),
                HPos::Right,
                VPos::Center,
            )?;
        }
        let (lo, hi) = self.x.ends();
        let middle = if self.x.is_logarithmic() {
            (lo * hi).sqrt()
        } else {
            f64::midpoint(lo, hi)
        };
        label(
            self.x_name.clone(),
            self.x_pixel(middle),
            self.height as i32 - 3,
            HPos::Center,
            VPos::Bottom,
        )?;
        label(self.y_name.clone(), 0, 3, HPos::Left, VPos::Top)
    }
}

/// A marker of implementation n: both shape and colour identify it.
pub struct Marker {
    at: (f64, f64),
    n: u16,
}

/// A marker of implementation n at that point.
pub fn marker(at: (f64, f64), n: u16) -> Marker {
    Marker { at, n }
}

impl<'a> PointCollection<'a, (f64, f64)> for &'a Marker {
    type Point = &'a (f64, f64);
    type IntoIter = std::iter::Once<&'a (f64, f64)>;

    fn point_iter(self) -> Self::IntoIter {
        std::iter::once(&self.at)
    }
}

impl<DB: DrawingBackend> Drawable<DB> for Marker {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        places: I,
        backend: &mut DB,
        _size: (u32, u32),
    ) -> Result<(), DrawingErrorKind<DB::ErrorType>> {
        let style = Ink::Marker(self.n).colour().filled();
        // When the colours repeat the shapes go on, so no pair is used twice before 56.
        let corners: &[(i32, i32)] = match (self.n + self.n / 8) % 7 {
            0 => &[],
            1 => &[(-30, -30), (30, -30), (30, 30), (-30, 30)],
            2 => &[(0, -40), (40, 30), (-40, 30)],
            3 => &[(0, -44), (44, 0), (0, 44), (-44, 0)],
            4 => &[(0, 40), (40, -30), (-40, -30)],
            5 => &[
                (-40, 0),
                (-16, -40),
                (16, -40),
                (40, 0),
                (16, 40),
                (-16, 40),
            ],
            _ => &[(-42, -16), (42, -16), (42, 16), (-42, 16)],
        };
        for (x, y) in places {
            match corners {
                [] => backend.draw_circle((x, y), 34, &style, true)?,
                some => {
                    backend.fill_polygon(some.iter().map(|(dx, dy)| (x + dx, y + dy)), &style)?
                }
            }
        }
        Ok(())
    }
}

/// A line through points.
pub fn line(points: Vec<(f64, f64)>, ink: Ink) -> PathElement<(f64, f64)> {
    PathElement::new(points, ink.colour())
}

/// The legend symbol of implementation n: a piece of its line with a marker, 24 by 10 pixels.
///
/// # Errors
/// [`ReportError::Chart`] when the drawing library refuses.
pub fn legend_symbol(n: u16) -> Result<String, ReportError> {
    let mut out = String::new();
    let draw = |out: &mut String| -> Drawn {
        let root = Svg::new(out, 24, 10).into_drawing_area();
        let unit = || Axis::categories(vec![String::new()]);
        let mut inside = ChartBuilder::on(&root).build_cartesian_2d(unit(), unit())?;
        inside.draw_series([line(vec![(-0.5, 0.0), (0.5, 0.0)], Ink::Line(n))])?;
        inside.draw_series([marker((0.0, 0.0), n)])?;
        root.present()
    };
    draw(&mut out).map_err(|e| ReportError::Chart {
        chart: "the legend".to_owned(),
        reason: e.to_string(),
    })?;
    Ok(out)
}
