package flowmeter;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Short windows, one after the other, until their values no longer change and the compiler has come to rest: the median of
 * the last five is held against that of the five before, and what the compiler took in them against their time. (Values
 * alone look settled as long as nothing is compiled yet.) Patience ends it too, and that is told.
 */
final class WarmUp {
    private static final long WINDOW = 50_000_000;
    private static final int COMPARED = 5;
    private static final double ALIKE = 0.05;
    /** Share of the time that the compiler may still take. */
    private static final double RESTING = 0.05;
    private static final long PATIENCE = 5_000_000_000L;
    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

    private WarmUp() {}

    /** The end of a window, and what the compiler had taken until then, nanoseconds. */
    private record Moment(long now, long compiling) {}

    /** As a record has it. */
    static Map<String, Object> of(Stage stage) throws Exception {
        List<Double> values = new ArrayList<>();
        List<Moment> ends = new ArrayList<>();
        long began = System.nanoTime();
        boolean settled = false;
        while (!settled && System.nanoTime() - began < PATIENCE) {
            try {
                values.add(stage.window(Spec.untimed(WINDOW)).value);
            } catch (Failed why) {
                // What is not yet compiled may let nothing happen in so short a window.
                if (!why.kind.equals("void")) {
                    throw why;
                }
                values.add(0.0);
            }
            ends.add(new Moment(System.nanoTime(), COMPILER.getTotalCompilationTime() * 1_000_000));
            settled = hasSettled(values) && isResting(ends);
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("windows", values.size());
        told.put("nanos", System.nanoTime() - began);
        told.put("settled", settled);
        return told;
    }

    private static boolean hasSettled(List<Double> values) {
        int count = values.size();
        if (count < 2 * COMPARED) {
            return false;
        }
        double now = median(values.subList(count - COMPARED, count));
        double before = median(values.subList(count - 2 * COMPARED, count - COMPARED));
        return Math.abs(now - before) < ALIKE * before;
    }

    private static boolean isResting(List<Moment> ends) {
        Moment last = ends.get(ends.size() - 1);
        Moment before = ends.get(ends.size() - 1 - COMPARED);
        return last.compiling - before.compiling < RESTING * (last.now - before.now);
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
