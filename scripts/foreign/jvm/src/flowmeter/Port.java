package flowmeter;

/**
 * A channel as streams use it. A process has one implementation, so the calls of its loops are compiled as if they were
 * direct.
 */
public interface Port {
    void put(Long value) throws InterruptedException;

    Long take() throws InterruptedException;

    /** Puts without waiting; whether it could. */
    boolean offer(Long value);

    /** Opens one: room for so many, 0 for a rendezvous, -1 without a bound. */
    interface Opener {
        Port open(int room);
    }
}
