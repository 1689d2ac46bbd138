package flowmeter;

import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** What the process has used. */
final class Usage {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Usage() {}

    /** CPU time of all its threads, those of the compiler and of the collector included. */
    static long cpuNanos() {
        return SYSTEM.getProcessCpuTime();
    }

    /**
     * The same as the system's scheduler counts it, thread by thread: to the nanosecond where {@link #cpuNanos} has ticks of
     * ten milliseconds, but read from a file for each of them. Of threads that have ended it knows nothing. Null where the
     * system does not say.
     */
    static Map<String, Long> cpuNanosOfThreads() {
        Map<String, Long> all = new HashMap<>();
        String[] threads = new File("/proc/self/task").list();
        for (String thread : threads == null ? new String[0] : threads) {
            try {
                String told = Files.readString(Path.of("/proc/self/task", thread, "schedstat"));
                all.put(thread, Long.parseLong(told.substring(0, told.indexOf(' '))));
            } catch (java.io.IOException ended) {
                // Since the folder was read.
            }
        }
        return all.isEmpty() ? null : all;
    }

    /** What was used from then until then; null where the system does not say. */
    static Long between(Map<String, Long> first, Map<String, Long> last) {
        if (first == null || last == null) {
            return null;
        }
        return last.entrySet().stream().mapToLong(it -> it.getValue() - first.getOrDefault(it.getKey(), 0L)).sum();
    }

    /** The most memory that it has had, bytes; null where the system does not say. */
    static Long peakBytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmHWM:")) {
                    return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
                }
            }
        } catch (java.io.IOException noSuchFile) {
            return null;
        }
        return null;
    }
}
