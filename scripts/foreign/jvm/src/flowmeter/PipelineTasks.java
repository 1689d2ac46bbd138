package flowmeter;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Items that take time, through to the last one: the makespan over that of as many servers as it may keep busy, each of
 * which takes the next item as soon as it is free.
 */
public final class PipelineTasks implements Stage {
    private final Pipeline pipeline;
    private final int parallelism;
    private final int items;
    private final long mean;
    private final String durations;

    public PipelineTasks(Pipeline pipeline, Params params) {
        this.pipeline = pipeline;
        this.parallelism = params.number("parallelism");
        this.items = params.number("items");
        this.mean = 1_000L * params.number("mean_micros");
        this.durations = params.word("durations");
    }

    private record Run(long makespan, long ideal, long cpu, Flight flight) {}

    private long[] draw(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long[] all = new long[items];
        for (int i = 0; i < items; i++) {
            all[i] = switch (durations) {
                case "uniform" -> random.nextLong(mean / 2, mean * 3 / 2 + 1);
                case "exponential" -> (long) (-Math.log(1 - random.nextDouble()) * mean);
                default -> i == 0 ? 50 * mean : mean;
            };
        }
        return all;
    }

    private static long ideal(long[] durations, int servers) {
        PriorityQueue<Long> free = new PriorityQueue<>();
        for (int i = 0; i < servers; i++) {
            free.add(0L);
        }
        long last = 0;
        for (long duration : durations) {
            long ends = free.remove() + duration;
            last = Math.max(last, ends);
            free.add(ends);
        }
        return last;
    }

    private Run run(long seed) throws Exception {
        long[] drawn = draw(seed);
        Flight flight = new Flight();
        List<Long> taken = new ArrayList<>();
        long[] next = {0};
        long cpu = Usage.cpuNanos();
        long began = System.nanoTime();
        pipeline.run(parallelism, () -> next[0] < items ? next[0]++ : -1, new Pipeline.Work() {
            @Override
            public long nanos(long item) {
                return drawn[(int) item];
            }

            @Override
            public void begins(long item) {
                flight.begin();
            }

            @Override
            public void ends(long item) {
                flight.end();
            }
        }, taken::add);
        long makespan = System.nanoTime() - began;
        everyItemOnce(taken, items, pipeline.ordered());
        int claimed = parallelism + pipeline.overN();
        if (flight.peak() > claimed) {
            throw Failed.disproved(flight.peak() + " tasks were in flight, and " + claimed + " is what it keeps to");
        }
        return new Run(makespan, Math.max(1, ideal(drawn, claimed)), Usage.cpuNanos() - cpu, flight);
    }

    static void everyItemOnce(List<Long> taken, long items, boolean ordered) throws Failed {
        List<Long> sorted = taken.stream().sorted().toList();
        if (ordered && !sorted.equals(taken)) {
            throw Failed.disproved("results left in another order than their inputs");
        }
        for (int i = 0; i < sorted.size(); i++) {
            if (sorted.get(i) != i) {
                throw Failed.miscounted(items + " items went in, and the results are not of each once");
            }
        }
        if (sorted.size() != items) {
            throw Failed.miscounted(items + " items went in and " + sorted.size() + " results came out");
        }
    }

    @Override
    public void prove() throws Exception {
        run(1);
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        long end = System.nanoTime() + spec.nanos();
        long runs = 0;
        long nanos = 0;
        long ideally = 0;
        long cpu = 0;
        Flight seen = null;
        do {
            Run run = run(spec.seed());
            runs++;
            nanos += run.makespan;
            ideally += run.ideal;
            cpu += run.cpu;
            // The first run's is drawn; all are judged.
            seen = seen == null ? run.flight : seen;
        } while (System.nanoTime() - end < 0);
        return new Sample((double) nanos / ideally, runs * items, nanos, cpu)
                .with("in_flight", seen.inFlight(parallelism));
    }
}
