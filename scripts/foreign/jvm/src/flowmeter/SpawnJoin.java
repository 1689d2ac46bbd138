package flowmeter;

import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** So many tasks that end at once, and a thread that waits for the last of them. */
public final class SpawnJoin {
    private SpawnJoin() {}

    public static Stage of(Consumer<Runnable> spawn, Params params) {
        int tasks = params.number("tasks");
        Solo.Batch batch = turns -> {
            for (int left = turns; left > 0; left--) {
                CountDownLatch pending = new CountDownLatch(tasks);
                Runnable task = pending::countDown;
                for (int more = tasks; more > 0; more--) {
                    spawn.accept(task);
                }
                pending.await();
            }
        };
        return new Solo(batch, tasks);
    }
}
