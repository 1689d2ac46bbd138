package flowmeter;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The two edges of a window, as in the engine's `harness/measure/src/edges.rs`: it begins when the last thread has started
 * to run, each counting thread divides the chunk that spans an edge in proportion to time, and threads go on after the
 * second edge until all counting threads have passed it, but no longer than 5 ms.
 */
public final class Edges {
    private static final long GRACE = 5_000_000;

    final Spec spec;
    private final AtomicInteger counting;
    private volatile long begins = Long.MAX_VALUE;
    private volatile long cpuAtFirst = -1;
    private volatile long cpuAtLast = -1;

    public Edges(Spec spec, int counting) {
        this.spec = spec;
        this.counting = new AtomicInteger(counting);
    }

    /** The ramp begins now. */
    public void begin() {
        begins = System.nanoTime();
    }

    boolean hasBegun() {
        return begins != Long.MAX_VALUE;
    }

    long began() {
        return begins;
    }

    long first() {
        return begins + spec.rampNanos();
    }

    long last() {
        return first() + spec.nanos();
    }

    void passFirst() {
        // The first thread reads it. A few microseconds between two threads change nothing.
        if (cpuAtFirst < 0) {
            cpuAtFirst = Usage.cpuNanos();
        }
    }

    void passLast(boolean counts) {
        if (cpuAtLast < 0) {
            cpuAtLast = Usage.cpuNanos();
        }
        if (counts) {
            counting.decrementAndGet();
        }
    }

    boolean over(long now) {
        return counting.get() == 0 || (hasBegun() && now - last() >= GRACE);
    }

    /** The chunks of a thread that counts. */
    public Laps counter() {
        return new Laps(this, true);
    }

    /** The chunks of a thread that works and does not count. */
    public Laps laps() {
        return new Laps(this, false);
    }

    /** Operations a second of the threads that counted. */
    public Sample sample(Iterable<Laps> counters) throws Failed {
        double operations = 0;
        for (Laps counter : counters) {
            if (!counter.hasPassedBoth()) {
                throw Failed.nothing("a counting thread ended before the window did");
            }
            operations += counter.counted();
        }
        if (operations <= 0) {
            throw Failed.nothing("no operation completed between the edges");
        }
        Long cpu = cpuAtFirst < 0 || cpuAtLast < 0 ? null : cpuAtLast - cpuAtFirst;
        long whole = Math.max(1, Math.round(operations));
        return new Sample(operations * 1e9 / spec.nanos(), whole, spec.nanos(), cpu);
    }
}
