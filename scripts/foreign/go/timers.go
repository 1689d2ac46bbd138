package main

import "time"

// armed has something called at a moment.
type armed func(due int64, call func())

func byAfterFunc(due int64, call func()) {
	time.AfterFunc(time.Duration(due-now()), call)
}

func bySleep(due int64, call func()) {
	go func() {
		time.Sleep(time.Duration(due - now()))
		call()
	}()
}

// again has something called at a moment, and at each that the call answers, until that is over.
type again func(due int64, call func() int64)

// over is no moment: there is no other.
const over = 0

func againByAfterFunc(due int64, call func() int64) {
	byAfterFunc(due, func() {
		if next := call(); next != over {
			againByAfterFunc(next, call)
		}
	})
}

// againBySleep is one goroutine, which sleeps over and over.
func againBySleep(due int64, call func() int64) {
	go func() {
		for next := due; next != over; next = call() {
			time.Sleep(time.Duration(next - now()))
		}
	}()
}
