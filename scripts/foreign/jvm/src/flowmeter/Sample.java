package flowmeter;

import java.util.LinkedHashMap;
import java.util.Map;

/** What was seen between the edges of a window; what was found beside it stands under names of the protocol. */
public final class Sample {
    final double value;
    final long operations;
    final long nanos;
    final Long cpuNanos;
    final Map<String, Object> findings = new LinkedHashMap<>();

    public Sample(double value, long operations, long nanos, Long cpuNanos) {
        this.value = value;
        this.operations = operations;
        this.nanos = nanos;
        this.cpuNanos = cpuNanos;
    }

    public Sample with(String name, Object finding) {
        findings.put(name, finding);
        return this;
    }

    /** The same measurement in another unit. */
    Sample valued(double other) {
        Sample sample = new Sample(other, operations, nanos, cpuNanos);
        sample.findings.putAll(findings);
        return sample;
    }

    Map<String, Object> line() {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("answer", "sample");
        line.put("value", value);
        line.put("operations", operations);
        line.put("nanos", nanos);
        line.put("cpu_nanos", cpuNanos);
        line.putAll(findings);
        return line;
    }
}
