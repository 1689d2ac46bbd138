package flowmeter;

import java.util.List;

/** One value to another thread and back, over two channels; the side that serves counts. */
public final class PingPong implements Stage {
    private static final int PROOF_TURNS = 500;

    /** Has one side serve until it is over, checking each answer, and the other return. */
    public interface Runner {
        void run(Edges edges, Watch watch) throws Exception;
    }

    private final Runner runner;
    private final Port.Opener opener;
    private final int room;

    public PingPong(Runner runner, Port.Opener opener, Params params) {
        this.runner = runner;
        this.opener = opener;
        this.room = params.room();
    }

    @Override
    public void prove() throws Exception {
        Stream.overfull(opener, room);
        runner.run(null, new Watch.Recorded(PROOF_TURNS, null));
    }

    @Override
    public Sample window(Spec spec) throws Exception {
        Edges edges = new Edges(spec, 1);
        Watch.Timed watch = new Watch.Timed(edges.counter(), null);
        runner.run(edges, watch);
        return edges.sample(List.of(watch.laps));
    }

    /** An answer that is another value. */
    public static Failed wrong(long ball, Object came) {
        return Failed.miscounted(ball + " was sent and " + came + " came back");
    }
}
