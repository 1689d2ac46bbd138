package flowmeter;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tasks in flight over time, written down as they begin and end. */
public final class Flight {
    /** Points of a timeline at most: more than a chart has room for. */
    private static final int POINTS = 120;

    private final List<long[]> events = new ArrayList<>();

    public void begin() {
        note(1);
    }

    public void end() {
        note(-1);
    }

    private synchronized void note(long change) {
        // Read under the lock: events stand in the order of their moments.
        events.add(new long[] {System.nanoTime(), change});
    }

    public synchronized long peak() {
        long now = 0;
        long peak = 0;
        for (long[] event : events) {
            now += event[1];
            peak = Math.max(peak, now);
        }
        return peak;
    }

    /** As a record has it. */
    synchronized Map<String, Object> inFlight(int parallelism) {
        long began = events.get(0)[0];
        long whole = Math.max(1, events.get(events.size() - 1)[0] - began);
        long stretch = Math.max(1, whole / POINTS);
        List<Object> timeline = new ArrayList<>();
        double area = 0;
        long now = 0;
        long before = 0;
        long from = 0;
        long most = 0;
        for (long[] event : events) {
            long at = event[0] - began;
            area += (double) now * (at - before);
            before = at;
            if (at - from >= stretch) {
                // The most within each stretch of time is what is kept of it.
                timeline.add(List.of(from, most));
                from = at;
                most = now;
            }
            now += event[1];
            most = Math.max(most, now);
        }
        timeline.add(List.of(from, most));
        timeline.add(List.of(whole, now));
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("parallelism", parallelism);
        told.put("peak", peak());
        told.put("mean", area / whole);
        told.put("timeline", timeline);
        return told;
    }
}
