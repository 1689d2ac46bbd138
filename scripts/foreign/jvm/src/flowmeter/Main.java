package flowmeter;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;

/** Implementations of plain Java: on threads of the platform, or on virtual ones where the JDK has them. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--claims")) {
            reenact(Runtime.version().feature());
            return;
        }
        Serve.run(Main::stage);
    }

    /** Whatever only waits goes side by side; what counts early calls has the machine for itself. */
    private static void reenact(int release) throws Exception {
        Claims.endWithInput();
        Throughput throughput = Throughput.of(release);
        throughput.unlimitedThreads().await();
        List<Claims> waiting = new ArrayList<>(throughput.waiting());
        waiting.addAll(Deadlines.of(release).waiting());
        for (Claims claims : waiting) {
            claims.await();
        }
        for (Claims claims : Deadlines.of(release).early()) {
            claims.await();
        }
    }

    /** `jdk25-virtual-array-blocking-queue`: the release that it is named after, the threads, the class. */
    private static Stage stage(String implementation, String workload, Params params) {
        String name = implementation.replaceFirst("^jdk\\d+-", "");
        boolean virtual = name.startsWith("virtual-") && !name.equals("virtual-sleep");
        ThreadFactory threads = virtual ? Crew.virtual() : Crew.PLATFORM;
        String type = virtual ? name.substring("virtual-".length()) : name;
        Port.Opener queue = Queues.of(type);
        if (queue != null) {
            return switch (workload) {
                case "stream" -> Threads.stream(queue, threads, params);
                case "open-loop" -> Threads.openLoop(queue, threads, params);
                case "ping-pong" -> Threads.pingPong(queue, threads, params);
                case "uncontended" -> Uncontended.of(queue, params);
                default -> null;
            };
        }
        if (type.equals("upmap")) {
            return switch (workload) {
                case "pipeline-tasks" -> new PipelineTasks(new UpMap(threads), params);
                case "pipeline-flow" -> new PipelineFlow(new UpMap(threads), params);
                default -> null;
            };
        }
        if (type.equals("threads")) {
            return workload.equals("spawn-join") ? SpawnJoin.of(work -> threads.newThread(work).start(), params) : null;
        }
        Clockwork clockwork = Clockworks.of(type);
        if (clockwork == null) {
            return null;
        }
        return switch (workload) {
            case "timer-churn" -> new Churn(clockwork, params);
            case "timer-lateness" -> new Lateness(clockwork, params);
            case "timer-expiry" -> new Expiry(clockwork, params);
            case "timer-turnover" -> new Turnover(clockwork, params);
            case "timer-storm" -> new Storm(clockwork, params);
            default -> null;
        };
    }
}
