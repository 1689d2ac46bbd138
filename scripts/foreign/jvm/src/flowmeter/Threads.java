package flowmeter;

import java.util.concurrent.ThreadFactory;

/** Workloads whose operations hold up the threads that do them. */
public final class Threads {
    private Threads() {}

    public static Stage stream(Port.Opener opener, ThreadFactory threads, Params params) {
        return Stream.of(new ThreadStream(opener, threads, params.room()), opener, params);
    }

    public static Stage openLoop(Port.Opener opener, ThreadFactory threads, Params params) {
        return new OpenLoop(opener, threads, params);
    }

    public static Stage pingPong(Port.Opener opener, ThreadFactory threads, Params params) {
        return new PingPong(new ThreadPingPong(opener, threads, params.room()), opener, params);
    }
}
