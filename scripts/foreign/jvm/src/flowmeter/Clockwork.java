package flowmeter;

import java.util.function.LongSupplier;

/** Something that calls at deadlines, which are moments of `System.nanoTime`. */
public interface Clockwork {
    /** No moment: there is no other. */
    long NEVER = Long.MIN_VALUE;

    /** Has it called then; the answer is what {@link #cancel} wants. */
    Object arm(long due, Runnable call);

    /** Has it called then, and at each moment that the call answers, until that is {@link #NEVER}. */
    default void again(long due, LongSupplier call) {
        arm(due, () -> {
            long next = call.getAsLong();
            if (next != NEVER) {
                again(next, call);
            }
        });
    }

    /** Calls it off; `false`: it had called. */
    default boolean cancel(Object armed) {
        throw new UnsupportedOperationException("it cannot be called off");
    }

    /** Whether its calls may come before their deadlines: then they are counted, and shown. */
    default boolean mayBeEarly() {
        return false;
    }
}
