package flowmeter;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What the texts on timeouts claim of the queue that is beneath them, and whether timers are early, by those of the JDK. */
final class Deadlines {
    private static final String CODE_READ = "000_ffaacfc00d4fcfbd.txt";
    private static final String CHANNELS = "001_d22df209ee62fd6d.txt";
    private static final int TIMEOUTS = 500;

    private final String release;

    private Deadlines(String release) {
        this.release = release;
    }

    static Deadlines of(int release) {
        return new Deadlines("jdk" + release + "-");
    }

    /** Due at a moment of `System.nanoTime`. */
    private record Due(long at) implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(at - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.signum(at - ((Due) other).at);
        }
    }

    /** Begins to re-enact those that only wait. */
    List<Claims> waiting() {
        String queue = release + "delay-queue";
        return List.of(
                Claims.of(CODE_READ).claim("puts into the timers' queue wait for space", queue, Deadlines::puts),
                Claims.of(CHANNELS)
                        .claim("a take from the delay queue blocks until its head is due", queue, Deadlines::head));
    }

    /** Begins to count early calls. */
    List<Claims> early() {
        List<String> names = new ArrayList<>(List.of("delay-queue", "scheduled-executor"));
        if (!release.equals("jdk17-")) {
            names.add("virtual-sleep");
        }
        Claims claims = Claims.against("T1", "0 of " + TIMEOUTS + " early");
        for (String name : names) {
            claims.claim(
                    TIMEOUTS + " timeouts of 5 to 54 ms, one after the other",
                    release + name,
                    () -> Claims.plainly(earlyOf(Clockworks.of(name)) + " of " + TIMEOUTS + " early"));
        }
        return List.of(claims);
    }

    private static Claims.Seen puts() {
        DelayQueue<Due> queue = new DelayQueue<>();
        long hour = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
        for (int place = 0; place < 10_000; place++) {
            queue.put(new Due(hour + place));
        }
        return new Claims.Seen("puts never wait", queue.size() + " without a take");
    }

    private static Claims.Seen head() throws InterruptedException {
        DelayQueue<Due> queue = new DelayQueue<>();
        long began = System.nanoTime();
        queue.put(new Due(began + TimeUnit.SECONDS.toNanos(10)));
        queue.take();
        return Claims.after(System.nanoTime() - began);
    }

    /** How many of them call before their deadline. */
    static long earlyOf(Clockwork clockwork) throws InterruptedException {
        AtomicLong early = new AtomicLong();
        CountDownLatch over = new CountDownLatch(TIMEOUTS);
        for (int place = 0; place < TIMEOUTS; place++) {
            long due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(5 + place % 50);
            clockwork.arm(due, () -> {
                if (System.nanoTime() - due < 0) {
                    early.incrementAndGet();
                }
                over.countDown();
            });
            TimeUnit.MICROSECONDS.sleep(700);
        }
        over.await();
        return early.get();
    }
}
