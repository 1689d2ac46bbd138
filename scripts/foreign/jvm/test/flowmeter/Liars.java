package flowmeter;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** Channels, pipelines and timers that are right but for one answer: each has to fail its proof or its window. */
public final class Liars {
    private Liars() {}

    /** What a channel does wrongly at its tenth take, or all the time. */
    private enum Lie {
        NONE,
        LOSES,
        REPEATS,
        SWAPS,
        OVERFILLS
    }

    /** What is put back stands before the queue. */
    private record Liar(Lie lie, BlockingQueue<Long> queue, AtomicInteger takes, AtomicReference<Long> back)
            implements Port {
        @Override
        public void put(Long value) throws InterruptedException {
            queue.put(value);
        }

        @Override
        public Long take() throws InterruptedException {
            Long before = back.getAndSet(null);
            Long value = before == null ? queue.take() : before;
            if (takes.incrementAndGet() != 10) {
                return value;
            }
            switch (lie) {
                case LOSES:
                    return queue.take();
                case REPEATS:
                    back.set(value);
                    return value;
                case SWAPS:
                    Long next = queue.take();
                    back.set(value);
                    return next;
                default:
                    return value;
            }
        }

        @Override
        public boolean offer(Long value) {
            return queue.offer(value);
        }
    }

    private static Stage stream(Lie lie) {
        Params params = new Params(Map.of("producers", 1L, "consumers", 1L, "buffer", Map.of("fixed", 8L)));
        Port.Opener opener = room -> {
            int really = lie == Lie.OVERFILLS ? 2 * room : room;
            return new Liar(lie, new ArrayBlockingQueue<>(really), new AtomicInteger(), new AtomicReference<>());
        };
        return Threads.stream(opener, Crew.PLATFORM, params);
    }

    private static String kindOf(Crew.Job job) throws Exception {
        try {
            job.run();
            return "fine";
        } catch (Failed why) {
            return why.kind;
        }
    }

    /** Longer and longer ones: on a busy machine there may not be ten takes in a short one. */
    private static void windows(Stage stage) throws Exception {
        for (long nanos = 50_000_000; nanos < 2_000_000_000; nanos *= 2) {
            stage.window(Spec.untimed(nanos));
        }
    }

    private static void expect(String what, String expected, Crew.Job job) throws Exception {
        String seen = kindOf(job);
        if (!seen.equals(expected)) {
            throw new AssertionError(what + ": " + seen + " where " + expected + " was due");
        }
    }

    public static void main(String[] none) throws Exception {
        for (Lie lie : Lie.values()) {
            expect(lie + " in a proof", lie == Lie.NONE ? "fine" : "proof", () -> stream(lie).prove());
        }
        for (Lie lie : List.of(Lie.LOSES, Lie.REPEATS)) {
            expect(lie + " in a window", "count", () -> windows(stream(lie)));
        }
        Params three = new Params(Map.of("parallelism", 3L, "items", 30L, "mean_micros", 200L, "durations", "uniform"));
        expect("a map of three", "fine", () -> new PipelineTasks(mapOf(3, false), three).prove());
        expect("a map of four", "proof", () -> new PipelineTasks(mapOf(4, false), three).prove());
        expect("a map that claims order", "proof", () -> new PipelineTasks(mapOf(3, true), three).prove());
        for (Fault fault : Fault.values()) {
            expect(fault + " in a turnover", fault.inTurnover, () -> turnover(fault).prove());
        }
        Params hundred = new Params(Map.of("timers", 100L, "delay_micros", 5_000L));
        for (Fault fault : List.of(Fault.NONE, Fault.EARLY)) {
            expect(fault + " in an expiry", fault.inTurnover, () -> new Expiry(fault.clockwork(1), hundred).prove());
            expect(fault + " in a storm", fault.inTurnover, () -> new Storm(fault.clockwork(1), hundred).prove());
        }
        long early = Deadlines.earlyOf(Fault.EARLY.clockwork(2));
        if (Deadlines.earlyOf(Fault.NONE.clockwork(2)) != 0 || early < 200) {
            throw new AssertionError(early + " calls were seen to be early where 250 were made so");
        }
        System.out.println("each lie was noticed");
    }

    /** What a timer does wrongly, and what a turnover that has one among a hundred tells. */
    private enum Fault {
        NONE("fine"),
        EARLY("proof"),
        TWICE("proof"),
        NEVER("hang"),
        NOT_CALLED_OFF("proof");

        final String inTurnover;

        Fault(String inTurnover) {
            this.inTurnover = inTurnover;
        }

        /** One of so many timers is wrong. */
        Clockwork clockwork(int of) {
            Clockwork right = Clockworks.of("scheduled-executor");
            AtomicInteger count = new AtomicInteger();
            return new Clockwork() {
                @Override
                public Object arm(long due, Runnable call) {
                    if (count.incrementAndGet() % of != 0) {
                        return right.arm(due, call);
                    }
                    return switch (Fault.this) {
                        case EARLY -> right.arm(due - 1_500_000, call);
                        case TWICE -> right.arm(due, () -> {
                            call.run();
                            call.run();
                        });
                        case NEVER -> right.arm(due, () -> {});
                        default -> right.arm(due, call);
                    };
                }

                @Override
                public boolean cancel(Object armed) {
                    return Fault.this == NOT_CALLED_OFF ? !((Future<?>) armed).isDone() : right.cancel(armed);
                }
            };
        }
    }

    private static Stage turnover(Fault fault) {
        long calledOff = fault == Fault.NOT_CALLED_OFF ? 500 : 0;
        Params params =
                new Params(Map.of("per_second", 10_000L, "called_off_permille", calledOff, "delays", "fixed"));
        return new Turnover(fault.clockwork(100), params, 300_000_000);
    }

    /** A map of so many at a time, whatever it is asked for; its results come as they complete. */
    private static Pipeline mapOf(int parallelism, boolean claimsOrder) {
        UpMap map = new UpMap(Crew.PLATFORM);
        return new Pipeline() {
            @Override
            public void run(int n, Source items, Work work, Consumer<Long> result) throws Exception {
                map.run(parallelism, items, work, result);
            }

            @Override
            public boolean ordered() {
                return claimsOrder;
            }

            @Override
            public int overN() {
                return 0;
            }
        };
    }
}
