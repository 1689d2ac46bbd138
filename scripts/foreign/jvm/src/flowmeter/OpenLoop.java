package flowmeter;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;

/**
 * A generator sends at moments fixed in advance, whether or not the channel keeps up, and a consumer notes how late each
 * message comes; the value is the 99th percentile from the intended moment. A message is the moment at which it was really
 * sent; which it is the consumer knows by counting, for there is one of each.
 */
final class OpenLoop implements Stage {
    private static final long SENTINEL = Long.MIN_VALUE;
    private static final double SUSTAINED = 0.99;

    private final Port.Opener opener;
    private final ThreadFactory threads;
    private final int room;
    private final int rate;
    private final Stage pair;

    OpenLoop(Port.Opener opener, ThreadFactory threads, Params params) {
        this.opener = opener;
        this.threads = threads;
        this.room = params.room();
        this.rate = params.number("rate");
        this.pair = Stream.ofPair(new ThreadStream(opener, threads, room), opener, room);
    }

    /** One window's. */
    private final class Run {
        final Port port = opener.open(room);
        final Edges edges;
        final Laps counter;
        final Latencies response = new Latencies();
        final Latencies service = new Latencies();
        final Latencies late = new Latencies();
        final Latencies own = new Latencies();
        final Tally put = new Tally();
        final Tally taken = new Tally();
        /** The least response of the window's first tenth and of its last: a queue that only grows shows there. */
        long leastEarly = Long.MAX_VALUE;
        long leastLate = Long.MAX_VALUE;
        boolean gaveUp;

        Run(Spec spec) {
            edges = new Edges(spec, 1);
            counter = edges.counter();
        }

        long moment(long sequence) {
            return edges.began() + sequence * 1_000_000_000 / rate;
        }

        void awaitBeginning() {
            while (!edges.hasBegun()) {
                Thread.onSpinWait();
            }
        }

        boolean isTimed(long intended) {
            return intended - edges.first() >= 0 && intended - edges.last() < 0;
        }

        void generate() throws InterruptedException {
            awaitBeginning();
            long last = edges.last();
            long free = edges.began();
            for (long sequence = 0; ; sequence++) {
                long intended = moment(sequence);
                // What was due in the window is sent, however late: leaving out the late ones would be kind.
                if (intended - last >= 0 && edges.over(System.nanoTime())) {
                    break;
                }
                if (free - last > edges.spec.nanos()) {
                    gaveUp = true;
                    break;
                }
                long sent = System.nanoTime();
                while (sent - intended < 0) {
                    Thread.onSpinWait();
                    sent = System.nanoTime();
                }
                port.put(sent);
                put.add(sent);
                if (isTimed(intended)) {
                    late.record(sent - intended);
                    own.record(sent - Math.max(intended, Math.min(free, sent)));
                }
                free = System.nanoTime();
            }
            port.put(SENTINEL);
        }

        void consume() throws InterruptedException {
            awaitBeginning();
            long tenth = edges.spec.nanos() / 10;
            for (long sequence = 0; ; ) {
                int chunk = counter.chunk();
                for (int turn = 0; turn < chunk; turn++) {
                    long sent = port.take();
                    if (sent == SENTINEL) {
                        counter.lap(turn);
                        return;
                    }
                    long now = System.nanoTime();
                    taken.add(sent);
                    long intended = moment(sequence++);
                    if (!isTimed(intended)) {
                        continue;
                    }
                    response.record(now - intended);
                    service.record(now - sent);
                    if (intended - edges.first() < tenth) {
                        leastEarly = Math.min(leastEarly, now - intended);
                    } else if (edges.last() - intended <= tenth) {
                        leastLate = Math.min(leastLate, now - intended);
                    }
                }
                // The generator decides when it is over.
                counter.lap(chunk);
            }
        }

        /** Achieved over offered rate. */
        double achieved() throws Failed {
            if (leastEarly == Long.MAX_VALUE || leastLate == Long.MAX_VALUE) {
                throw Failed.nothing("the window is too short for " + rate + " messages/s");
            }
            double apart = edges.spec.nanos() * 0.9;
            return apart / (apart + Math.max(0, leastLate - leastEarly));
        }
    }

    @Override
    public void prove() throws Exception {
        pair.prove();
    }

    @Override
    public Sample window(Spec asked) throws Exception {
        // Long enough for ten samples above the 99th percentile.
        long enough = asked.warming() ? 0 : 1_000_000_000_000L / rate;
        Run run = new Run(new Spec(asked.rampNanos(), Math.max(asked.nanos(), enough), asked.seed(), asked.warming()));
        Crew.run(threads, run.edges, List.of(run::consume, run::generate));
        Tally.agree(run.put, run.taken);
        if (run.gaveUp) {
            throw Failed.nothing("it did not sustain " + rate + " messages/s, and the generator gave up");
        }
        double achieved = run.achieved();
        Sample counted = run.edges.sample(List.of(run.counter));
        Map<String, Object> latency = new LinkedHashMap<>();
        latency.put("response", run.response.encoded());
        latency.put("service", run.service.encoded());
        latency.put("generator", run.late.encoded());
        // Most of the CPU time is the generator's, which spins.
        Sample sample = new Sample(run.response.percentile(99), counted.operations, counted.nanos, null);
        sample.with("latency", latency).with("generator_p99_nanos", run.own.percentile(99));
        return achieved < SUSTAINED ? sample.with("unsustained", 1 - achieved) : sample;
    }
}
