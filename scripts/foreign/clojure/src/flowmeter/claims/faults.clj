(ns flowmeter.claims.faults
  "Statements of SEMANTICS.md that core.async breaks; ours keep them, which their properties prove."
  (:require [clojure.core.async :as a :refer [<! <!! alts!! chan close! go offer! take! timeout]]
            [flowmeter.claims.seen :refer [claim noted]])
  (:import (flowmeter Claims Flight)
           (java.util.concurrent CountDownLatch)
           (java.util.concurrent.atomic AtomicInteger AtomicLong)))

(def ^:private tries 20000)
;; Of all tries, nanoseconds: on a busy machine each takes milliseconds.
(def ^:private patience 10000000000)
(def ^:private timeouts 500)

(defn- wait-for
  "Spins: whoever sleeps comes too late for what is looked for. Others may run where there are too few cores for that."
  [^AtomicInteger turn ^long wanted]
  (loop [spins 0]
    (when (< (.get turn) wanted)
      (if (< spins 10000)
        (Thread/onSpinWait)
        (Thread/yield))
      (recur (inc spins)))))

(defn- count-down [^CountDownLatch latch] (.countDown latch))
(defn- one-more [^AtomicLong count] (.incrementAndGet count))

(defn- early-calls []
  (let [early (AtomicLong.)
        over (CountDownLatch. timeouts)]
    (dotimes [place timeouts]
      (let [ms (+ 5 (mod place 50))
            due (+ (System/nanoTime) (* ms 1000000))]
        (take! (timeout ms)
               (fn [_]
                 (when (neg? (- (System/nanoTime) due))
                   (one-more early))
                 (count-down over))))
      ;; Else they would share channels, and be early together.
      (Thread/sleep 0 700000))
    (.await over)
    (str (.get early) " of " timeouts " early")))

(defn early []
  [(-> (Claims/against "T1" (str "0 of " timeouts " early"))
       (claim "500 timeouts of 5 to 54 ms, one after the other" "core-async-timeout"
              #(noted (early-calls) "it truncates the wall clock to milliseconds; ours round up the monotonic one")))])

(defn- lost-at-a-closed-port
  "How often an alts answers for its closed port although an offer to its other port was accepted, and in how many tries."
  []
  (let [closed (doto (chan) close!)
        ports (object-array (repeatedly tries chan))
        accepted (boolean-array tries)
        alts-begun (AtomicInteger. -1)
        offered (AtomicInteger. -1)
        until (+ (System/nanoTime) patience)
        offering (future
                   (dotimes [turn tries]
                     (wait-for alts-begun turn)
                     ;; Sooner or later, so that it comes while the alts is at it.
                     (dotimes [_ (mod turn 256)]
                       (Thread/onSpinWait))
                     (aset accepted turn (boolean (offer! (aget ports turn) :value)))
                     (.set offered turn)))]
    (loop [turn 0 lost 0]
      (if (or (= turn tries) (< until (System/nanoTime)))
        (do (.set alts-begun tries)
            [lost turn])
        (let [port (aget ports turn)]
          (.set alts-begun turn)
          (let [[came chosen] (alts!! [port [closed :put]] :priority true)]
            (wait-for offered turn)
            (recur (inc turn)
                   (if (and (aget accepted turn) (not (and (identical? chosen port) (= came :value))))
                     (inc lost)
                     lost))))))))

(defn closed-port []
  [(-> (Claims/against "A2" "0 values lost")
       (claim "(alts!! [open [closed v]]) while another thread offers to open: lost values" "core-async-threads"
              #(let [[lost turns] (lost-at-a-closed-port)]
                 (noted (str lost " values lost")
                        (str "in " turns " tries; it answers for the closed port after another clause has won; ours "
                             "claim the alts first")))))])

(defn self-pairing []
  [(-> (Claims/against "A4" "it waits for another partner")
       (claim "(alts!! [[c 1] c]) on a channel without a buffer" "core-async-threads"
              #(let [c (chan)
                     [_ port] (alts!! [[c 1] c (timeout 1000)])]
                 (noted (if (identical? port c) "it answers itself" "it waits for another partner")
                        "its clauses meet each other; ours never pair an alts with itself"))))])

(defn- begin [^Flight flight] (.begin flight))
(defn- end [^Flight flight] (.end flight))
(defn- peak [^Flight flight] (.peak flight))

(defn unbounded []
  [(-> (Claims/against "P1" "3 in flight at most")
       (claim "(pipeline-async 1 ...), `to` is closed: 50 tasks that answer at once and end after 1 s" "core-async-pipeline-async"
              #(let [flight (Flight.)
                     to (doto (chan) close!)
                     from (a/to-chan! (range 50))]
                 (a/pipeline-async 1 to
                                   (fn [item results]
                                     (begin flight)
                                     (go (a/>! results item)
                                         (<! (timeout 1000))
                                         (end flight)
                                         (close! results)))
                                   from)
                 (<!! (timeout 4000))
                 (let [most (peak flight)]
                   (noted (str (if (<= most 3) 3 most) " in flight at most")
                          "n + 2 hold only while `to` is open; ours stop then")))))])
