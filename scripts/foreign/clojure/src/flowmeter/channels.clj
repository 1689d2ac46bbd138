(ns flowmeter.channels
  "Channels of core.async whose puts and takes hold up threads: >!! and <!!."
  (:require [clojure.core.async :as a])
  (:import (flowmeter Port Port$Opener)))

(defn channel
  "With room for so many; 0 is a rendezvous."
  [room]
  (if (zero? room) (a/chan) (a/chan room)))

(def ^Port$Opener opener
  (reify Port$Opener
    (open [_ room]
      (let [c (channel room)]
        (reify Port
          (put [_ value] (a/>!! c value))
          (take [_] (a/<!! c))
          (offer [_ value] (boolean (a/offer! c value))))))))
