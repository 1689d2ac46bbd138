package flowmeter;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Calls of timers, counted by the calling thread. */
final class Calls {
    private final long patience;
    /** Whether each is held against its deadline: in proofs, for reading the clock is not for free. */
    private final boolean judged;
    private final AtomicLong fired = new AtomicLong();
    private final AtomicLong early = new AtomicLong();
    private final Runnable unjudged = fired::incrementAndGet;

    Calls(boolean judged, long patience) {
        this.judged = judged;
        this.patience = patience;
    }

    /** What a timer that is due then calls. */
    Runnable of(long due) {
        if (!judged) {
            return unjudged;
        }
        return () -> {
            if (System.nanoTime() - due < 0) {
                early.incrementAndGet();
            }
            fired.incrementAndGet();
        };
    }

    /** Waits until so many have fired, or more. It sleeps: CPU time is what is looked at. */
    void waitUntil(long count) throws Exception {
        long until = System.nanoTime() + patience;
        while (fired.get() < count) {
            if (System.nanoTime() - until > 0) {
                long seconds = TimeUnit.NANOSECONDS.toSeconds(patience);
                throw new Failed("hang", fired + " of " + count + " timers fired within " + seconds + " s");
            }
            TimeUnit.MICROSECONDS.sleep(100);
        }
    }

    /** Waits until so many have fired, and no more. */
    void waitFor(long count) throws Exception {
        waitUntil(count);
        if (early.get() > 0) {
            throw Failed.disproved(early + " timers fired before their deadline");
        }
        if (fired.get() != count) {
            throw Failed.disproved(count + " timers fired " + fired + " times");
        }
    }
}
