package flowmeter;

/** Something that calls at deadlines, which are moments of `System.nanoTime`. */
public interface Clockwork {
    /** Has it called then; the answer is what {@link #cancel} wants. */
    Object arm(long due, Runnable call);

    /** Calls it off; `false`: it had called. */
    default boolean cancel(Object armed) {
        throw new UnsupportedOperationException("it cannot be called off");
    }

    /** Whether its calls may come before their deadlines: then they are counted, and shown. */
    default boolean mayBeEarly() {
        return false;
    }
}
