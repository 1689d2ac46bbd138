package flowmeter;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the process has used. */
final class Usage {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Usage() {}

    /** CPU time of all its threads, those of the compiler and of the collector included. */
    static long cpuNanos() {
        return SYSTEM.getProcessCpuTime();
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
