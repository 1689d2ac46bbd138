package flowmeter;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** A stream of threads over one channel. The last producer to end puts a sentinel for each consumer. */
record ThreadStream(Port.Opener opener, ThreadFactory threads, int room) implements Stream.Runner {
    @Override
    public void run(Edges edges, List<? extends Watch> puts, List<? extends Watch> takes) throws Exception {
        Port port = opener.open(room);
        AtomicInteger remaining = new AtomicInteger(puts.size());
        List<Crew.Job> jobs = new ArrayList<>();
        for (Watch watch : takes) {
            jobs.add(() -> consume(port, watch));
        }
        for (int i = 0; i < puts.size(); i++) {
            long producer = i;
            Watch watch = puts.get(i);
            jobs.add(() -> produce(port, producer, watch, remaining, takes.size()));
        }
        Crew.run(threads, edges, jobs);
    }

    private static void produce(
            Port port, long producer, Watch watch, AtomicInteger remaining, int consumers) throws InterruptedException {
        long next = Stamp.of(producer, 0);
        do {
            for (int left = watch.chunk(); left > 0; left--) {
                port.put(next);
                watch.hasPut(next);
                next++;
            }
            while (watch.isFarAhead()) {
                Thread.yield();
            }
        } while (!watch.lap());
        if (remaining.decrementAndGet() == 0) {
            for (int left = consumers; left > 0; left--) {
                port.put(Stamp.SENTINEL);
            }
        }
    }

    private static void consume(Port port, Watch watch) throws InterruptedException {
        for (;;) {
            int chunk = watch.chunk();
            for (int turn = 0; turn < chunk; turn++) {
                watch.willTake();
                long stamp = port.take();
                if (stamp == Stamp.SENTINEL) {
                    watch.ends(turn);
                    return;
                }
                watch.hasTaken(stamp);
            }
            // Producers decide when it is over.
            watch.lap();
        }
    }
}
