package flowmeter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Timers come at a steady rate, and a share of them is called off when its answer comes; the value is the CPU time of a
 * timer. Both edges lie where all that was due has fired.
 */
final class Turnover implements Stage {
    private static final long TICK = 5_000_000;
    /** From the arming of a timer that is called off to its answer. */
    private static final long ANSWER = 5_000_000;
    /** Before the first edge. */
    private static final long RAMP_TICKS = 10;
    /** Of a window. */
    private static final long LEAST_TICKS = 20;
    private static final long PATIENCE = 10_000_000_000L;

    private final Clockwork clockwork;
    private final long patience;
    private final long aTick;
    private final int calledOffPermille;
    private final String delays;

    Turnover(Clockwork clockwork, Params params) {
        this(clockwork, params, PATIENCE);
    }

    Turnover(Clockwork clockwork, Params params, long patience) {
        this.clockwork = clockwork;
        this.patience = patience;
        this.aTick = params.number("per_second") * TICK / 1_000_000_000;
        this.calledOffPermille = params.number("called_off_permille");
        this.delays = params.word("delays");
    }

    /** A timer that is to be called off. */
    private record Awaiting(long answer, long due, Object armed) {}

    /** Timers of one window. */
    private final class Course {
        private final Calls calls;
        private final SplittableRandom random;
        private final LongSupplier delay;
        private final long begin = System.nanoTime();
        /** In the order of their answers. */
        private final ArrayDeque<Awaiting> awaiting = new ArrayDeque<>();
        private final List<Object> left = new ArrayList<>();
        /** How many of those that were called off had fired. */
        private long fired;
        /** How many are to fire in which tick, for as long as anybody looks. */
        private final long[] toFire;

        Course(long ticks, long seed, Calls calls) {
            this.calls = calls;
            this.random = new SplittableRandom(seed);
            this.delay = Delays.of(delays, random);
            this.toFire = new long[(int) (4 * (RAMP_TICKS + ticks))];
        }

        /** It is to fire, if it is due while anybody looks. */
        private void isLeft(long due) {
            long tick = (due - begin) / TICK;
            if (tick < toFire.length) {
                toFire[(int) tick]++;
            }
        }

        /** The timers of the next tick, spread over it; those whose answers have come are called off. */
        private void tick(long now) {
            for (long timer = 0; timer < aTick; timer++) {
                long asked = now + timer * TICK / aTick;
                long due = asked + delay.getAsLong();
                boolean isCalledOff = random.nextInt(1_000) < calledOffPermille;
                Object armed = clockwork.arm(due, calls.of(due));
                long answer = asked + ANSWER;
                if (isCalledOff && answer - due < 0) {
                    awaiting.add(new Awaiting(answer, due, armed));
                } else {
                    isLeft(due);
                    left.add(armed);
                }
            }
            while (!awaiting.isEmpty() && awaiting.peek().answer - now <= 0) {
                Awaiting one = awaiting.poll();
                if (!clockwork.cancel(one.armed)) {
                    fired++;
                    isLeft(one.due);
                }
            }
        }

        /** So many; how late the last of them ended, nanoseconds. */
        long ticks(long ticks) throws InterruptedException {
            long first = System.nanoTime();
            for (long tick = 0; tick < ticks; tick++) {
                long begins = first + tick * TICK;
                TimeUnit.NANOSECONDS.sleep(begins - System.nanoTime());
                tick(begins);
            }
            long end = first + ticks * TICK;
            TimeUnit.NANOSECONDS.sleep(end - System.nanoTime());
            return System.nanoTime() - end;
        }

        /** Waits until all has fired that was due by the tick that has just begun. */
        void catchUp() throws Exception {
            long due = 0;
            long begun = Math.min(toFire.length, (System.nanoTime() - begin) / TICK);
            for (int tick = 0; tick < begun; tick++) {
                due += toFire[tick];
            }
            calls.waitUntil(due);
        }

        /** Calls off what is left: whatever cannot be has fired, once. */
        void ends() throws Exception {
            awaiting.forEach(one -> left.add(one.armed));
            for (Object armed : left) {
                fired += clockwork.cancel(armed) ? 0 : 1;
            }
            calls.waitFor(fired);
        }
    }

    private Sample run(long ticks, long seed, boolean judged) throws Exception {
        Course course = new Course(ticks, seed, new Calls(judged, patience));
        course.ticks(RAMP_TICKS);
        course.catchUp();
        long first = System.nanoTime();
        Map<String, Long> before = Usage.cpuNanosOfThreads();
        long late = course.ticks(ticks);
        course.catchUp();
        Long cpu = Usage.between(before, Usage.cpuNanosOfThreads());
        long last = System.nanoTime();
        course.ends();
        if (late > ticks * TICK / 10) {
            throw Failed.nothing("fell " + late / 1_000_000 + " ms behind in " + ticks * TICK / 1_000_000 + " ms");
        }
        if (cpu == null) {
            throw Failed.nothing("the system does not tell CPU time");
        }
        long timers = ticks * aTick;
        return new Sample(Math.max(1.0, cpu) / timers, timers, last - first, cpu);
    }

    @Override
    public void prove() throws Exception {
        try {
            run(LEAST_TICKS, 1, true);
        } catch (Failed why) {
            // What a busy machine makes late is no fault.
            if (!why.kind.equals("void")) {
                throw why;
            }
        }
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        return run(Math.max(spec.nanos() / TICK, LEAST_TICKS), spec.seed(), false);
    }
}
