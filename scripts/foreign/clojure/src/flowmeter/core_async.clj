(ns flowmeter.core-async
  "Implementations of core.async, over the Java that all JVM implementations share."
  (:gen-class)
  (:require [clojure.core.async :refer [go]]
            [flowmeter.alts :as alts]
            [flowmeter.channels :refer [opener]]
            [flowmeter.claims :as claims]
            [flowmeter.go-blocks :as go-blocks]
            [flowmeter.pipelines :as pipelines]
            [flowmeter.timeouts :as timeouts])
  (:import (flowmeter Crew Expiry Lateness Params PingPong PipelineFlow PipelineTasks Serve Serve$Maker SpawnJoin Stream Threads
                      Uncontended)
           (java.util.function Consumer)))

(defn- run-it [^Runnable task] (.run task))

(defn- stage [implementation workload ^Params params]
  (case [implementation workload]
    ["core-async-threads" "stream"] (Threads/stream opener Crew/PLATFORM params)
    ["core-async-threads" "open-loop"] (Threads/openLoop opener Crew/PLATFORM params)
    ["core-async-threads" "ping-pong"] (Threads/pingPong opener Crew/PLATFORM params)
    ["core-async-threads" "uncontended"] (Uncontended/of opener params)
    ["core-async-threads" "alts"] (alts/alone params)
    ["core-async-threads" "alts-contended"] (Stream/ofPorts (alts/contended (.room params)) opener params)
    ["core-async-go" "stream"] (Stream/of (go-blocks/stream (.room params)) opener params)
    ["core-async-go" "ping-pong"] (PingPong. (go-blocks/ping-pong (.room params)) opener params)
    ["core-async-timeout" "timer-lateness"] (Lateness. (timeouts/clockwork) params)
    ["core-async-timeout" "timer-expiry"] (Expiry. (timeouts/clockwork) params)
    ["core-async-go-blocks" "spawn-join"] (SpawnJoin/of (reify Consumer
                                                          (accept [_ task] (go (run-it task))))
                                                        params)
    (when-some [make (pipelines/by-name implementation)]
      (case workload
        "pipeline-tasks" (PipelineTasks. (make) params)
        "pipeline-flow" (PipelineFlow. (make) params)
        nil))))

(defn -main [& arguments]
  (if (= arguments ["--claims"])
    (claims/reenact)
    (Serve/run (reify Serve$Maker
                 (make [_ implementation workload params]
                   (stage implementation workload params))))))
