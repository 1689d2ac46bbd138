package flowmeter;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.SynchronousQueue;

/** The queues of `java.util.concurrent` as channels. */
final class Queues {
    private Queues() {}

    /** What opens those of that name; null where there is none. */
    static Port.Opener of(String name) {
        switch (name) {
            case "array-blocking-queue":
                return room -> new Plain(new ArrayBlockingQueue<>(room));
            case "linked-blocking-queue":
                return room -> new Plain(room < 0 ? new LinkedBlockingQueue<>() : new LinkedBlockingQueue<>(room));
            case "synchronous-queue":
                return room -> new Plain(new SynchronousQueue<>());
            case "linked-transfer-queue":
                return room -> room == 0 ? new Transfer() : new Plain(new LinkedTransferQueue<>());
            default:
                return null;
        }
    }

    private record Plain(BlockingQueue<Long> queue) implements Port {
        @Override
        public void put(Long value) throws InterruptedException {
            queue.put(value);
        }

        @Override
        public Long take() throws InterruptedException {
            return queue.take();
        }

        @Override
        public boolean offer(Long value) {
            return queue.offer(value);
        }
    }

    /** A rendezvous: a put returns once its value was taken. */
    private record Transfer(LinkedTransferQueue<Long> queue) implements Port {
        Transfer() {
            this(new LinkedTransferQueue<>());
        }

        @Override
        public void put(Long value) throws InterruptedException {
            queue.transfer(value);
        }

        @Override
        public Long take() throws InterruptedException {
            return queue.take();
        }

        @Override
        public boolean offer(Long value) {
            return queue.tryTransfer(value);
        }
    }
}
