package flowmeter;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/** What a thread of a stream is watched by: in a window sums, in a proof every single value. */
public abstract class Watch {
    /** Operations before the next {@link #lap}. */
    public abstract int chunk();

    public abstract void hasPut(long stamp);

    public void willTake() {}

    public abstract void hasTaken(long stamp);

    /** Ends a chunk; whether it is over. */
    public abstract boolean lap();

    /** Ends in the middle of a chunk. */
    public abstract void ends(int done);

    /** Whether producers are so far ahead that they have to wait, where the room has no bound. */
    public boolean isFarAhead() {
        return false;
    }

    /** That of a window. */
    public static final class Timed extends Watch {
        /** Values that producers may be ahead where nothing else slows them down. */
        private static final long LEAD = 65_536;

        public final Laps laps;
        public final Tally tally = new Tally();
        private final AtomicLong lead;
        private int chunk = 1;
        private long told;

        /** `lead` is shared by all, or null where the room has a bound. */
        public Timed(Laps laps, AtomicLong lead) {
            this.laps = laps;
            this.lead = lead;
        }

        @Override
        public int chunk() {
            return chunk;
        }

        @Override
        public void hasPut(long stamp) {
            tally.add(stamp);
            told++;
        }

        @Override
        public void hasTaken(long stamp) {
            tally.add(stamp);
            told--;
        }

        @Override
        public boolean lap() {
            tell();
            boolean over = laps.lap(chunk);
            chunk = laps.chunk();
            return over;
        }

        @Override
        public void ends(int done) {
            tell();
            laps.lap(done);
        }

        private void tell() {
            if (lead != null) {
                lead.addAndGet(told);
            }
            told = 0;
        }

        @Override
        public boolean isFarAhead() {
            return lead != null && lead.get() > LEAD;
        }
    }

    /** That of a proof, which ends after so many operations. */
    public static final class Recorded extends Watch {
        private final Bound bound;
        private final int turns;
        private long[] stamps = new long[64];
        private int count;

        public Recorded(int turns, Bound bound) {
            this.turns = turns;
            this.bound = bound;
        }

        public long[] stamps() {
            return Arrays.copyOf(stamps, count);
        }

        @Override
        public int chunk() {
            return 1;
        }

        @Override
        public void hasPut(long stamp) {
            if (bound != null) {
                bound.hasPut();
            }
            note(stamp);
        }

        @Override
        public void willTake() {
            if (bound != null) {
                bound.willTake();
            }
        }

        @Override
        public void hasTaken(long stamp) {
            note(stamp);
        }

        private void note(long stamp) {
            if (count == stamps.length) {
                stamps = Arrays.copyOf(stamps, 2 * count);
            }
            stamps[count++] = stamp;
        }

        @Override
        public boolean lap() {
            return count >= turns;
        }

        @Override
        public void ends(int done) {}
    }
}
