package flowmeter;

import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/** How long timers are armed for, as `suites/workloads/src/workloads/timers/delays.rs` has it, nanoseconds. */
final class Delays {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000 * MICRO;
    private static final long SECOND = 1_000 * MILLI;
    private static final long HOUR = 3_600 * SECOND;

    private Delays() {}

    /** Drawn one after the other. */
    static LongSupplier of(String name, SplittableRandom random) {
        return switch (name) {
            case "fixed" -> () -> 20 * MILLI;
            case "uniform" -> () -> random.nextLong(100 * MICRO, 40 * MILLI);
            case "log-uniform" -> {
                double from = Math.log(100 * MICRO);
                double to = Math.log(HOUR);
                yield () -> (long) Math.exp(from + random.nextDouble() * (to - from));
            }
            case "two-humped" -> () ->
                    random.nextBoolean()
                            ? random.nextLong(MILLI, 2 * MILLI)
                            : random.nextLong(60 * SECOND, 120 * SECOND);
            default -> throw new IllegalArgumentException("no delays are " + name);
        };
    }
}
