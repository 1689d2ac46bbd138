package main

import (
	"fmt"
	"time"
)

const stateMachines = "003_79027425952605e6.txt"

func selectClaims() []claim {
	return ofText(stateMachines, "go-channel", []claim{
		{says: "(go (>! c :foo) (prn ...)), and no one ever takes from c", see: plainly(neverRuns)},
		{says: "the same, and there is room in a buffer", see: withRoom},
		{says: "(alts! [c1 c2]) in a go block, and a value comes to c2", see: plainly(readFrom)},
		{says: "(alts! [c1 c2]), both with a value", see: plainly(oneOfBoth)},
		{says: "(alts! [c1 c2]), both with values, 64 times", see: plainly(chosen)},
		{says: `(alts! [c1 [c3 "foo"]]), c1 empty`, see: plainly(puts)},
		{says: "(alts! [c1 c2] :default ...), and c2 has a value", see: plainly(able)},
		{says: "(alts! [c1 c2] :default ...), and none is ready", see: noneReady},
		{says: "values come to c1 and c2 after the default was returned", see: plainly(inactive)},
		{says: "a value comes to c2 after c1 has answered an alts that waited", see: plainly(afterAnAnswer)},
	})
}

func full(value int) chan int {
	c := make(chan int, 1)
	c <- value
	return c
}

func neverRuns() string {
	c, ran := make(chan string), make(chan struct{})
	go func() {
		c <- "foo"
		close(ran)
	}()
	select {
	case <-ran:
		return "it runs"
	case <-time.After(time.Second):
		return "it never runs"
	}
}

func withRoom() (string, string) {
	c, ran := make(chan string, 1), make(chan struct{})
	began := now()
	go func() {
		c <- "foo"
		close(ran)
	}()
	<-ran
	return fmt.Sprintf("it runs after %d ms", halves(began)), figure(now() - began)
}

func readFrom() string {
	c1, c2, read := make(chan int), make(chan int), make(chan string)
	go func() {
		select {
		case v := <-c1:
			read <- fmt.Sprintf("Read %d from c1", v)
		case v := <-c2:
			read <- fmt.Sprintf("Read %d from c2", v)
		}
	}()
	c2 <- 7
	return <-read
}

func oneOfBoth() string {
	c1, c2 := full(1), full(2)
	select {
	case <-c1:
	case <-c2:
	}
	return fmt.Sprintf("1 taken, %d left", len(c1)+len(c2))
}

func chosen() string {
	c1, c2 := full(1), full(2)
	var first, second bool
	for left := 64; left > 0; left-- {
		select {
		case v := <-c1:
			first = true
			c1 <- v
		case v := <-c2:
			second = true
			c2 <- v
		}
	}
	switch {
	case first && second:
		return "c1 and c2"
	case first:
		return "c1 64 times"
	}
	return "c2 64 times"
}

func puts() string {
	c1, c3 := make(chan string), make(chan string, 1)
	select {
	case <-c1:
	case c3 <- "foo":
	}
	return fmt.Sprintf("c3 has %q", <-c3)
}

func able() string {
	c1, c2 := make(chan int), full(7)
	select {
	case v := <-c1:
		return fmt.Sprintf("%d from c1", v)
	case v := <-c2:
		return fmt.Sprintf("%d from c2", v)
	default:
		return "the default"
	}
}

func noneReady() (string, string) {
	began := now()
	select {
	case <-make(chan int):
		return "a value", ""
	case <-make(chan int):
		return "a value", ""
	default:
		return fmt.Sprintf("the default after %d ms", halves(began)), figure(now() - began)
	}
}

func inactive() string {
	c1, c2 := make(chan int, 1), make(chan int, 1)
	select {
	case <-c1:
	case <-c2:
	default:
	}
	c1 <- 1
	c2 <- 2
	if len(c1)+len(c2) < 2 {
		return "one is taken"
	}
	return "both are there"
}

func afterAnAnswer() string {
	c1, c2, answered := make(chan int, 1), make(chan int, 1), make(chan struct{})
	go func() {
		select {
		case <-c1:
		case <-c2:
		}
		close(answered)
	}()
	// Until it waits; whether it did is no matter to what is said of c2.
	time.Sleep(100 * time.Millisecond)
	c1 <- 1
	<-answered
	c2 <- 2
	if len(c2) == 0 {
		return "it is taken"
	}
	return "it is there"
}
