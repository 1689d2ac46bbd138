package flowmeter;

import java.util.function.Consumer;

/** Something that applies a function to items, so many at a time. */
public interface Pipeline {
    /** What it does with an item: after so many nanoseconds tells {@link Watch} that it ends, and its result comes out. */
    interface Work {
        /** How long the item takes; 0: no time, and nothing is to be waited for. */
        long nanos(long item);

        void begins(long item);

        /** About to give its result away. */
        void ends(long item);
    }

    /** Where items come from; the first negative one ends them. */
    interface Source {
        long next() throws InterruptedException;
    }

    /** Has all items of the source go through it, n at a time, and hands over each result; returns once all have. */
    void run(int n, Source items, Work work, Consumer<Long> result) throws Exception;

    /** Whether results leave in the order of their items. */
    boolean ordered();

    /** Items that it may have in flight beyond n. */
    int overN();
}
