(ns flowmeter.watched
  "What go blocks and alts call of the Java of all JVM implementations: small functions, since the go macro forgets the types
  of its locals, and a call without them would be looked up each time."
  (:refer-clojure :exclude [chunk])
  (:import (flowmeter Edges Stamp Watch)
           (java.util.concurrent.atomic AtomicInteger)))

(def sentinel Stamp/SENTINEL)

(defn stamp ^long [^long producer] (Stamp/of producer 0))
(defn chunk ^long [^Watch watch] (.chunk watch))
(defn has-put [^Watch watch ^long stamp] (.hasPut watch stamp))
(defn will-take [^Watch watch] (.willTake watch))
(defn has-taken [^Watch watch ^long stamp] (.hasTaken watch stamp))
(defn lap [^Watch watch] (.lap watch))
(defn ends [^Watch watch ^long done] (.ends watch (int done)))
(defn one-less ^long [^AtomicInteger left] (.decrementAndGet left))

(defn started
  "One more has started; the window begins when the last has."
  [to-start ^Edges edges]
  (when (and (zero? (one-less to-start)) edges)
    (.begin edges)))
