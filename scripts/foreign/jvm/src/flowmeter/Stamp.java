package flowmeter;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which value it is: its producer above the lower 48 bits, its place in that one's sequence in them. */
public final class Stamp {
    /** Ends a consumer; no value has it. */
    public static final long SENTINEL = -1;

    private static final int BITS = 48;

    private Stamp() {}

    public static long of(long producer, long sequence) {
        return producer << BITS | sequence;
    }

    private static String name(long stamp) {
        return "value " + (stamp & ((1L << BITS) - 1)) + " of producer " + (stamp >>> BITS);
    }

    /** Whether each put value was taken once, and each consumer saw each producer's values in their order. */
    public static void exact(List<long[]> put, List<long[]> taken) throws Failed {
        for (long[] stamps : taken) {
            Map<Long, Long> last = new HashMap<>();
            for (long stamp : stamps) {
                Long before = last.put(stamp >>> BITS, stamp);
                if (before != null && before >= stamp) {
                    throw Failed.disproved(name(stamp) + " was taken after " + name(before));
                }
            }
        }
        long[] all = sorted(put);
        long[] came = sorted(taken);
        for (int i = 1; i < came.length; i++) {
            if (came[i] == came[i - 1]) {
                throw Failed.disproved(name(came[i]) + " was taken twice");
            }
        }
        if (!Arrays.equals(all, came)) {
            throw Failed.disproved(
                    all.length + " values were put and " + came.length + " taken, and they are not the same");
        }
    }

    private static long[] sorted(List<long[]> parts) {
        return parts.stream().flatMapToLong(Arrays::stream).sorted().toArray();
    }
}
