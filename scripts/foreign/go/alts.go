package main

// Select of two and of eight, as one writes it, and of 32 and 128, as a program writes it (alts_wide.go): the cases stand
// in the source. After each the goroutine puts back what it took, or takes what it put, so that the next finds the same
// state; that operation is part of the turn, and so is the draw of the port that has the value, where one has.

type ports []chan uint64

func newPorts(width, capacity, filled int) ports {
	all := make(ports, width)
	for port := range all {
		all[port] = make(chan uint64, capacity)
		if port < filled {
			all[port] <- uint64(port)
		}
	}
	return all
}

func altsStage(params params) stage {
	if params.Kind == "one-hot" {
		if taken := takenOf(params.Width); taken != nil {
			return oneHotStage(newPorts(params.Width, params.Capacity, 0), taken)
		}
		return nil
	}
	var turn func(ports) error
	filled := 0
	switch {
	case params.Kind == "all-ready" && params.Width == 2:
		turn, filled = allReadyOfTwo, 2
	case params.Kind == "all-ready" && params.Width == 8:
		turn, filled = allReadyOfEight, 8
	case params.Kind == "none-ready" && params.Width == 2:
		turn = noneReadyOfTwo
	case params.Kind == "none-ready" && params.Width == 8:
		turn = noneReadyOfEight
	case params.Kind == "mixed" && params.Width == 2:
		turn, filled = mixed, 1
	default:
		return nil
	}
	all := newPorts(params.Width, params.Capacity, filled)
	return &solo{batch: func(turns int) error {
		for ; turns > 0; turns-- {
			if err := turn(all); err != nil {
				return err
			}
		}
		return nil
	}}
}

// takenOfTwo waits for one of two ports.
func takenOfTwo(p ports) (int, uint64) {
	select {
	case value := <-p[0]:
		return 0, value
	case value := <-p[1]:
		return 1, value
	}
}

func takenOfEight(p ports) (int, uint64) {
	select {
	case value := <-p[0]:
		return 0, value
	case value := <-p[1]:
		return 1, value
	case value := <-p[2]:
		return 2, value
	case value := <-p[3]:
		return 3, value
	case value := <-p[4]:
		return 4, value
	case value := <-p[5]:
		return 5, value
	case value := <-p[6]:
		return 6, value
	case value := <-p[7]:
		return 7, value
	}
}

// takenOf is the select of so many ports, where one is written.
func takenOf(width int) func(ports) (int, uint64) {
	switch width {
	case 2:
		return takenOfTwo
	case 8:
		return takenOfEight
	case 32:
		return takenOf32
	case 128:
		return takenOf128
	default:
		return nil
	}
}

// oneHotStage has one value at a time, at a port drawn anew each time.
func oneHotStage(all ports, taken func(ports) (int, uint64)) stage {
	random, next := draws(1), uint64(0)
	return &solo{batch: func(turns int) error {
		for ; turns > 0; turns-- {
			hot := random.below(len(all))
			all[hot] <- next
			port, value := taken(all)
			if err := expected(port, value, hot, next); err != nil {
				return err
			}
			next++
		}
		return nil
	}}
}

// draws is Marsaglia's xorshift: it costs what the other languages' draws do, and math/rand's three times as much.
type draws uint64

func (d *draws) below(n int) int {
	*d ^= *d << 13
	*d ^= *d >> 7
	*d ^= *d << 17
	return int(uint64(*d) >> 32 * uint64(n) >> 32)
}

func expected(port int, value uint64, hot int, put uint64) error {
	if port != hot || value != put {
		return miscounted("select took %d from port %d where %d was in port %d", value, port, put, hot)
	}
	return nil
}

func allReadyOfTwo(p ports) error {
	port, value := takenOfTwo(p)
	return putBack(p, port, value)
}

func allReadyOfEight(p ports) error {
	port, value := takenOfEight(p)
	return putBack(p, port, value)
}

// putBack returns a value, which is the number of the port that it belongs to.
func putBack(p ports, port int, value uint64) error {
	if value != uint64(port) {
		return miscounted("select took %d from port %d", value, port)
	}
	p[port] <- value
	return nil
}

func noneReadyOfTwo(p ports) error {
	select {
	case value := <-p[0]:
		return invented(value)
	case value := <-p[1]:
		return invented(value)
	default:
		return nil
	}
}

func noneReadyOfEight(p ports) error {
	select {
	case value := <-p[0]:
		return invented(value)
	case value := <-p[1]:
		return invented(value)
	case value := <-p[2]:
		return invented(value)
	case value := <-p[3]:
		return invented(value)
	case value := <-p[4]:
		return invented(value)
	case value := <-p[5]:
		return invented(value)
	case value := <-p[6]:
		return invented(value)
	case value := <-p[7]:
		return invented(value)
	default:
		return nil
	}
}

func invented(value uint64) error {
	return miscounted("select took %d, which was never put", value)
}

// mixed can take from the first port, or put into the second.
func mixed(p ports) error {
	select {
	case value := <-p[0]:
		return putBack(p, 0, value)
	case p[1] <- 1:
		if came := <-p[1]; came != 1 {
			return miscounted("1 was put and %d was taken", came)
		}
		return nil
	}
}
