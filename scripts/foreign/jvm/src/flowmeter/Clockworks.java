package flowmeter;

import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The timers of `java.util.concurrent`, and threads that sleep. */
final class Clockworks {
    private Clockworks() {}

    /** That of this name; null where there is none. */
    static Clockwork of(String name) {
        switch (name) {
            case "delay-queue":
                return new ByDelayQueue();
            case "scheduled-executor":
                return new ByExecutor();
            case "virtual-sleep":
                return new BySleep(Crew.virtual());
            default:
                return null;
        }
    }

    /** A thread that takes what is due, as core.async's daemon does. */
    private static final class ByDelayQueue implements Clockwork {
        private final DelayQueue<Entry> queue = new DelayQueue<>();

        ByDelayQueue() {
            Crew.PLATFORM.newThread(() -> {
                for (;;) {
                    try {
                        queue.take().call.run();
                    } catch (InterruptedException nobodyDoes) {
                        return;
                    }
                }
            }).start();
        }

        @Override
        public Object arm(long due, Runnable call) {
            Entry entry = new Entry(due, call);
            queue.put(entry);
            return entry;
        }

        /** Goes through all that are armed: the queue has no other way. */
        @Override
        public boolean cancel(Object armed) {
            return queue.remove(armed);
        }
    }

    private static final class Entry implements Delayed {
        final long due;
        final Runnable call;

        Entry(long due, Runnable call) {
            this.due = due;
            this.call = call;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.signum(due - ((Entry) other).due);
        }
    }

    private static final class ByExecutor implements Clockwork {
        private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, Crew.PLATFORM);

        ByExecutor() {
            // Else what is called off stays until it is due.
            executor.setRemoveOnCancelPolicy(true);
        }

        @Override
        public Object arm(long due, Runnable call) {
            return executor.schedule(call, due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public boolean cancel(Object armed) {
            return ((Future<?>) armed).cancel(false);
        }
    }

    /** A thread for each, which sleeps. */
    private record BySleep(ThreadFactory threads) implements Clockwork {
        @Override
        public Object arm(long due, Runnable call) {
            Thread thread = threads.newThread(() -> {
                for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                call.run();
            });
            thread.start();
            return thread;
        }
    }
}
