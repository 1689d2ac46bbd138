(ns flowmeter.pipelines
  "pipeline-async, an unordered one, and one that keeps to n, each made anew after an article on it."
  (:require [clojure.core.async :as a :refer [<! <!! >! chan close! go go-loop put! timeout]]
            [flowmeter.timeouts :refer [until]])
  (:import (flowmeter Pipeline Pipeline$Source Pipeline$Work)
           (java.util.function Consumer)))

(defn unordered
  "n workers, each of which waits for all results of its own item. Whoever finds no token left is the last."
  [n to af from]
  (let [tokens (a/to-chan! (repeat (dec n) :one-of-the-others))]
    (dotimes [_ n]
      (go-loop []
        (if-some [item (<! from)]
          (let [results (chan 1)]
            (af item results)
            (when (loop []
                    (let [result (<! results)]
                      (or (nil? result)
                          (and (>! to result) (recur)))))
              (recur)))
          (when-not (<! tokens)
            (close! to)))))
    to))

(defn finishing
  "Ordered, and never more than n at a time: a worker begins with another item once one that was begun has been delivered."
  [n to af from]
  (let [jobs (chan n)
        places (chan n)
        finishes (chan n)]
    ;; Every item has a place in the order, in which its channel of results will stand.
    (go-loop []
      (if-some [item (<! from)]
        (let [place (chan 1)]
          (>! jobs [item place])
          (>! places place)
          (recur))
        (do (close! jobs)
            (close! places))))
    (dotimes [_ n]
      (go-loop []
        (when-some [[item place] (<! jobs)]
          (let [results (chan 1)]
            (af item results)
            (put! place results)
            (<! finishes)
            (recur)))))
    (go-loop []
      (if-some [place (<! places)]
        (let [results (<! place)]
          (when (loop []
                  (let [result (<! results)]
                    (or (nil? result)
                        (and (>! to result) (recur)))))
            (>! finishes :one)
            (recur)))
        (close! to)))
    to))

(defn- next-item [^Pipeline$Source items] (.next items))
(defn- begins [^Pipeline$Work work item] (.begins work (long item)))
(defn- ends [^Pipeline$Work work item] (.ends work (long item)))
(defn- nanos ^long [^Pipeline$Work work item] (.nanos work (long item)))
(defn- accept [^Consumer result item] (.accept result item))

(defn- af [work]
  (fn [item results]
    (begins work item)
    (let [takes (nanos work item)]
      (if (zero? takes)
        (do (put! results item)
            (ends work item)
            (close! results))
        (let [due (+ (System/nanoTime) takes)]
          (go (<! (until due))
              (>! results item)
              (ends work item)
              (close! results)))))))

(defn pipeline
  "One that `start` starts with n, to, af and from."
  [start over-n in-order]
  (reify Pipeline
    (run [_ n items work result]
      (let [from (chan n)
            to (chan n)]
        (go-loop []
          (let [item (next-item items)]
            (if (neg? item)
              (close! from)
              (do (>! from item)
                  (recur)))))
        (start n to (af work) from)
        (<!! (go-loop []
               (when-some [item (<! to)]
                 (accept result item)
                 (recur))))))
    (overN [_] over-n)
    (ordered [_] in-order)))

(def by-name
  {"core-async-pipeline-async" #(pipeline a/pipeline-async 2 true)
   "core-async-pipeline-unordered" #(pipeline unordered 0 false)
   "core-async-pipeline-finishes" #(pipeline finishing 0 true)})
