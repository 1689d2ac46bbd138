package flowmeter;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as the protocol has, since the JDK brings none: objects, lists, text, numbers, true, false and null. */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The value of a line: a map, a list, text, a long, a double, a boolean or null. */
    public static Object read(String line) {
        Json json = new Json(line);
        Object value = json.value();
        json.space();
        if (json.at != line.length()) {
            throw json.wrong();
        }
        return value;
    }

    /** A map, as the protocol's lines are. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> table(Object value) {
        return (Map<String, Object>) value;
    }

    public static String write(Object value) {
        StringBuilder line = new StringBuilder();
        write(value, line);
        return line.toString();
    }

    private static void write(Object value, StringBuilder line) {
        if (value instanceof String words) {
            quote(words, line);
        } else if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                line.append(before);
                quote((String) entry.getKey(), line);
                line.append(':');
                write(entry.getValue(), line);
                before = ",";
            }
            line.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object one : list) {
                line.append(before);
                write(one, line);
                before = ",";
            }
            line.append(list.isEmpty() ? "[]" : "]");
        } else if (value instanceof Double number && !Double.isFinite(number)) {
            // JSON has no word for it, and the engine refuses what is none.
            line.append("null");
        } else {
            line.append(value);
        }
    }

    private static void quote(String words, StringBuilder line) {
        line.append('"');
        for (char c : words.toCharArray()) {
            if (c == '"' || c == '\\') {
                line.append('\\').append(c);
            } else if (c < ' ') {
                line.append(String.format("\\u%04x", (int) c));
            } else {
                line.append(c);
            }
        }
        line.append('"');
    }

    private Object value() {
        space();
        switch (peek()) {
            case '{':
                return map();
            case '[':
                return list();
            case '"':
                return words();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> map() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        while (!ends('}', map.isEmpty())) {
            space();
            String key = words();
            space();
            expect(':');
            map.put(key, value());
        }
        return map;
    }

    private List<Object> list() {
        List<Object> list = new ArrayList<>();
        at++;
        while (!ends(']', list.isEmpty())) {
            list.add(value());
        }
        return list;
    }

    /** Whether that is next; else a comma is, but before the first. */
    private boolean ends(char end, boolean first) {
        space();
        if (peek() == end) {
            at++;
            return true;
        }
        if (!first) {
            expect(',');
        }
        return false;
    }

    private String words() {
        expect('"');
        StringBuilder words = new StringBuilder();
        for (;;) {
            char c = next();
            if (c == '"') {
                return words.toString();
            }
            words.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        char c = next();
        switch (c) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return c;
        }
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(from, at);
        if (number.isEmpty()) {
            throw wrong();
        }
        // A seed has 64 bits and no sign.
        return number.matches("-?\\d+") ? (Object) new java.math.BigInteger(number).longValue() : Double.valueOf(number);
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at);
    }

    private char next() {
        char c = peek();
        at++;
        return c;
    }

    private void expect(char c) {
        if (next() != c) {
            throw wrong();
        }
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at " + at + ": " + text);
    }
}
