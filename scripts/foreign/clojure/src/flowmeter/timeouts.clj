(ns flowmeter.timeouts
  "A go block for each deadline, which takes from (timeout ms)."
  (:require [clojure.core.async :refer [<! go go-loop timeout]])
  (:import (flowmeter Clockwork)
           (java.util.function LongSupplier)))

(defn until
  "A timeout of the whole milliseconds that are left, rounded up."
  [^long due]
  (timeout (max 0 (quot (+ (- due (System/nanoTime)) 999999) 1000000))))

(defn- call [^Runnable then] (.run then))
(defn- next-due [^LongSupplier then] (.getAsLong then))

(defn clockwork []
  (reify Clockwork
    (arm [_ due then]
      (go (<! (until due))
          (call then)))
    ;; One go block, which waits over and over.
    (again [_ due then]
      (go-loop [due due]
        (<! (until due))
        (let [after (next-due then)]
          (when-not (= after Clockwork/NEVER)
            (recur after)))))
    ;; Its clock is the wall's, truncated to milliseconds.
    (mayBeEarly [_] true)))
