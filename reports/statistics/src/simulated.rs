//! What simulations of the tests draw from.

use rand::{Rng, RngExt};

/// How forks vary, with a standard deviation of 1 where it is finite.
#[derive(Clone, Copy, Debug)]
pub enum Tails {
    Normal,
    /// Student's t with 4 degrees of freedom.
    Heavy,
    /// Normal, with every tenth fork stalled on one side: ten times as far off.
    Stalls,
    /// Exponential, with the long tail towards the slow.
    Skewed,
}

fn normal(rng: &mut impl Rng) -> f64 {
    // Box and Muller, 1958.
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// One fork.
pub fn draw(tails: Tails, rng: &mut impl Rng) -> f64 {
    match tails {
        Tails::Normal => normal(rng),
        Tails::Heavy => {
            let square = (0..4).map(|_| normal(rng).powi(2)).sum::<f64>() / 4.0;
            normal(rng) / square.sqrt() / 2_f64.sqrt()
        }
        Tails::Stalls if rng.random::<f64>() < 0.1 => 10.0 * normal(rng),
        Tails::Stalls => normal(rng),
        Tails::Skewed => 1.0 + (1.0 - rng.random::<f64>()).ln(),
    }
}
