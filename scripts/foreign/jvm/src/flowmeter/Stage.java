package flowmeter;

/** An implementation about to run a scenario. */
public interface Stage {
    /** Runs the workload untimed, verifying count, order and bounds. */
    void prove() throws Exception;

    /** Runs one timed window; count and checksum are verified after it. */
    Sample window(Spec spec) throws Exception;
}
