//! A drawing backend behind plotters that writes compact SVG. It uses classes of the page's theme instead of colours,
//! merges consecutive shapes of one class into one path, and writes tenths of a pixel only where they matter.
//!
//! Plotters hands every stroke a colour. Here the colour's bytes encode an [`Ink`], which becomes a class:
//!
//! ```text
//!             r                       g             b
//!            +-----------------------+-------------+------------+
//! colour     | kind of the `Ink`     | n, high byte| n, low byte|
//!            +-----------------------+-------------+------------+
//! ```

use std::convert::Infallible;
use std::fmt::Write;

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind,
};

/// Units of the backend per pixel of the picture.
pub const UNITS: i32 = 10;

/// The purpose of a stroke, an area or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Lines behind the data.
    Grid,
    /// Texts.
    Text,
    /// Texts that explain why there is no number.
    Failure,
    /// The range with more busy threads than cores.
    Oversubscribed,
    /// A limit that must not be exceeded.
    Bound,
    /// A line of implementation n.
    Line(u16),
    /// A second line of implementation n.
    SecondLine(u16),
    /// An interval of implementation n.
    Interval(u16),
    /// A marker of implementation n.
    Marker(u16),
    /// A small dot of implementation n.
    Dot(u16),
    /// A line of implementation n, which is a reference.
    Reference(u16),
}

impl Ink {
    const KINDS: [&'static str; 11] = ["g", "t", "x", "o", "b", "l", "r", "i", "m", "d", "f"];

    /// The first kind that belongs to an implementation.
    const OF_ONE: u8 = 5;

    /// The colour that encodes it inside plotters.
    pub fn colour(self) -> RGBColor {
        let (kind, n) = match self {
            Ink::Grid => (0, 0),
            Ink::Text => (1, 0),
            Ink::Failure => (2, 0),
            Ink::Oversubscribed => (3, 0),
            Ink::Bound => (4, 0),
            Ink::Line(n) => (5, n),
            Ink::SecondLine(n) => (6, n),
            Ink::Interval(n) => (7, n),
            Ink::Marker(n) => (8, n),
            Ink::Dot(n) => (9, n),
            Ink::Reference(n) => (10, n),
        };
        let [high, low] = n.to_be_bytes();
        RGBColor(kind, high, low)
    }

    /// The class of that colour: a letter, and the implementation where there is one.
    fn class(colour: BackendColor) -> String {
        let (kind, high, low) = colour.rgb;
        let n = u16::from_be_bytes([high, low]);
        let letter = Ink::KINDS.get(usize::from(kind)).copied().unwrap_or("t");
        if kind >= Ink::OF_ONE {
            format!("{letter}{n}")
        } else {
            letter.to_owned()
        }
    }
}

/// The backend. The picture is complete once it has been dropped or presented.
pub struct Svg<'a> {
    out: &'a mut String,
    size: (u32, u32),
    /// Class and data of the path being collected.
    path: Option<(String, String)>,
    /// The last dot of that path.
    dot: BackendCoord,
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl<'a> Svg<'a> {
    /// Draws into `out`, which gets only the shapes: the caller writes the `<svg>` around them. The size is in
    /// pixels.
    pub fn new(out: &'a mut String, width: u32, height: u32) -> Svg<'a> {
        Svg {
            out,
            size: (width * UNITS as u32, height * UNITS as u32),
            path: None,
            dot: (0, 0),
        }
    }

    fn flush(&mut self) {
        if let Some((class, data)) = self.path.take() {
            let _ = write!(self.out, "<path class={class} d=\"{data}\"/>");
        }
    }

    /// The path of that colour; `None` for a transparent one.
    fn path(&mut self, colour: BackendColor) -> Option<&mut String> {
        if colour.alpha == 0.0 {
            return None;
        }
        let class = Ink::class(colour);
        if self.path.as_ref().is_none_or(|(open, _)| *open != class) {
            self.flush();
        }
        Some(&mut self.path.get_or_insert_with(|| (class, String::new())).1)
    }
}

/// Appends a number of pixels, with a separator where one is needed.
fn number(data: &mut String, units: i32) {
    if units >= 0 && data.ends_with(|c: char| c.is_ascii_digit()) {
        data.push(' ');
    }
    let sign = if units < 0 { "-" } else { "" };
    let (whole, tenth) = (units.abs() / UNITS, units.abs() % UNITS);
    let _ = match (whole, tenth) {
        (_, 0) => write!(data, "{sign}{whole}"),
        (0, _) => write!(data, "{sign}.{tenth}"),
        _ => write!(data, "{sign}{whole}.{tenth}"),
    };
}

fn command(data: &mut String, letter: char, units: &[i32]) {
    data.push(letter);
    for &n in units {
        number(data, n);
    }
}

fn polyline(data: &mut String, points: impl IntoIterator<Item = BackendCoord>) {
    let mut last: Option<BackendCoord> = None;
    // The command letter may be omitted if the step before had the same one.
    let mut slanting = false;
    for (x, y) in points {
        let was_slanting = std::mem::take(&mut slanting);
        match last {
            None => command(data, 'M', &[x, y]),
            Some(last) if last == (x, y) => slanting = was_slanting,
            Some((last_x, last_y)) if last_y == y => command(data, 'h', &[x - last_x]),
            Some((last_x, last_y)) if last_x == x => command(data, 'v', &[y - last_y]),
            Some((last_x, last_y)) => {
                let step = [x - last_x, y - last_y];
                slanting = true;
                match was_slanting {
                    true => step.into_iter().for_each(|n| number(data, n)),
                    false => command(data, 'l', &step),
                }
            }
        }
        last = Some((x, y));
    }
}

/// Escapes the five characters with a meaning in markup.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

impl DrawingBackend for Svg<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        self.flush();
        Ok(())
    }

