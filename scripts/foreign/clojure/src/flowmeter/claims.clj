(ns flowmeter.claims
  "What the seed texts claim, re-enacted by core.async itself in real time, and the statements of SEMANTICS.md that it
  breaks."
  (:require [flowmeter.claims.faults :as faults]
            [flowmeter.claims.go-blocks :as go-blocks]
            [flowmeter.claims.pipelines :as pipelines]
            [flowmeter.claims.pool :as pool]
            [flowmeter.claims.timeouts :as timeouts])
  (:import (flowmeter Claims)))

(defn reenact []
  (Claims/endWithInput)
  ;; What only waits goes side by side. What counts early calls or milliseconds wants the machine for itself, and what
  ;; blocks the pool comes last: its threads stay blocked.
  (dorun (map #(.await ^Claims %) (doall (concat (pipelines/claims) (timeouts/waiting) (go-blocks/claims) (faults/unbounded)))))
  (doseq [of-one [timeouts/answers faults/early timeouts/sharing timeouts/sharing-again timeouts/shared faults/closed-port faults/self-pairing pool/claims]]
    (run! #(.await ^Claims %) (of-one)))
  (System/exit 0))
