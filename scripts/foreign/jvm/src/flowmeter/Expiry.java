package flowmeter;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * So many timers armed, each anew from where it fired; firings a second. The first deadlines are spread over one delay, and each
 * later delay is drawn from 5 % to both sides of it.
 */
public final class Expiry implements Stage {
    private final Clockwork clockwork;
    private final int timers;
    private final long delay;

    public Expiry(Clockwork clockwork, Params params) {
        this.clockwork = clockwork;
        this.timers = params.number("timers");
        this.delay = 1_000L * params.number("delay_micros");
    }

    /** One timer. Only its own calls count, one after the other. */
    private final class Sleeper {
        private final long first;
        private final long last;
        private final CountDownLatch asleep;
        private final SplittableRandom random;
        private long due;
        private long fired;
        private long early;

        Sleeper(long first, long last, CountDownLatch asleep, SplittableRandom random) {
            this.random = random;
            this.first = first;
            this.last = last;
            this.asleep = asleep;
        }

        void begin() {
            due = System.nanoTime() + random.nextLong(1, delay + 1);
            clockwork.again(due, this::called);
        }

        private long called() {
            long now = System.nanoTime();
            if (now - first >= 0 && now - last < 0) {
                fired++;
                early += now - due < 0 ? 1 : 0;
            }
            due = System.nanoTime() + random.nextLong(delay - delay / 20, delay + delay / 20 + 1);
            if (due - last >= 0) {
                asleep.countDown();
                return Clockwork.NEVER;
            }
            return due;
        }
    }

    @Override
    public void prove() throws Exception {
        // Twice as long each time that a busy machine, or one that has compiled nothing yet, let nothing happen in it.
        for (long nanos = 20_000_000 + 2 * delay; ; nanos *= 2) {
            try {
                window(Spec.untimed(nanos));
                return;
            } catch (Failed why) {
                if (!why.kind.equals("void") || nanos > 500_000_000) {
                    throw why;
                }
            }
        }
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        long first = System.nanoTime() + spec.rampNanos();
        long last = first + spec.nanos();
        CountDownLatch asleep = new CountDownLatch(timers);
        SplittableRandom random = new SplittableRandom(spec.seed());
        List<Sleeper> sleepers = new ArrayList<>();
        for (int left = timers; left > 0; left--) {
            sleepers.add(new Sleeper(first, last, asleep, random.split()));
        }
        sleepers.forEach(Sleeper::begin);
        TimeUnit.NANOSECONDS.sleep(first - System.nanoTime());
        long cpu = Usage.cpuNanos();
        TimeUnit.NANOSECONDS.sleep(last - System.nanoTime());
        cpu = Usage.cpuNanos() - cpu;
        if (!asleep.await(10, TimeUnit.SECONDS)) {
            throw new Failed("hang", asleep.getCount() + " of " + timers + " timers did not fire within 10 s");
        }
        long early = sleepers.stream().mapToLong(one -> one.early).sum();
        // A call before its deadline is no firing, where timers may be early.
        long fired = sleepers.stream().mapToLong(one -> one.fired).sum() - early;
        if (early > 0 && !clockwork.mayBeEarly()) {
            throw Failed.disproved(early + " timers fired before their deadline");
        }
        if (fired == 0) {
            throw Failed.nothing("no timer fired within the window");
        }
        return new Sample(fired * 1e9 / spec.nanos(), fired, spec.nanos(), cpu);
    }
}
