package flowmeter;

/** The chunks of one thread: how long each is, what it counted between the edges, and when it is over. */
public final class Laps {
    private static final long SHORT = 20_000;
    private static final long LONG = 100_000;
    private static final int MOST = 1024;
    /** Nearer to an edge than this chunks are a sixteenth as long, so that little is left to be divided. */
    private static final long NEAR = 2 * LONG;

    private final Edges edges;
    private final boolean counts;
    private int usual = 1;
    private int chunk = 1;
    private long began = System.nanoTime();
    private double counted;
    private boolean passedFirst;
    private boolean passedLast;

    Laps(Edges edges, boolean counts) {
        this.edges = edges;
        this.counts = counts;
    }

    /** How many operations to do before the next lap. */
    public int chunk() {
        return chunk;
    }

    double counted() {
        return counted;
    }

    boolean hasPassedBoth() {
        return passedFirst && passedLast;
    }

    /** Ends a chunk of so many operations; whether it is over. */
    public boolean lap(long operations) {
        long now = System.nanoTime();
        long took = now - began;
        if (took > LONG) {
            usual = Math.max(1, usual / 2);
        } else if (took < SHORT && chunk == usual) {
            usual = Math.min(MOST, usual * 2);
        }
        chunk = usual;
        if (edges.hasBegun()) {
            long first = edges.first();
            long last = edges.last();
            if (counts && took > 0) {
                long within = Math.min(now, last) - Math.max(began, first);
                counted += within > 0 ? operations * ((double) within / took) : 0;
            }
            if (!passedFirst && now - first >= 0) {
                passedFirst = true;
                edges.passFirst();
            }
            if (!passedLast && now - last >= 0) {
                passedLast = true;
                edges.passLast(counts);
            }
            long edge = passedFirst ? last : first;
            if (!passedLast && edge - now < NEAR) {
                chunk = Math.max(1, usual / 16);
            }
        }
        began = now;
        return edges.over(now);
    }
}
