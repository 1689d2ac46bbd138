package flowmeter;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the article on managing throughput with virtual threads claims, by virtual threads, or by those of the platform where
 * there are no others.
 */
final class Throughput {
    private static final String TEXT = "002_db2788e82060fecc.txt";
    private static final String OF_PIPELINES = "004_ebf855893e4a364d.txt";
    private static final List<Integer> NINE = List.of(1, 2, 3, 4, 5, 6, 8, 9, 10);
    private static final long SECOND = 1_000;
    private static final int TRIES = 1_000;
    private static final Pipeline.Work OF_A_SECOND = new Pipeline.Work() {
        @Override
        public void begins(long item) {}

        @Override
        public long nanos(long item) {
            return TimeUnit.SECONDS.toNanos(1);
        }

        @Override
        public void ends(long item) {}
    };

    private final String who;
    private final ThreadFactory threads;

    private Throughput(String who, ThreadFactory threads) {
        this.who = who;
        this.threads = threads;
    }

    /** By the map of that release. */
    static Throughput of(int release) {
        return release < 21
                ? new Throughput("jdk" + release + "-upmap", Crew.PLATFORM)
                : new Throughput("jdk" + release + "-virtual-upmap", Crew.virtual());
    }

    /** A result and when it could be had, nanoseconds since the beginning. */
    private record Came(int value, long after) {}

    /** Begins a thousand threads, which has to have the machine for itself where those are of the platform. */
    Claims unlimitedThreads() {
        return Claims.of(TEXT).claim("each task has a thread of its own: 1,000 tasks of 1 s", who, this::unlimited);
    }

    /** Begins to re-enact the others. */
    List<Claims> waiting() {
        return List.of(
                Claims.of(TEXT)
                        .claim("the completion service: tasks of 3 s, 1 s and 2 s", who, this::asTheyComplete)
                        .claim("we take more tasks than there are", who, this::moreThanThereAre)
                        .claim("(upmap inc [1 2 3 4 5 6])", who, this::six)
                        .claim("a task of 10 s and one of 1 s: the first result", who, this::first)
                        .claim(
                                "a fair semaphore: the order of permits, where six ask one after the other",
                                who,
                                this::inOrder)
                        .claim(
                                "a fair semaphore whose permit is back: one waits for it, another comes",
                                who,
                                () -> whoComes(true))
                        .claim(
                                "an unfair semaphore whose permit is back: one waits for it, another comes",
                                who,
                                () -> whoComes(false))
                        .claim("two permits, 2 req/s: the first three requests", who, this::burst)
                        .claim(
                                "(Thread/sleep 1000), then a permit is back: the second request where there is one permit",
                                who,
                                this::second)
                        .claim("two permits, 2 req/s: requests in any second", who, this::inAnySecond)
                        .claim(
                                "(upmap sem inc [1 2 3 4 5 6 8 9 10]): how many results",
                                who,
                                () -> Claims.plainly(nine(true).size() + " results"))
                        .claim("the submission blocks: when results come", who, () -> batches(nine(false)))
                        .claim("the submission blocks: how long nine tasks take", who, () -> whole(nine(false)))
                        .claim(
                                "the submission in a thread of its own: when results come",
                                who,
                                () -> batches(nine(true)))
                        .claim(
                                "the submission in a thread of its own: how long nine tasks take",
                                who,
                                () -> whole(nine(true))),
                Claims.of(OF_PIPELINES)
                        .claim("ten tasks of 1 s where n is a bound, n = 3 and n = 1", who, this::whereNIsABound));
    }

    private void start(Crew.Job job) {
        threads.newThread(() -> {
            try {
                job.run();
            } catch (Exception why) {
                throw new IllegalStateException(why);
            }
        }).start();
    }

    private Claims.Seen unlimited() throws Exception {
        CountDownLatch done = new CountDownLatch(1_000);
        long began = System.nanoTime();
        for (int i = 0; i < 1_000; i++) {
            start(() -> {
                Thread.sleep(SECOND);
                done.countDown();
            });
        }
        done.await();
        return Claims.after(System.nanoTime() - began);
    }

