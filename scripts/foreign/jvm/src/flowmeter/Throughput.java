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

/** What the article on managing throughput with virtual threads claims, by virtual threads. */
final class Throughput {
    private static final String TEXT = "002_db2788e82060fecc.txt";
    private static final String WHO = "jdk25-virtual-upmap";
    private static final List<Integer> NINE = List.of(1, 2, 3, 4, 5, 6, 8, 9, 10);
    private static final long SECOND = 1_000;

    private final ThreadFactory virtual = Crew.virtual();

    /** A result and when it could be had, nanoseconds since the beginning. */
    private record Came(int value, long after) {}

    static void reenact() throws Exception {
        Claims.endWithInput();
        Throughput it = new Throughput();
        Claims.of(TEXT)
                .claim("each task has a thread of its own: 1,000 tasks of 1 s", WHO, it::unlimited)
                .claim("the completion service: tasks of 3 s, 1 s and 2 s", WHO, it::asTheyComplete)
                .claim("we take more tasks than there are", WHO, it::moreThanThereAre)
                .claim("(upmap inc [1 2 3 4 5 6])", WHO, it::six)
                .claim(
                        "a fair semaphore: who gets permits, where six ask one after the other",
                        WHO,
                        it::inOrder)
                .claim("two permits, 2 req/s: the first three requests", WHO, it::burst)
                .claim(
                        "(upmap sem inc [1 2 3 4 5 6 8 9 10]): how many results",
                        WHO,
                        () -> Claims.plainly(it.nine(true).size() + " results"))
                .claim("the submission blocks: when results come", WHO, () -> batches(it.nine(false)))
                .claim("the submission blocks: how long nine tasks take", WHO, () -> whole(it.nine(false)))
                .claim(
                        "the submission in a thread of its own: when results come",
                        WHO,
                        () -> batches(it.nine(true)))
                .claim(
                        "the submission in a thread of its own: how long nine tasks take",
                        WHO,
                        () -> whole(it.nine(true)))
                .await();
    }

    private void start(Crew.Job job) {
        virtual.newThread(() -> {
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
