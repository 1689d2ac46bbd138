package flowmeter;

import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

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

        @Override
        public Object arm(long due, Runnable call) {
            return executor.schedule(call, due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        /** Takes it out of the queue: `Future.cancel` answers `true` of one that is being called, too. */
        @Override
        public boolean cancel(Object armed) {
            return executor.remove((Runnable) armed);
        }
    }

    /** A thread for each, which sleeps. To call it off is to interrupt it. */
    private record BySleep(ThreadFactory threads) implements Clockwork {
        /** One asleep. The first decides: its call, or the thread that calls it off. */
        private record Asleep(Thread thread, AtomicBoolean decided) {}

        @Override
        public Object arm(long due, Runnable call) {
            AtomicBoolean decided = new AtomicBoolean();
            Thread thread = threads.newThread(() -> {
                sleep(due, decided);
                if (!decided.getAndSet(true)) {
                    call.run();
                }
            });
            thread.start();
            return new Asleep(thread, decided);
        }

        /** One thread, which sleeps over and over. */
        @Override
        public void again(long due, LongSupplier call) {
            AtomicBoolean never = new AtomicBoolean();
            threads.newThread(() -> {
                for (long next = due; next != NEVER; next = call.getAsLong()) {
                    sleep(next, never);
                }
            }).start();
        }

        @Override
        public boolean cancel(Object armed) {
            Asleep asleep = (Asleep) armed;
            if (asleep.decided.getAndSet(true)) {
                return false;
            }
            asleep.thread.interrupt();
            return true;
        }

        private static void sleep(long due, AtomicBoolean decided) {
            for (long left = due - System.nanoTime(); left > 0 && !decided.get(); left = due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
    }
}
