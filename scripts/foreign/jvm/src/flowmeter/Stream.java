package flowmeter;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Producers put as fast as they can, consumers take as fast as they can and count. */
public final class Stream implements Stage {
    /** Values that a proof sends, over all producers. */
    private static final int PROOF_VALUES = 4_000;

    /** Has threads, or what stands for them, put and take until producers are told that it is over. */
    public interface Runner {
        void run(Edges edges, List<? extends Watch> puts, List<? extends Watch> takes) throws Exception;
    }

    private final Runner runner;
    private final Port.Opener opener;
    private final int producers;
    private final int consumers;
    private final int room;
    private final boolean isOneChannel;

    private Stream(
            Runner runner, Port.Opener opener, int producers, int consumers, int room, boolean isOneChannel) {
        this.runner = runner;
        this.opener = opener;
        this.producers = producers;
        this.consumers = consumers;
        this.room = room;
        this.isOneChannel = isOneChannel;
    }

    /** Through one channel, which has to keep to its room. */
    public static Stage of(Runner runner, Port.Opener opener, Params params) {
        return new Stream(
                runner, opener, params.number("producers"), params.number("consumers"), params.room(), true);
    }

    /** Of one producer and one consumer. */
    static Stage ofPair(Runner runner, Port.Opener opener, int room) {
        return new Stream(runner, opener, 1, 1, room, true);
    }

    /** Of an alts, which invokes a take on each port at once, so that puts and takes do not bound one. */
    public static Stage ofPorts(Runner runner, Port.Opener opener, Params params) {
        return new Stream(runner, opener, params.number("width"), 1, params.room(), false);
    }

    /** Whether a channel takes in more than it has room for when nothing takes. */
    static void overfull(Port.Opener opener, int room) throws Failed {
        if (room < 0) {
            return;
        }
        Port port = opener.open(room);
        int taken = 0;
        while (taken <= room && port.offer((long) taken)) {
            taken++;
        }
        if (taken > room) {
            throw Failed.disproved("it took in " + taken + " values without a take, and its capacity is " + room);
        }
    }

    @Override
    public void prove() throws Exception {
        overfull(opener, room);
        Bound bound = room < 0 || !isOneChannel ? null : new Bound(room);
        int turns = Math.max(16, PROOF_VALUES / producers);
        List<Watch.Recorded> puts = new ArrayList<>();
        List<Watch.Recorded> takes = new ArrayList<>();
        for (int i = 0; i < producers; i++) {
            puts.add(new Watch.Recorded(turns, bound));
        }
        for (int i = 0; i < consumers; i++) {
            takes.add(new Watch.Recorded(Integer.MAX_VALUE, bound));
        }
        runner.run(null, puts, takes);
        if (bound != null) {
            bound.kept();
        }
        Stamp.exact(
                puts.stream().map(Watch.Recorded::stamps).toList(), takes.stream().map(Watch.Recorded::stamps).toList());
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        Edges edges = new Edges(spec, consumers);
        AtomicLong lead = room < 0 ? new AtomicLong() : null;
        List<Watch.Timed> puts = new ArrayList<>();
        List<Watch.Timed> takes = new ArrayList<>();
        for (int i = 0; i < producers; i++) {
            puts.add(new Watch.Timed(edges.laps(), lead));
        }
        for (int i = 0; i < consumers; i++) {
            takes.add(new Watch.Timed(edges.counter(), lead));
        }
        runner.run(edges, puts, takes);
        return settled(edges, puts, takes);
    }

    /** What a window came to, if the books agree. */
    public static Sample settled(Edges edges, List<Watch.Timed> puts, List<Watch.Timed> takes) throws Failed {
        Tally put = new Tally();
        Tally taken = new Tally();
        puts.forEach(watch -> put.add(watch.tally));
        takes.forEach(watch -> taken.add(watch.tally));
        Tally.agree(put, taken);
        return edges.sample(takes.stream().map(watch -> watch.laps).toList());
    }
}
