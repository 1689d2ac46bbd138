//! The output of a channel with a transform, independent of producers and consumers: the transform, run over the values
//! of the puts in the order in which they took effect, and completed once (B2).

use std::ops::ControlFlow;

use crate::channel::Transform;

/// The output for these puts, if the channel is closed after them. Puts after the transform has ended the channel
/// produce nothing.
pub fn transformed<T>(
    mut transform: impl Transform<T>,
    puts: impl IntoIterator<Item = T>,
) -> Vec<T> {
    let mut emitted = Vec::new();
    let mut emit = |value| {
        emitted.push(value);
        ControlFlow::Continue(())
    };
    let _ = puts
        .into_iter()
        .try_for_each(|value| transform.step(value, &mut emit));
    transform.complete(&mut emit);
    emitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Emit;

    /// Emits each value twice, ends at a three, and emits a zero at the end.
    struct Twice;

    impl Transform<u32> for Twice {
        fn step(&mut self, value: u32, emit: Emit<'_, u32>) -> ControlFlow<()> {
            emit(value)?;
            emit(value)?;
            if value == 3 {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }

        fn complete(&mut self, emit: Emit<'_, u32>) {
            let _ = emit(0);
        }
    }

    #[test]
    fn values_come_in_the_order_of_the_puts_and_the_completion_last() {
        assert_eq!(transformed(Twice, [2, 1]), [2, 2, 1, 1, 0]);
        assert_eq!(transformed(Twice, []), [0]);
    }

    #[test]
    fn nothing_comes_of_what_is_put_after_the_end() {
        assert_eq!(transformed(Twice, [1, 3, 2]), [1, 1, 3, 3, 0]);
    }
}
