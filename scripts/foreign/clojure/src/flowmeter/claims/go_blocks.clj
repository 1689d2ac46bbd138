(ns flowmeter.claims.go-blocks
  "Of the text on the state machines of go blocks."
  (:require [clojure.core.async :refer [<! <!! >! >!! alts! alts!! chan go offer! poll! timeout]]
            [flowmeter.claims.seen :refer [claim]])
  (:import (flowmeter Claims)))

(def ^:private text "003_79027425952605e6.txt")
(def ^:private who "core-async-go")

(def ^:dynamic *bound* "not seen")

(defn- filled [value]
  (let [c (chan 1)]
    (>!! c value)
    c))

(defn- never-runs []
  (let [c (chan)
        after (go (>! c :foo) :ran)
        [came _] (alts!! [after (timeout 1000)])]
    (if came "it runs" "it never runs")))

(defn- read-from []
  (let [c1 (chan)
        c2 (chan)
        block (go (let [[v ch] (alts! [c1 c2])]
                    (str "Read " v " from " (if (identical? ch c2) "c2" "c1"))))]
    (>!! c2 7)
    (<!! block)))

(defn- one-of-both []
  (let [both [(filled 1) (filled 2)]]
    (<!! (go (alts! both)))
    (str "1 taken, " (count (keep poll! both)) " left")))

(defn- chosen
  "Which of two ports with values are chosen, in 64 times."
  [& options]
  (let [c1 (filled 1)
        c2 (filled 2)
        names {c1 "c1" c2 "c2"}
        once (fn []
               (let [[v port] (apply alts!! [c1 c2] options)]
                 (>!! port v)
                 (names port)))]
    (sort (distinct (repeatedly 64 once)))))

(defn- puts []
  (let [c1 (chan)
        c3 (chan 1)]
    (<!! (go (alts! [c1 [c3 "foo"]])))
    (str "c3 has " (pr-str (poll! c3)))))

(defn- able []
  (let [c2 (filled 7)
        [v port] (<!! (go (alts! [(chan) c2] :default :none)))]
    (str v " from " (if (identical? port c2) "c2" "elsewhere"))))

(defn- default []
  (let [began (System/nanoTime)
        [v _] (<!! (go (alts! [(chan) (chan)] :default :none)))]
    (if (= v :none)
      (str "the default after " (Claims/halves (- (System/nanoTime) began)) " ms")
      (str v))))

(defn- inactive []
  (let [c1 (chan)
        c2 (chan)]
    (<!! (go (alts! [c1 c2] :default :none)))
    (if (or (offer! c1 1) (offer! c2 1)) "one is taken" "both are there")))

(defn- bindings []
  (binding [*bound* "seen"]
    (let [before (chan 1)]
      (str (<!! (go (>! before *bound*)
                    (<! (timeout 10))
                    (str (<! before) ", and " *bound*)))))))

(defn claims []
  [(-> (Claims/of text)
       (claim "the channel of a go block" who #(let [c (go 7)] (str (<!! c) ", " (if (nil? (<!! c)) "closed" "open"))))
       (claim "the channel of a go block whose last value is nil" who
              #(if (nil? (<!! (go nil))) "closed" "a value"))
       (claim "the value received from the timeout channel" who #(pr-str (<!! (timeout 10))))
       (claim "(go (>! c :foo) (prn ...)), and no one ever takes from c" who never-runs)
       (claim "(alts! [c1 c2]) in a go block, and a value comes to c2" who read-from)
       (claim "(alts! [c1 c2]), both with a value" who one-of-both)
       (claim "(alts! [c1 c2] :priority true), both with values, 64 times" who
              #(let [seen (chosen :priority true)] (str (apply str (interpose " and " seen)) " 64 times")))
       (claim "(alts! [c1 c2]), both with values, 64 times" who #(apply str (interpose " and " (chosen))))
       (claim "(alts! [c1 [c3 \"foo\"]]), c1 empty" who puts)
       (claim "(alts! [c1 c2] :default ...), and c2 has a value" who able)
       (claim "(alts! [c1 c2] :default ...), and none is ready" who default)
       (claim "values come to c1 and c2 after the default was returned" who inactive)
       (claim "what is bound where a go block is spawned, before and after it has waited" who bindings))])
