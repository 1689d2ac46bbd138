package flowmeter;

import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that work together, of the platform or virtual. */
public final class Crew {
    /** What one of them does. */
    public interface Job {
        void run() throws Exception;
    }

    private Crew() {}

    /** Threads of the platform, none of which keeps the process alive. */
    public static final ThreadFactory PLATFORM = work -> {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    };

    /** Virtual threads. Asked for by name: these sources are compiled for a JDK that has none, too. */
    public static ThreadFactory virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            return (ThreadFactory) type.getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException why) {
            throw new IllegalStateException("this JDK has no virtual threads", why);
        }
    }

    /** Runs all of them to their ends; the window, if there is one, begins when the last has started. */
    public static void run(ThreadFactory threads, Edges edges, List<Job> jobs) throws Exception {
        AtomicInteger toStart = new AtomicInteger(jobs.size());
        LinkedBlockingQueue<Throwable> ends = new LinkedBlockingQueue<>();
        Throwable fine = new Throwable();
        for (Job job : jobs) {
            threads.newThread(() -> {
                Throwable end = fine;
                try {
                    if (toStart.decrementAndGet() == 0 && edges != null) {
                        edges.begin();
                    }
                    job.run();
                } catch (Throwable why) {
                    end = why;
                }
                ends.add(end);
            }).start();
        }
        // The first that fails is told at once: the others may wait for it for ever.
        for (int left = jobs.size(); left > 0; left--) {
            Throwable end = ends.take();
            if (end instanceof Exception why) {
                throw why;
            } else if (end != fine) {
                throw new IllegalStateException(end);
            }
        }
    }
}
