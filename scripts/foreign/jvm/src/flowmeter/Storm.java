package flowmeter;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Many timers due at one moment: the time from it until the last has called, for each of them. */
public final class Storm implements Stage {
    private final Clockwork clockwork;
    private final int timers;
    /** How long arming took last: the next storm is due later than that. */
    private long arming;

    public Storm(Clockwork clockwork, Params params) {
        this.clockwork = clockwork;
        this.timers = params.number("timers");
        this.arming = timers * 2_000L;
    }

    private record Passed(long nanos, long cpu) {}

    private Passed storm() throws Exception {
        for (int tries = 10; tries > 0; tries--) {
            long began = System.nanoTime();
            long due = began + 2 * arming + 2_000_000;
            AtomicLong toCall = new AtomicLong(timers);
            AtomicLong earliest = new AtomicLong();
            AtomicLong latest = new AtomicLong();
            CountDownLatch over = new CountDownLatch(1);
            Runnable call = () -> {
                // Only the first and the last read the clock: the storm is timed, not the clock.
                long left = toCall.getAndDecrement();
                if (left == timers) {
                    earliest.set(System.nanoTime());
                }
                if (left == 1) {
                    latest.set(System.nanoTime());
                    over.countDown();
                }
            };
            for (int left = timers; left > 0; left--) {
                clockwork.arm(due, call);
            }
            long armed = System.nanoTime();
            arming = armed - began;
            boolean inTime = due - armed > 0;
            TimeUnit.NANOSECONDS.sleep(due - armed);
            long cpu = Usage.cpuNanos();
            if (!over.await(10, TimeUnit.SECONDS)) {
                throw new Failed("hang", toCall + " of " + timers + " timers did not fire within 10 s");
            }
            if (inTime && earliest.get() - due < 0 && !clockwork.mayBeEarly()) {
                throw Failed.disproved("a timer fired before its deadline");
            }
            if (inTime) {
                return new Passed(Math.max(1, latest.get() - due), Usage.cpuNanos() - cpu);
            }
        }
        throw Failed.nothing(timers + " timers were never armed before they were due, in 10 tries");
    }

    @Override
    public void prove() throws Exception {
        storm();
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        long end = System.nanoTime() + spec.nanos();
        long count = 0;
        long nanos = 0;
        long cpu = 0;
        do {
            Passed storm = storm();
            count += timers;
            nanos += storm.nanos;
            cpu += storm.cpu;
        } while (System.nanoTime() - end < 0);
        return new Sample((double) nanos / count, count, nanos, cpu);
    }
}
