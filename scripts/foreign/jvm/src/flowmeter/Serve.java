package flowmeter;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * An implementation's side of the line protocol (`harness/measure/src/protocol.rs`). The process ends when its standard input
 * does, whatever it is doing; what is printed otherwise goes to the standard error.
 */
public final class Serve {
    /** Makes a stage of an implementation's name and a workload with its parameters. */
    public interface Maker {
        Stage make(String implementation, String workload, Params params) throws Exception;
    }

    private Stage stage;
    private Map<String, Object> warmUp;

    private Serve() {}

    /** Answers requests until there are no more. */
    public static void run(Maker maker) throws Exception {
        PrintStream output =
                new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        LinkedBlockingQueue<String> requests = new LinkedBlockingQueue<>();
        Crew.PLATFORM.newThread(() -> listen(requests)).start();
        Serve serve = new Serve();
        for (;;) {
            Map<String, Object> request = Json.table(Json.read(requests.take()));
            output.println(Json.write(serve.caught(maker, request)));
        }
    }

    private static void listen(LinkedBlockingQueue<String> requests) {
        try (BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                requests.add(line);
            }
        } catch (IOException gone) {
            // As if it had ended.
        }
        Runtime.getRuntime().halt(0);
    }

    private Map<String, Object> caught(Maker maker, Map<String, Object> request) {
        try {
            return answer(maker, request);
        } catch (Failed why) {
            return error(why.kind, why.getMessage());
        } catch (Exception | StackOverflowError why) {
            return error("panic", why.toString());
        }
    }

    private Map<String, Object> answer(Maker maker, Map<String, Object> request) throws Exception {
        switch ((String) request.get("ask")) {
            case "prepare":
                Map<String, Object> scenario = Json.table(request.get("scenario"));
                Map<String, Object> work = Json.table(scenario.get("work"));
                Params params = new Params(Json.table(work.get("params")));
                stage = maker.make((String) request.get("implementation"), (String) work.get("workload"), params);
                if (stage == null) {
                    throw new Failed("protocol", "it cannot run " + scenario.get("name"));
                }
                return said("ready");
            case "prove":
                stage.prove();
                warmUp = WarmUp.of(stage);
                return said("proved");
            case "window":
                if (request.get("slowed_percent") != null) {
                    throw new Failed("protocol", "it cannot be slowed on purpose");
                }
                Spec spec = new Spec(number(request, "ramp_nanos"), number(request, "nanos"), number(request, "seed"), false);
                return stage.window(spec).with("warm_up", warmUp).line();
            case "peak-memory":
                Map<String, Object> peak = said("peak-memory");
                peak.put("bytes", Usage.peakBytes());
                return peak;
            case "allocations":
                return said("uncounted");
            default:
                throw new Failed("protocol", "asked " + request.get("ask"));
        }
    }

    private static long number(Map<String, Object> request, String name) {
        return ((Number) request.get(name)).longValue();
    }

    private static Map<String, Object> said(String word) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("answer", word);
        return answer;
    }

    private static Map<String, Object> error(String kind, String message) {
        Map<String, Object> answer = said("error");
        answer.put("kind", kind);
        answer.put("message", message);
        return answer;
    }
}
