(ns flowmeter.claims.pool
  "Of the pool that go blocks run on. Its threads are blocked while that is looked at."
  (:require [clojure.core.async :refer [go]]
            [flowmeter.claims.seen :refer [claim noted]])
  (:import (flowmeter Claims)
           (java.util.concurrent CountDownLatch TimeUnit)
           (java.util.concurrent.atomic AtomicInteger)))

(def ^:private text "000_ffaacfc00d4fcfbd.txt")
(def ^:private who "core-async-go-blocks")

(defn- await-latch [^CountDownLatch latch] (.await latch))
(defn- one-more [^AtomicInteger count] (.incrementAndGet count))

(defn- blocked
  "How many of 64 go blocks begin where each blocks its thread."
  []
  (let [begun (AtomicInteger.)
        let-go (CountDownLatch. 1)]
    (dotimes [_ 64]
      (go (one-more begun)
          (await-latch let-go)))
    ;; No other go block runs meanwhile.
    (.await let-go 1 TimeUnit/SECONDS)
    (let [seen (.get begun)]
      (.countDown let-go)
      seen)))

(defn claims []
  (let [threads (blocked)
        cores (.availableProcessors (Runtime/getRuntime))]
    [(-> (Claims/of text)
         (claim "threads of the pool that go blocks run on" who
                #(noted (if (= threads (+ 2 cores)) "2 + cores" (str threads " threads"))
                        (str "on a machine of " cores " cores")))
         (claim "go blocks that block the pool's threads starve the others" who
                #(if (< threads 64) "the next go block never begins" "all begin")))]))
