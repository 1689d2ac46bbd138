package flowmeter;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * An unordered parallel map, as an article on virtual threads makes it of a completion service and a fair semaphore: a
 * thread for each item, n permits, results as they complete.
 */
final class UpMap implements Pipeline {
    private final ThreadFactory threads;

    UpMap(ThreadFactory threads) {
        this.threads = threads;
    }

    @Override
    public void run(int n, Source items, Work work, Consumer<Long> result) throws Exception {
        Semaphore permits = new Semaphore(n, true);
        LinkedBlockingQueue<Long> completed = new LinkedBlockingQueue<>();
        AtomicLong submitted = new AtomicLong(-1);
        Thread submission = threads.newThread(() -> {
            try {
                long count = 0;
                for (long item = items.next(); item >= 0; item = items.next()) {
                    permits.acquire();
                    long one = item;
                    threads.newThread(() -> {
                        work.begins(one);
                        sleep(work.nanos(one));
                        work.ends(one);
                        completed.add(one);
                        permits.release();
                    }).start();
                    count++;
                }
                submitted.set(count);
                // Wakes the threads that wait for results, of which there may be none left.
                completed.add(-1L);
            } catch (InterruptedException nobodyDoes) {
                throw new IllegalStateException(nobodyDoes);
            }
        });
        submission.start();
        for (long taken = 0; taken != submitted.get(); ) {
            long one = completed.take();
            if (one >= 0) {
                result.accept(one);
                taken++;
            }
        }
    }

    private static void sleep(long nanos) {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public boolean ordered() {
        return false;
    }

    @Override
    public int overN() {
        return 0;
    }
}
