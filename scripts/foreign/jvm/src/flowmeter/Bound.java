package flowmeter;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Watches that a channel never holds more than its capacity: puts that returned, less takes that were invoked. Exact in one
 * direction: takes are counted before they are invoked and puts after they returned, so an excess that shows was real.
 */
public final class Bound {
    private final long capacity;
    private final AtomicLong held = new AtomicLong();
    private final AtomicLong most = new AtomicLong();

    public Bound(long capacity) {
        this.capacity = capacity;
    }

    public void hasPut() {
        long now = held.incrementAndGet();
        if (now > most.get()) {
            most.accumulateAndGet(now, Math::max);
        }
    }

    public void willTake() {
        held.decrementAndGet();
    }

    public void kept() throws Failed {
        if (most.get() > capacity) {
            throw Failed.disproved("it held " + most + " values, and its capacity is " + capacity);
        }
    }
}
