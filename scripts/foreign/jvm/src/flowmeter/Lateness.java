package flowmeter;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Sleepers that note how long after its deadline each was called, and sleep again; the value is the 99th percentile. */
public final class Lateness implements Stage {
    /** Firings that a window should hold, for its 99th percentile. */
    private static final long ENOUGH = 2_000;

    private final Clockwork clockwork;
    private final int timers;
    private final long shortest;
    private final long longest;

    public Lateness(Clockwork clockwork, Params params) {
        this.clockwork = clockwork;
        this.timers = params.number("timers");
        this.shortest = 1_000L * params.number("shortest_micros");
        this.longest = 1_000L * params.number("longest_micros");
    }

    /** One window's sleepers. */
    private final class Night {
        final long began = System.nanoTime();
        final long first;
        final long last;
        final Latencies called = new Latencies();
        final AtomicLong early = new AtomicLong();
        final CountDownLatch asleep = new CountDownLatch(timers);

        Night(Spec spec) {
            first = began + spec.rampNanos();
            last = first + spec.nanos();
        }

        /** Each deadline follows from the one before, however late that was met: a stall makes all in it late. */
        void sleep(SplittableRandom random) {
            long[] due = {began + random.nextLong(shortest, longest + 1)};
            clockwork.again(due[0], () -> {
                note(due[0], System.nanoTime() - due[0]);
                due[0] += random.nextLong(shortest, longest + 1);
                if (due[0] - last < 0) {
                    return due[0];
                }
                asleep.countDown();
                return Clockwork.NEVER;
            });
        }

        private void note(long due, long late) {
            if (due - first >= 0 && due - last < 0) {
                if (late < 0) {
                    early.incrementAndGet();
                } else {
                    called.record(late);
                }
            }
        }
    }

    @Override
    public void prove() throws Exception {
        for (long nanos = 20_000_000; ; nanos *= 2) {
            try {
                window(Spec.untimed(nanos));
                return;
            } catch (Failed why) {
                if (!why.kind.equals("void") || nanos > 200_000_000) {
                    throw why;
                }
            }
        }
    }

    @Override
    public Sample window(Spec asked) throws Exception {
        long enough = ENOUGH * ((shortest + longest) / 2) / timers;
        Spec spec = asked.warming() ? asked : new Spec(asked.rampNanos(), Math.max(asked.nanos(), enough), asked.seed(), false);
        SplittableRandom random = new SplittableRandom(spec.seed());
        Night night = new Night(spec);
        for (int left = timers; left > 0; left--) {
            night.sleep(random.split());
        }
        TimeUnit.NANOSECONDS.sleep(night.first - System.nanoTime());
        long cpu = Usage.cpuNanos();
        TimeUnit.NANOSECONDS.sleep(night.last - System.nanoTime());
        cpu = Usage.cpuNanos() - cpu;
        if (!night.asleep.await(10, TimeUnit.SECONDS)) {
            throw new Failed("hang", night.asleep.getCount() + " sleepers were not called within 10 s");
        }
        if (night.early.get() > 0 && !clockwork.mayBeEarly()) {
            throw Failed.disproved(night.early + " timers fired before their deadline");
        }
        if (night.called.count() == 0) {
            throw Failed.nothing("no timer was due within the window");
        }
        Map<String, Object> lateness = new LinkedHashMap<>();
        lateness.put("called", night.called.encoded());
        lateness.put("early", night.early.get());
        return new Sample(night.called.percentile(99), night.called.count(), spec.nanos(), cpu).with("lateness", lateness);
    }
}
