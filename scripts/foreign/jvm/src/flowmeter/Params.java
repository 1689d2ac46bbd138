package flowmeter;

import java.util.Map;

/** The parameters of a scenario, by the names that its file has. */
public final class Params {
    private final Map<String, Object> all;

    Params(Map<String, Object> all) {
        this.all = all;
    }

    public int number(String name) {
        return ((Number) all.get(name)).intValue();
    }

    public String word(String name) {
        return (String) all.get(name);
    }

    /** Room in a channel: 0 for a rendezvous, -1 without a bound. */
    public int room() {
        Object buffer = all.get("buffer");
        if (buffer instanceof Map<?, ?> fixed) {
            return ((Number) fixed.get("fixed")).intValue();
        }
        return "rendezvous".equals(buffer) ? 0 : -1;
    }
}
