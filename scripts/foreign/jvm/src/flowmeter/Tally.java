package flowmeter;

/** How many values, and a checksum of which. */
public final class Tally {
    private long count;
    private long sum;

    public void add(long stamp) {
        count++;
        sum += stamp;
    }

    public long count() {
        return count;
    }

    public void add(Tally other) {
        count += other.count;
        sum += other.sum;
    }

    /** Whether what was put is what was taken. */
    public static void agree(Tally put, Tally taken) throws Failed {
        if (put.count != taken.count) {
            throw Failed.miscounted(put.count + " values were put and " + taken.count + " were taken");
        }
        if (put.sum != taken.sum) {
            throw Failed.miscounted(
                    put.count + " values were put and as many taken, but not the same ones (checksums differ)");
        }
    }
}
