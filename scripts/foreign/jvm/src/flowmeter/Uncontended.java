package flowmeter;

/** One thread puts a value and takes it. */
public final class Uncontended {
    private Uncontended() {}

    public static Stage of(Port.Opener opener, Params params) {
        Port port = opener.open(params.number("capacity"));
        long[] next = {0};
        return new Solo(turns -> {
            for (int left = turns; left > 0; left--) {
                port.put(next[0]);
                long came = port.take();
                if (came != next[0]) {
                    throw Failed.miscounted(next[0] + " was put and " + came + " was taken");
                }
                next[0]++;
            }
        }, 1);
    }
}
