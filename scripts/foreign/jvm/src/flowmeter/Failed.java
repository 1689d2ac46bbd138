package flowmeter;

/** Why a stage has no number to give: one of the kinds of the protocol, and what was seen, in a sentence. */
public final class Failed extends Exception {
    private static final long serialVersionUID = 1;

    final String kind;

    public Failed(String kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** A violation seen in an untimed run. */
    public static Failed disproved(String message) {
        return new Failed("proof", message);
    }

    /** A violation seen in a timed window. */
    public static Failed miscounted(String message) {
        return new Failed("count", message);
    }

    /** A window that says nothing. */
    public static Failed nothing(String message) {
        return new Failed("void", message);
    }
}
