(ns flowmeter.claims.seen
  "How an act tells what it saw."
  (:import (flowmeter Claims Claims$Act Claims$Seen)))

(defn act [see]
  (reify Claims$Act
    (see [_]
      (let [seen (see)]
        (if (instance? Claims$Seen seen)
          seen
          (Claims/plainly (str seen)))))))

(defn claim [^Claims claims says who see]
  (.claim claims says who (act see)))

(defn noted [words note]
  (Claims$Seen. (str words) (str note)))

(defn since ^long [^long began]
  (- (System/nanoTime) began))

(defn after
  "`after 2000 ms`, and the figure as measured."
  [^long began]
  (Claims/after (since began)))

(defn halves
  "Milliseconds, in half seconds that have passed."
  ^long [^long nanos]
  (Claims/halves nanos))

(defn tenths
  "Milliseconds, to the tenth of a second."
  ^long [^long nanos]
  (Claims/tenths nanos))