    /// A line of length zero, which round caps make a dot; on a whole pixel, and relative to the one before.
    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> Drawn {
        let whole = |units: i32| (units + UNITS / 2).div_euclid(UNITS) * UNITS;
        let (x, y) = (whole(x), whole(y));
        let (last_x, last_y) = self.dot;
        let Some(data) = self.path(colour) else {
            return Ok(());
        };
        match data.ends_with("h0") {
            true => command(data, 'm', &[x - last_x, y - last_y]),
            false => command(data, 'M', &[x, y]),
        }
        data.push_str("h0");
        self.dot = (x, y);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        if let Some(data) = self.path(style.color()) {
            polyline(data, [from, to]);
        }
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        _fill: bool,
    ) -> Drawn {
        if let Some(data) = self.path(style.color()) {
            polyline(
                data,
                [(left, top), (right, top), (right, bottom), (left, bottom)],
            );
            data.push('z');
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        if let Some(data) = self.path(style.color()) {
            polyline(data, path);
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Drawn {
        let r = radius as i32;
        if let Some(data) = self.path(style.color()) {
            command(data, 'M', &[x - r, y]);
            command(data, 'a', &[r, r]);
            // Almost all the way round, except a hundredth of the width: an arc from a point to itself draws nothing.
            data.push_str(" 0 1 1 0 ");
            number(data, 1);
            data.push('z');
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        if let Some(data) = self.path(style.color()) {
            polyline(data, corners);
            data.push('z');
        }
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        (x, y): BackendCoord,
    ) -> Drawn {
        self.flush();
        let anchor = style.anchor();
        let side = match anchor.h_pos {
            HPos::Left => "",
            HPos::Center => "c",
            HPos::Right => "e",
        };
        // From the top of plotters' text box to the base line.
        let drop = match anchor.v_pos {
            VPos::Top => 0.8,
            VPos::Center => 0.35,
            VPos::Bottom => -0.2,
        };
        let y = y + (style.size() * drop) as i32;
        // The usual look of texts needs no class.
        let class = match Ink::class(style.color()) {
            usual if usual == "t" => String::new(),
            class => class,
        };
        let class = match (class.is_empty(), side.is_empty()) {
            (true, true) => String::new(),
            (false, false) => format!(" class=\"{class} {side}\""),
            _ => format!(" class={class}{side}"),
        };
        let whole = |units: i32| (f64::from(units) / f64::from(UNITS)).round();
        let (x, y, text) = (whole(x), whole(y), escape(text));
        let _ = write!(self.out, "<text{class} x={x} y={y}>{text}</text>");
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let em = style.size();
        Ok(((text.chars().count() as f64 * em * 0.55) as u32, em as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plotters::style::Color;

    fn drawn(draw: impl FnOnce(&mut Svg)) -> String {
        let mut out = String::new();
        let mut svg = Svg::new(&mut out, 100, 100);
        draw(&mut svg);
        svg.present().expect("memory is writable");
        out
    }

    #[test]
    fn shapes_of_one_class_share_a_path() {
        let style = Ink::Line(3).colour();
        let out = drawn(|svg| {
            let path = [(0, 0), (105, 20), (95, 30), (105, 40), (105, 60)];
            svg.draw_path(path, &style).expect("drawn");
            svg.draw_line((0, 0), (50, 0), &style).expect("drawn");
        });
        assert_eq!(out, "<path class=l3 d=\"M0 0l10.5 2-1 1 1 1v2M0 0h5\"/>");
    }

    #[test]
    fn dots_are_steps_on_whole_pixels() {
        let colour = Ink::Dot(3).colour().to_backend_color();
        let out = drawn(|svg| {
            for at in [(104, 206), (153, 206), (96, 251)] {
                svg.draw_pixel(at, colour).expect("drawn");
            }
        });
        assert_eq!(out, "<path class=d3 d=\"M10 21h0m5 0h0m-5 4h0\"/>");
    }

    #[test]
    fn what_is_transparent_is_not_written() {
        let style = Ink::Grid.colour().mix(0.0);
        let out = drawn(|svg| svg.draw_line((0, 0), (50, 0), &style).expect("drawn"));
        assert_eq!(out, "");
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let mut data = String::from("M");
        for n in [10, -15, 3, -3, 0] {
            number(&mut data, n);
        }
        assert_eq!(data, "M1-1.5 .3-.3 0");
    }
}
