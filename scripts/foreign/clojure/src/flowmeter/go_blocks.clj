(ns flowmeter.go-blocks
  "Streams and ping-pong of go blocks: >! and <!."
  (:require [clojure.core.async :as a :refer [<! <!! >! go go-loop]]
            [flowmeter.channels :refer [channel]]
            [flowmeter.watched :as w])
  (:import (flowmeter PingPong PingPong$Runner Stream$Runner)
           (java.util.concurrent.atomic AtomicInteger)))

(defn- produce [c producer watch start remaining consumers]
  (go
    (start)
    (loop [next (w/stamp producer)]
      (let [after (loop [next next left (w/chunk watch)]
                    (if (pos? left)
                      (do (>! c next)
                          (w/has-put watch next)
                          (recur (inc next) (dec left)))
                      next))]
        (when-not (w/lap watch)
          (recur after))))
    (when (zero? (w/one-less remaining))
      (loop [left consumers]
        (when (pos? left)
          (>! c w/sentinel)
          (recur (dec left)))))))

(defn- consume [c watch start]
  (go
    (start)
    (loop [turn 0 chunk (w/chunk watch)]
      (if (< turn chunk)
        (do (w/will-take watch)
            (let [stamp (<! c)]
              (if (= stamp w/sentinel)
                (w/ends watch turn)
                (do (w/has-taken watch stamp)
                    (recur (inc turn) chunk)))))
        ;; Producers decide when it is over.
        (do (w/lap watch)
            (recur 0 (w/chunk watch)))))))

(defn stream [room]
  (reify Stream$Runner
    (run [_ edges puts takes]
      (let [c (channel room)
            remaining (AtomicInteger. (count puts))
            to-start (AtomicInteger. (+ (count puts) (count takes)))
            start #(w/started to-start edges)
            ends (into (mapv #(consume c % start) takes)
                       (map-indexed #(produce c %1 %2 start remaining (count takes)) puts))]
        (run! <!! ends)))))

(defn- give-back [to back start]
  (go
    (start)
    (loop []
      (let [ball (<! to)]
        (when-not (= ball w/sentinel)
          (>! back ball)
          (recur))))))

(defn- serve
  "The block's channel has what was sent and came back wrong, if anything did."
  [to back watch start]
  (go
    (start)
    (loop [ball 0 left (w/chunk watch)]
      (cond
        (pos? left) (do (>! to ball)
                        (let [came (<! back)]
                          (if (= came ball)
                            (do (w/has-put watch ball)
                                (recur (inc ball) (dec left)))
                            [ball came])))
        (w/lap watch) (do (>! to w/sentinel) nil)
        :else (recur ball (w/chunk watch))))))

(defn ping-pong [room]
  (reify PingPong$Runner
    (run [_ edges watch]
      (let [to (channel room)
            back (channel room)
            to-start (AtomicInteger. 2)
            start #(w/started to-start edges)
            returns (give-back to back start)
            [ball came] (<!! (serve to back watch start))]
        (when ball
          (throw (PingPong/wrong ball came)))
        (<!! returns)))))
