(ns flowmeter.timeouts
  "A go block for each deadline, which takes from (timeout ms)."
  (:require [clojure.core.async :refer [<! go timeout]])
  (:import (flowmeter Clockwork)))

(defn until
  "A timeout of the whole milliseconds that are left, rounded up."
  [^long due]
  (timeout (max 0 (quot (+ (- due (System/nanoTime)) 999999) 1000000))))

(defn- call [^Runnable then] (.run then))

(defn clockwork []
  (reify Clockwork
    (arm [_ due then]
      (go (<! (until due))
          (call then)))
    ;; Its clock is the wall's, truncated to milliseconds.
    (mayBeEarly [_] true)))
