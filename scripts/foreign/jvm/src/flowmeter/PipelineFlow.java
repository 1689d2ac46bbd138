package flowmeter;

import java.util.ArrayList;
import java.util.List;

/** Items without work, as fast as they go through. */
public final class PipelineFlow implements Stage {
    private static final int PROOF_ITEMS = 2_000;
    private static final Pipeline.Work NOTHING = new Pipeline.Work() {
        @Override
        public long nanos(long item) {
            return 0;
        }

        @Override
        public void begins(long item) {}

        @Override
        public void ends(long item) {}
    };

    private final Pipeline pipeline;
    private final int parallelism;

    public PipelineFlow(Pipeline pipeline, Params params) {
        this.pipeline = pipeline;
        this.parallelism = params.number("parallelism");
    }

    @Override
    public void prove() throws Exception {
        List<Long> taken = new ArrayList<>();
        long[] next = {0};
        pipeline.run(parallelism, () -> next[0] < PROOF_ITEMS ? next[0]++ : -1, NOTHING, taken::add);
        PipelineTasks.everyItemOnce(taken, PROOF_ITEMS, pipeline.ordered());
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        Edges edges = new Edges(spec, 1);
        Watch.Timed fed = new Watch.Timed(edges.laps(), null);
        Watch.Timed taken = new Watch.Timed(edges.counter(), null);
        long[] next = {0};
        int[] chunk = {1, 0};
        int[] came = {0};
        edges.begin();
        pipeline.run(parallelism, () -> {
            if (chunk[1]++ == chunk[0]) {
                if (fed.lap()) {
                    return -1;
                }
                chunk[0] = fed.chunk();
                chunk[1] = 1;
            }
            long item = next[0]++;
            fed.hasPut(item);
            return item;
        }, NOTHING, item -> {
            taken.hasTaken(item);
            if (++came[0] == taken.chunk()) {
                // The feeding thread decides when the window is over.
                taken.lap();
                came[0] = 0;
            }
        });
        taken.ends(came[0]);
        return Stream.settled(edges, List.of(fed), List.of(taken));
    }
}
