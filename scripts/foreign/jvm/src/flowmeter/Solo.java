package flowmeter;

import java.util.List;

/** A workload of one thread: batches of turns, each of which checks its own outcome; nanoseconds an operation. */
public final class Solo implements Stage {
    private static final int PROOF_TURNS = 2_000;

    /** Does so many turns. */
    public interface Batch {
        void turns(int count) throws Exception;
    }

    private final Batch batch;
    private final int operations;

    /** With so many operations in a turn. */
    public Solo(Batch batch, int operations) {
        this.batch = batch;
        this.operations = operations;
    }

    @Override
    public void prove() throws Exception {
        batch.turns(Math.max(1, PROOF_TURNS / operations));
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        Edges edges = new Edges(spec, 1);
        Laps laps = edges.counter();
        edges.begin();
        int turns;
        do {
            turns = laps.chunk();
            batch.turns(turns);
        } while (!laps.lap((long) turns * operations));
        Sample sample = edges.sample(List.of(laps));
        return sample.valued(1e9 / sample.value);
    }
}
