package flowmeter;

import java.util.List;
import java.util.concurrent.ThreadFactory;

/** Ping-pong of two threads. */
record ThreadPingPong(Port.Opener opener, ThreadFactory threads, int room) implements PingPong.Runner {
    @Override
    public void run(Edges edges, Watch watch) throws Exception {
        Port to = opener.open(room);
        Port back = opener.open(room);
        Crew.run(threads, edges, List.of(() -> giveBack(to, back), () -> serve(to, back, watch)));
    }

    private static void serve(Port to, Port back, Watch watch) throws Exception {
        long ball = 0;
        do {
            for (int left = watch.chunk(); left > 0; left--) {
                to.put(ball);
                long came = back.take();
                if (came != ball) {
                    throw PingPong.wrong(ball, came);
                }
                watch.hasPut(ball);
                ball++;
            }
        } while (!watch.lap());
        to.put(Stamp.SENTINEL);
    }

    private static void giveBack(Port to, Port back) throws InterruptedException {
        for (long ball = to.take(); ball != Stamp.SENTINEL; ball = to.take()) {
            back.put(ball);
        }
    }
}
