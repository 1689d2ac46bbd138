(ns flowmeter.claims
  "What the seed texts claim, re-enacted by core.async itself in real time, and the statements of SEMANTICS.md that it
  breaks."
  (:require [flowmeter.claims.faults :as faults]
            [flowmeter.claims.go-blocks :as go-blocks]
            [flowmeter.claims.pipelines :as pipelines]
            [flowmeter.claims.pool :as pool]
            [flowmeter.claims.timeouts :as timeouts])
  (:import (flowmeter Claims)))

(defn- told [claims]
  (run! #(.await ^Claims %) claims))

(def ^:private alone
  "What counts early calls or milliseconds wants the machine for itself. The last ones block the pool that all go blocks
  run on."
  [timeouts/answers faults/early timeouts/sharing timeouts/sharing-again timeouts/shared faults/closed-port
   faults/self-pairing pool/claims])

(defn reenact []
  (Claims/endWithInput)
  ;; What only waits goes side by side: the longest of these takes 13 s.
  (told (concat (pipelines/claims) (timeouts/waiting) (go-blocks/claims) (faults/unbounded)))
  (doseq [claims alone]
    (told (claims)))
  (System/exit 0))
