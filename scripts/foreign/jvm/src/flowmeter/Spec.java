package flowmeter;

/** A window to be timed: untimed work first, then the time between the edges, in nanoseconds. */
public record Spec(long rampNanos, long nanos, long seed, boolean warming) {
    /** One that nothing is counted of. */
    static Spec untimed(long nanos) {
        return new Spec(0, nanos, 1, true);
    }
}
