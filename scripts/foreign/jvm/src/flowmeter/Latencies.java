package flowmeter;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import org.HdrHistogram.Histogram;

/** A histogram of nanoseconds that several threads record into. */
public final class Latencies {
    private final Histogram histogram = new Histogram(3);

    public synchronized void record(long nanos) {
        histogram.recordValue(Math.max(0, nanos));
    }

    public synchronized long count() {
        return histogram.getTotalCount();
    }

    public synchronized long percentile(double percent) {
        return histogram.getValueAtPercentile(percent);
    }

    /** As a line carries it. */
    public synchronized String encoded() {
        ByteBuffer bytes = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoByteBuffer(bytes);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(bytes.array(), length));
    }
}
