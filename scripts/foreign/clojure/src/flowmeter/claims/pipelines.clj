(ns flowmeter.claims.pipelines
  "Of the text on the off-by-two error of pipeline-async, with the durations that it has."
  (:require [clojure.core.async :as a :refer [<! <!! >! chan close! go timeout]]
            [flowmeter.claims.seen :refer [after claim halves noted since]]
            [flowmeter.pipelines :refer [finishing unordered]])
  (:import (flowmeter Claims Flight)))

(def ^:private text "004_ebf855893e4a364d.txt")
(def ^:private original "core-async-pipeline-async")
(def ^:private as-they-come "core-async-pipeline-unordered")
(def ^:private fixed "core-async-pipeline-finishes")

(defn- begin [^Flight flight] (.begin flight))
(defn- end [^Flight flight] (.end flight))
(defn- peak [^Flight flight] (.peak flight))

(defn- all-of-a-second [_] 1000)
(defn- head-of-ten-seconds [item] (if (zero? item) 10000 1000))
(defn- only-the-head [item] (if (zero? item) 10000 0))

(defn- ten
  "Ten tasks that take so long, n at a time: the channel of results, the tasks in flight, which began when."
  [start n ms]
  (let [out (chan)
        flight (Flight.)
        began (System/nanoTime)
        log (atom [])
        task (fn [item results]
               (swap! log conj [(halves (since began)) item])
               (begin flight)
               (go (when (pos? (ms item))
                     (<! (timeout (ms item))))
                   (end flight)
                   (>! results (inc item))
                   (close! results)))]
    (start n out task (a/to-chan! (range 10)))
    {:out out :flight flight :began began :log log}))

(defn- through
  "All of it: how long it took beside the rest."
  [start n ms]
  (let [{:keys [out began] :as run} (ten start n ms)
        results (<!! (a/into [] out))]
    (assoc run :results results :took (since began))))

(defn- whole [start n ms]
  #(let [{:keys [took]} (through start n ms)]
     (Claims/after took)))

(defn- in-flight [start n]
  #(str (peak (:flight (through start n all-of-a-second))) " in flight"))

(defn- first-result [start n]
  #(let [{:keys [out began]} (ten start n only-the-head)]
     (<!! out)
     (after began)))

(defn- batches []
  (let [{:keys [log]} (through a/pipeline-async 1 all-of-a-second)
        together (map second (sort-by first (group-by first @log)))]
    (apply str (interpose ", " (map #(apply str (interpose " " (sort (map second %)))) together)))))

(defn- before-the-head-ends []
  (let [{:keys [out log]} (ten a/pipeline-async 1 only-the-head)]
    (<!! out)
    (str (count (filter #(< (first %) 10000) @log)) " in 10000 ms")))

(defn- no-more-than-n []
  (let [peaks (doall (pmap #(peak (:flight (through finishing % all-of-a-second))) [1 2 3]))]
    (str (apply str (interpose ", " peaks)) " in flight")))

(defn- where-n-is-a-bound [start]
  #(let [[three one] (doall (pmap (fn [n] (:took (through start n all-of-a-second))) [3 1]))]
     (noted (str "after " (halves three) " ms, after " (halves one) " ms")
            (str (Claims/figure three) ", " (Claims/figure one)))))

(defn- chained []
  (let [process (fn [n work in]
                  (let [out (chan)]
                    (a/pipeline-blocking n out (map work) in)
                    out))
        process-async (fn [n work in]
                        (let [out (chan)]
                          (a/pipeline-async (- n 2) out work in)
                          out))
        began (System/nanoTime)]
    (->> (a/to-chan! (range 10))
         (process 10 (fn [v] (Thread/sleep 1000) (inc v)))
         (process-async 10 (fn [v results] (go (<! (timeout 1000)) (>! results (inc v)) (close! results))))
         (a/into [])
         <!!)
    (after began)))

(defn- dec-n [n to af from]
  (a/pipeline-async (dec n) to af from))

(defn claims []
  [(-> (Claims/of text)
       (claim "(pipeline-async 3 ...), ten tasks of 1 s" original (whole a/pipeline-async 3 all-of-a-second))
       (claim "(pipeline-async 1 ...), ten tasks of 1 s" original (whole a/pipeline-async 1 all-of-a-second))
       (claim "the log of (pipeline-async 1 ...): which jobs start together" original batches)
       (claim "with a parallelism of 1" original (in-flight a/pipeline-async 1))
       (claim "with a parallelism of 3" original (in-flight a/pipeline-async 3))
       (claim "(pipeline-async 1 ...), the first task takes 10 s, the others 1 s: what comes out" original
              #(apply str (interpose " " (:results (through a/pipeline-async 1 head-of-ten-seconds)))))
       (claim "(pipeline-async 1 ...), the first task takes 10 s, the others nothing: the first result" original
              (first-result a/pipeline-async 1))
       (claim "until that one is finished no more tasks will be taken" original before-the-head-ends)
       (claim "(pipeline-async 1 ...), the first task takes 10 s, the others 1 s" original
              (whole a/pipeline-async 1 head-of-ten-seconds))
       (claim "(pipeline* (dec n) ...), asked for 2" original (in-flight dec-n 2))
       (claim "(process 10 ...), then (process-async 10 ...), ten values, 1 s in each" original chained)
       (claim "(pipeline-async-unordered 3 ...)" as-they-come (in-flight unordered 3))
       (claim "(pipeline-async-unordered 3 ...), ten tasks of 1 s" as-they-come (whole unordered 3 all-of-a-second))
       (claim "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others nothing: the first result"
              as-they-come (first-result unordered 3))
       (claim "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others 1 s: what comes last"
              as-they-come #(str (peek (:results (through unordered 3 head-of-ten-seconds)))))
       (claim "(pipeline-async-unordered 3 ...), the first task takes 10 s, the others 1 s" as-they-come
              (whole unordered 3 head-of-ten-seconds))
       (claim "ten tasks of 1 s where n is a bound, n = 3 and n = 1" as-they-come (where-n-is-a-bound unordered))
       (claim "with `finishes`, n = 1, 2, 3" fixed no-more-than-n)
       (claim "ten tasks of 1 s where n is a bound, n = 3 and n = 1" fixed (where-n-is-a-bound finishing)))])
