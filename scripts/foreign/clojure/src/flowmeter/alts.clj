(ns flowmeter.alts
  "alts!! on one thread, and on ports that others feed."
  (:require [clojure.core.async :as a :refer [<!! >!! alts!!]]
            [flowmeter.channels :refer [channel]]
            [flowmeter.watched :as w])
  (:import (flowmeter Crew Crew$Job Failed Params Solo Solo$Batch Stream$Runner)
           (java.util SplittableRandom)))

(defn- wrong [chosen]
  (Failed/miscounted (str "alts!! answered " (pr-str chosen))))

(defn- one-hot
  "One value at a time, at a port drawn anew each time."
  [ports]
  (let [random (SplittableRandom. 1)
        width (int (count ports))
        next (volatile! 0)]
    (fn []
      (let [value (vswap! next inc)
            hot (ports (.nextInt random width))]
        (>!! hot value)
        (let [[came port] (alts!! ports)]
          (when-not (and (= came value) (identical? port hot))
            (throw (wrong came))))))))

(defn- all-ready
  "Whatever is taken is put back where it came from: a value is the number of its port."
  [ports]
  (dotimes [port (count ports)]
    (>!! (ports port) port))
  (fn []
    (let [[came port] (alts!! ports)]
      (when-not (identical? port (get ports came))
        (throw (wrong came)))
      (>!! port came))))

(defn- none-ready [ports]
  (fn []
    (let [[came _] (alts!! ports :default ::none)]
      (when-not (= came ::none)
        (throw (wrong came))))))

(defn- mixed
  "The first half can take, the others can put; that is undone."
  [ports]
  (let [takes (quot (inc (count ports)) 2)
        clauses (into (subvec ports 0 takes) (map-indexed #(vector %2 (+ takes %1)) (subvec ports takes)))
        number (zipmap ports (range))]
    (dotimes [port takes]
      (>!! (ports port) port))
    (fn []
      (let [[came port] (alts!! clauses)
            place (number port)]
        (cond
          (= came place) (>!! port came)
          (true? came) (when-not (= place (<!! port))
                         (throw (wrong came)))
          :else (throw (wrong came)))))))

(def ^:private kinds
  {"one-hot" one-hot, "all-ready" all-ready, "none-ready" none-ready, "mixed" mixed})

(defn alone [^Params params]
  (let [ports (vec (repeatedly (.number params "width") #(channel (.number params "capacity"))))
        turn ((kinds (.word params "kind")) ports)]
    (Solo. (reify Solo$Batch
             (turns [_ turns]
               (dotimes [_ turns] (turn))))
           1)))

(defn- produce [c producer watch]
  (loop [next (w/stamp producer)]
    (let [chunk (w/chunk watch)]
      (dotimes [place chunk]
        (>!! c (+ next place))
        (w/has-put watch (+ next place)))
      (when-not (w/lap watch)
        (recur (+ next chunk)))))
  (>!! c w/sentinel))

(defn- consume
  "Takes from whichever port has something, until each has given its sentinel."
  [ports watch]
  (loop [turn 0 chunk (w/chunk watch) open (count ports)]
    (if (< turn chunk)
      (let [[came _] (alts!! ports)]
        (cond
          (not= came w/sentinel) (do (w/has-taken watch came)
                                     (recur (inc turn) chunk open))
          ;; A sentinel is no operation: the chunk is shorter by it.
          (< 1 open) (recur turn chunk (dec open))
          :else (w/ends watch turn)))
      (do (w/lap watch)
          (recur 0 (w/chunk watch) open)))))

(defn contended [room]
  (reify Stream$Runner
    (run [_ edges puts takes]
      (let [ports (vec (repeatedly (count puts) #(channel room)))
            job (fn [work] (reify Crew$Job (run [_] (work))))]
        (Crew/run Crew/PLATFORM
                  edges
                  (into [(job #(consume ports (first takes)))]
                        (map-indexed (fn [producer watch] (job #(produce (ports producer) producer watch))) puts)))))))