    private Claims.Seen asTheyComplete() throws Exception {
        BlockingQueue<Came> completed = new LinkedBlockingQueue<>();
        long began = System.nanoTime();
        for (int seconds : new int[] {3, 1, 2}) {
            start(() -> {
                Thread.sleep(seconds * SECOND);
                // The text's tasks are told apart by their places: of 3 s, 1 s and 2 s.
                completed.add(new Came(List.of(3, 1, 2).indexOf(seconds) + 1, System.nanoTime() - began));
            });
        }
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Came came = completed.take();
            words.add(came.value + " after " + Claims.halves(came.after) + " ms");
        }
        return Claims.plainly(String.join(", ", words));
    }

    private Claims.Seen moreThanThereAre() throws Exception {
        BlockingQueue<Integer> completed = new LinkedBlockingQueue<>();
        start(() -> completed.add(1));
        completed.take();
        Integer another = completed.poll(3, TimeUnit.SECONDS);
        return new Claims.Seen(another == null ? "it waits for ever" : "it answers", "looked at for 3 s");
    }

    private Claims.Seen six() throws Exception {
        return Claims.plainly(sorted(values(upmap(null, List.of(1, 2, 3, 4, 5, 6), true))));
    }

    private Claims.Seen first() throws Exception {
        BlockingQueue<Integer> completed = new LinkedBlockingQueue<>();
        long began = System.nanoTime();
        for (int seconds : new int[] {10, 1}) {
            start(() -> {
                Thread.sleep(seconds * SECOND);
                completed.add(seconds);
            });
        }
        completed.take();
        return Claims.after(System.nanoTime() - began);
    }

    /** A permit comes back while one waits for it, and another asks before that one can have woken. */
    private Claims.Seen whoComes(boolean fair) throws Exception {
        for (int tries = 1; tries <= TRIES; tries++) {
            Semaphore permits = new Semaphore(0, fair);
            start(permits::acquire);
            while (permits.getQueueLength() < 1) {
                Thread.onSpinWait();
            }
            permits.release();
            // Without a time it would be served before others whatever was asked for.
            if (permits.tryAcquire(0, TimeUnit.SECONDS)) {
                permits.release();
                return new Claims.Seen("the newcomer is served, the waiter waits", "at try " + tries);
            }
        }
        return new Claims.Seen("the waiter is served, the newcomer waits", "in " + TRIES + " tries");
    }

    private Claims.Seen second() throws Exception {
        Semaphore permit = new Semaphore(1, true);
        long began = System.nanoTime();
        acquire(permit);
        acquire(permit);
        return Claims.after(System.nanoTime() - began);
    }

    /** The most requests that any second has, which begins with one of them. */
    private Claims.Seen inAnySecond() throws Exception {
        Semaphore permits = new Semaphore(2, true);
        List<Long> granted = new ArrayList<>();
        for (int i = 0; i < NINE.size(); i++) {
            permits.acquire();
            // Before its permit can begin to come back.
            granted.add(System.nanoTime());
            giveBack(permits);
        }
        long most = granted.stream()
                .mapToLong(from -> granted.stream()
                        .filter(at -> at - from >= 0 && at - from < TimeUnit.SECONDS.toNanos(1))
                        .count())
                .max()
                .orElse(0);
        return Claims.plainly(most + " at most");
    }

    private Claims.Seen whereNIsABound() throws Exception {
        long[] took = new long[2];
        int[] bounds = {3, 1};
        List<Thread> both = new ArrayList<>();
        for (int place = 0; place < bounds.length; place++) {
            int one = place;
            Thread thread = threads.newThread(() -> took[one] = ten(bounds[one]));
            thread.start();
            both.add(thread);
        }
        for (Thread thread : both) {
            thread.join();
        }
        return new Claims.Seen(
                "after " + Claims.halves(took[0]) + " ms, after " + Claims.halves(took[1]) + " ms",
                Claims.figure(took[0]) + ", " + Claims.figure(took[1]));
    }

    /** How long ten tasks of a second take, so many at a time. */
    private long ten(int parallelism) {
        AtomicLong next = new AtomicLong();
        long began = System.nanoTime();
        try {
            Pipeline.Source items = () -> next.get() < 10 ? next.getAndIncrement() : -1;
            new UpMap(threads).run(parallelism, items, OF_A_SECOND, result -> {});
        } catch (Exception why) {
            throw new IllegalStateException(why);
        }
        return System.nanoTime() - began;
    }

    private Claims.Seen inOrder() throws Exception {
        Semaphore permits = new Semaphore(0, true);
        BlockingQueue<Integer> served = new LinkedBlockingQueue<>();
        for (int one = 1; one <= 6; one++) {
            int asks = one;
            start(() -> {
                permits.acquire();
                served.add(asks);
            });
            while (permits.getQueueLength() < one) {
                Thread.onSpinWait();
            }
        }
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            permits.release();
            words.add(served.take().toString());
        }
        return Claims.plainly(String.join(" ", words));
    }

    private Claims.Seen burst() throws Exception {
        return batches(upmap(new Semaphore(2, true), List.of(1, 2, 3), true));
    }

    private List<Came> nine(boolean submittedElsewhere) throws Exception {
        return upmap(new Semaphore(2, true), NINE, submittedElsewhere);
    }

    /** Takes a permit, and has it given back a second later. */
    private void acquire(Semaphore permits) throws InterruptedException {
        permits.acquire();
        giveBack(permits);
    }

    private void giveBack(Semaphore permits) {
        start(() -> {
            Thread.sleep(SECOND);
            permits.release();
        });
    }

    /** The article's map of `inc`, and when its results can be had. */
    private List<Came> upmap(Semaphore permits, List<Integer> inputs, boolean submittedElsewhere) throws Exception {
        BlockingQueue<Integer> completed = new LinkedBlockingQueue<>();
        Crew.Job submission = () -> {
            for (int input : inputs) {
                if (permits != null) {
                    acquire(permits);
                }
                start(() -> completed.add(input + 1));
            }
        };
        long began = System.nanoTime();
        if (submittedElsewhere) {
            start(submission);
        } else {
            submission.run();
        }
        List<Came> came = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            came.add(new Came(completed.take(), System.nanoTime() - began));
        }
        return came;
    }

    private static List<Integer> values(List<Came> came) {
        return came.stream().map(Came::value).toList();
    }

    private static String sorted(Collection<Integer> values) {
        return String.join(" ", values.stream().sorted().map(String::valueOf).toList());
    }

    private static Claims.Seen whole(List<Came> came) {
        return Claims.after(came.get(came.size() - 1).after);
    }

    /** `2 after 0 ms, 1 after 1000 ms`. */
    private static Claims.Seen batches(List<Came> came) {
        Map<Long, Integer> at = new TreeMap<>();
        came.forEach(one -> at.merge(Claims.halves(one.after), 1, Integer::sum));
        List<String> words = new ArrayList<>();
        at.forEach((after, count) -> words.add(count + " after " + after + " ms"));
        return new Claims.Seen(String.join(", ", words), Claims.figure(came.get(came.size() - 1).after));
    }
}
