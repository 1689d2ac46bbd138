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
