package main

import "reflect"

// Select of as many as there are, by reflect.Select: what a program has whose channels are known only while it runs, as
// those of an alts are. Its cases are made once, as an alts is prepared.

func reflectedStage(params params) stage {
	width := params.Width
	takes, filled := width, 0
	switch params.Kind {
	case "all-ready":
		filled = width
	case "mixed":
		takes = (width + 1) / 2
		filled = takes
	}
	all := newPorts(width, params.Capacity, filled)
	cases := make([]reflect.SelectCase, width)
	for port := range cases {
		cases[port] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(all[port])}
		if port >= takes {
			cases[port].Dir, cases[port].Send = reflect.SelectSend, reflect.ValueOf(uint64(port))
		}
	}
	if params.Kind == "one-hot" {
		return oneHotStage(all, func(ports) (int, uint64) {
			port, value, _ := reflect.Select(cases)
			return port, value.Uint()
		})
	}
	var turn func() error
	switch params.Kind {
	case "all-ready":
		turn = func() error {
			port, value, _ := reflect.Select(cases)
			return putBack(all, port, value.Uint())
		}
	case "none-ready":
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectDefault})
		turn = func() error {
			if port, value, _ := reflect.Select(cases); port != width {
				return invented(value.Uint())
			}
			return nil
		}
	case "mixed":
		turn = func() error {
			port, value, _ := reflect.Select(cases)
			if port < takes {
				return putBack(all, port, value.Uint())
			}
			if came := <-all[port]; came != uint64(port) {
				return miscounted("%d was put and %d was taken", port, came)
			}
			return nil
		}
	default:
		return nil
	}
	return &solo{batch: func(turns int) error {
		for ; turns > 0; turns-- {
			if err := turn(); err != nil {
				return err
			}
		}
		return nil
	}}
}
