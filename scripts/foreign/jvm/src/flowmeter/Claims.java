package flowmeter;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** Claims of the seed texts, re-enacted side by side in real time: a line for each, as it is done. */
public final class Claims {
    /** How a claim is re-enacted: what was seen, in the words of the text's row, and the figure as measured. */
    public interface Act {
        Seen see() throws Exception;
    }

    /** What was seen; the note may be null. */
    public record Seen(String words, String note) {}

    private static final PrintStream OUTPUT = System.out;
    /** Thrice what the longest of them takes, nanoseconds. */
    private static final long PATIENCE = 40_000_000_000L;

    private final Map<String, Object> about;
    private final List<Acting> acts = new ArrayList<>();

    /** One under way. What comes first is reported: its result, or that it takes too long. */
    private record Acting(Thread thread, Map<String, Object> line, AtomicBoolean told) {
        void tell(String seen, String note) {
            if (told.getAndSet(true)) {
                return;
            }
            line.put("seen", seen);
            line.put("note", note);
            synchronized (OUTPUT) {
                OUTPUT.println(Json.write(line));
            }
        }
    }

    private Claims(Map<String, Object> about) {
        this.about = about;
    }

    /** Of a text, by its file. */
    public static Claims of(String seed) {
        return new Claims(Map.of("seed", seed));
    }

    /** What breaks a statement of SEMANTICS.md. */
    public static Claims against(String statement, String expected) {
        return new Claims(Map.of("statement", statement, "expected", expected));
    }

    /** Begins to re-enact one. */
    public Claims claim(String claim, String implementation, Act act) {
        Map<String, Object> line = new LinkedHashMap<>(about);
        line.put("claim", claim);
        line.put("implementation", implementation);
        AtomicBoolean told = new AtomicBoolean();
        Thread thread = Crew.PLATFORM.newThread(() -> {
            Acting acting = new Acting(null, line, told);
            try {
                Seen seen = act.see();
                acting.tell(seen.words, seen.note);
            } catch (Exception | Error why) {
                acting.tell(why.toString(), null);
            }
        });
        acts.add(new Acting(thread, line, told));
        thread.start();
        return this;
    }

    /** Waits until all are told, or that they take too long. */
    public void await() throws InterruptedException {
        long until = System.nanoTime() + PATIENCE;
        for (Acting acting : acts) {
            acting.thread.join(Math.max(1, (until - System.nanoTime()) / 1_000_000));
            acting.tell("nothing for 40 s", null);
        }
    }

    /** The process ends with its standard input. */
    public static void endWithInput() {
        Crew.PLATFORM.newThread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // Nothing is ever written to it.
                }
            } catch (java.io.IOException gone) {
                // As if it had ended.
            }
            Runtime.getRuntime().halt(2);
        }).start();
    }

    /** `after 2000 ms`, with what it was beside. */
    public static Seen after(long nanos) {
        return new Seen("after " + halves(nanos) + " ms", figure(nanos));
    }

    /** Milliseconds, in half seconds that have passed: the texts speak of whole ones, and a sleep ends late, never early. */
    public static long halves(long nanos) {
        // Timeouts of whole milliseconds are early by as much as one.
        return (nanos + 10_000_000) / 500_000_000 * 500;
    }

    /** Milliseconds, to the tenth of a second, where a text speaks of those. */
    public static long tenths(long nanos) {
        return Math.round(nanos / 1e8) * 100;
    }

    public static String figure(long nanos) {
        return String.format("%.1f ms in real time", nanos / 1e6);
    }

    public static Seen plainly(String words) {
        return new Seen(words, null);
    }
}
