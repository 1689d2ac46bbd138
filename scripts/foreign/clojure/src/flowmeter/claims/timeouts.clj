(ns flowmeter.claims.timeouts
  "Of the two texts on timeouts."
  (:require [clojure.core.async :refer [<! <!! >! >!! alts!! chan close! go take! timeout]]
            [flowmeter.claims.seen :refer [after claim halves noted since tenths]])
  (:import (flowmeter Claims)))

(def ^:private code-read "000_ffaacfc00d4fcfbd.txt")
(def ^:private channels "001_d22df209ee62fd6d.txt")
(def ^:private who "core-async-timeout")

(defn- distinct-channels [timeouts]
  (let [count (count (set timeouts))]
    (str count (if (= count 1) " channel" " channels"))))

(defn- hello []
  (let [c (chan)
        began (System/nanoTime)]
    (go (<! (timeout 1000))
        (>! c "hello from the future!"))
    (let [came (<!! c)]
      (noted (str (pr-str came) " after " (halves (since began)) " ms") (Claims/figure (since began))))))

(defn- answered
  "By a response that takes so long, or by a timeout of 300 ms."
  [ms]
  (let [c (chan)
        limit (timeout 300)
        began (System/nanoTime)]
    (future (Thread/sleep ms)
            (>!! c :response))
    (let [[_ port] (alts!! [c limit])
          took (since began)]
      (noted (str (if (identical? port c) "the value" ":timeout") " after " (tenths took) " ms") (Claims/figure took)))))

(defn- closed-meanwhile []
  (let [c (chan)
        ;; Long after: a put that already waits when the channel is closed waits for ever.
        late (future (Thread/sleep 2000)
                     (>!! c :response))]
    (alts!! [c (timeout 300)])
    (close! c)
    (if @late "the put is accepted" "the put is refused")))

(defn- until-due []
  (let [began (System/nanoTime)]
    (<!! (timeout 10000))
    (after began)))

(defn- overflow []
  (try
    (timeout Long/MAX_VALUE)
    "accepted"
    (catch ArithmeticException why
      (noted "refused" why))))

(defn- closed-for-another []
  (let [one (timeout 100009)
        other (timeout 100000)]
    (close! one)
    (let [[came port] (alts!! [other (timeout 100)])]
      (if (and (nil? came) (identical? port other))
        "the other's closes"
        "the other's stays open"))))

(defn- refused-take [timeouts]
  (loop [left timeouts takes 1]
    (if-some [[one & others] (seq left)]
      (if (try
            (take! one (fn [_]))
            false
            (catch AssertionError _ true))
        (str "take " takes " is refused")
        (recur others (inc takes)))
      "no take is refused")))

(defn waiting []
  [(-> (Claims/of code-read)
       (claim "a go block takes from (timeout 1000), then puts" who hello))
   (-> (Claims/of channels)
       (claim "the late response finds its channel closed" who closed-meanwhile)
       (claim "a take from the delay queue blocks until its head is due" who until-due)
       (claim "(timeout Long/MAX_VALUE)" who overflow))])

(defn- ten-thousand []
  (let [began (System/nanoTime)
        all (doall (repeatedly 10000 #(timeout 1000)))]
    (noted (distinct-channels all) (Claims/figure (since began)))))

(defn sharing
  "How many channels there are depends on how fast they are asked for."
  []
  ;; Once compiled, as in a session that has run for a while.
  (dotimes [_ 20]
    (ten-thousand)
    (<!! (timeout 20)))
  [(-> (Claims/of channels)
       (claim "10,000 timeouts of 1,000 ms" who ten-thousand))])

(defn answers
  "To the tenth of a second, so after what takes seconds has compiled whatever they need."
  []
  [(-> (Claims/of channels)
       (claim "a response takes longer than 300 ms, in an alts with (timeout 300)" who #(answered 400))
       (claim "a response comes faster than 300 ms" who #(answered 200)))])

(defn sharing-again []
  [(-> (Claims/of channels)
       (claim "10,000 timeouts of 1,000 ms, once more" who ten-thousand))])

(defn shared []
  [(-> (Claims/of code-read)
       (claim "the entry of an earlier deadline is not found" who
              #(distinct-channels [(timeout 20000) (timeout 20009)]))
       (claim "nor is one whose key is 10 ms later" who
              #(distinct-channels [(timeout 40010) (timeout 40000)]))
       (claim "1,000 timeouts all 500 ms from now" who
              #(distinct-channels (doall (repeatedly 1000 (fn [] (timeout 500)))))))
   (-> (Claims/of channels)
       (claim "(identical? (timeout 10009) (timeout 10000))" who
              #(distinct-channels [(timeout 60009) (timeout 60000)]))
       (claim "a timeout of 1 ms beside one of 10 ms" who
              #(if (identical? (timeout 10) (timeout 1)) "it closes after 10 ms" "it closes after 1 ms"))
       (claim "timeouts that differ in less than 10 ms" who
              #(distinct-channels [(timeout 80000) (timeout 80005)]))
       (claim "close! on a timeout channel" who closed-for-another)
       (claim "1,025 takes from (timeout 1000)" who #(refused-take (repeat 1025 (timeout 1000))))
       (claim "110 takes from each of 10 timeouts of 10,000 ms" who
              #(refused-take (mapcat (partial repeat 110) (doall (repeatedly 10 (fn [] (timeout 10000))))))))])
