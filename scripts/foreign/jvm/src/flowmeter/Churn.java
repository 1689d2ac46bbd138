package flowmeter;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A timer is armed and called off, while others stay armed; nanoseconds for both. */
final class Churn implements Stage {
    private static final long MINUTE = 60_000_000_000L;
    private static final int PROOF_TIMERS = 10;

    private final Clockwork clockwork;
    private final SplittableRandom random = new SplittableRandom(1);
    /** Held, so that they stay armed. */
    private final List<Object> kept = new ArrayList<>();

    Churn(Clockwork clockwork, Params params) {
        this.clockwork = clockwork;
        for (int left = params.number("outstanding"); left > 0; left--) {
            kept.add(clockwork.arm(far(System.nanoTime()), () -> {}));
        }
    }

    /** A minute to an hour from then. */
    private long far(long now) {
        return now + random.nextLong(MINUTE, 60 * MINUTE);
    }

    private void turns(int count) throws Failed {
        long now = System.nanoTime();
        for (int left = count; left > 0; left--) {
            if (!clockwork.cancel(clockwork.arm(far(now), () -> {}))) {
                throw Failed.disproved("a timer fired a minute early");
            }
        }
    }

    @Override
    public void prove() throws Exception {
        CountDownLatch called = new CountDownLatch(PROOF_TIMERS);
        List<Long> early = new ArrayList<>();
        for (int left = PROOF_TIMERS; left > 0; left--) {
            long due = System.nanoTime() + 3_000_000;
            clockwork.arm(due, () -> {
                if (System.nanoTime() - due < 0) {
                    early.add(due);
                }
                called.countDown();
            });
            turns(1);
        }
        if (!called.await(10, TimeUnit.SECONDS)) {
            throw new Failed("hang", called.getCount() + " of " + PROOF_TIMERS + " timers did not fire within 10 s");
        }
        if (!early.isEmpty()) {
            throw Failed.disproved("a timer fired before its deadline");
        }
        turns(2_000);
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        return new Solo(this::turns, 1).window(spec);
    }
}
