package devstack

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"strconv"

	"revarch/fault"
)

// Ports are drawn from below the range that the kernel hands out for outgoing connections (32768 and up by default): a
// port from that range could be somebody's outgoing connection while our server restarts.
const lowestPort, highestPort = 10000, 32000

// FreePorts returns n different TCP ports that were free on 127.0.0.1 a moment ago. Another process may take one before
// it is used, so whoever starts a server on one must be ready to try another.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	held := make([]net.Listener, 0, n)
	defer func() {
		for _, l := range held {
			_ = l.Close() // it only kept the port from being drawn twice
		}
	}()
	var lastErr error
	for range 100 * (n + 1) {
		if len(ports) == n {
			return ports, nil
		}
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // a port is no secret
		l, err := listen(port)
		if err != nil {
			lastErr = err
			continue
		}
		held, ports = append(held, l), append(ports, port)
	}
	return nil, fault.Wrap(lastErr, fault.Unavailable, "no free TCP ports between %d and %d on 127.0.0.1", lowestPort, highestPort)
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

func portFree(port int) bool {
	l, err := listen(port)
	return err == nil && l.Close() == nil
}

// needFree refuses to start a server whose port somebody else listens on: the other would answer in its place.
func needFree(ports map[string]int) error {
	for name, port := range ports {
		if !portFree(port) {
			return fmt.Errorf("port %d for %s is taken", port, name)
		}
	}
	return nil
}

// state is what a later start should know: run/state.json.
type state struct {
	Ports map[string]int `json:"ports"`
}

// Ports returns one port for each name: the one it had in this data folder before if that is free, else a new one, which
// is remembered. It must not be called for the name of a running server.
func (s *Supervisor) Ports(names ...string) (map[string]int, error) {
	return s.choosePorts(true, names)
}

// Port is Ports for one name.
func (s *Supervisor) Port(name string) (int, error) {
	ports, err := s.Ports(name)
	return ports[name], err
}

// choosePorts draws new ports for all names unless the known ones may be reused.
func (s *Supervisor) choosePorts(reuse bool, names []string) (map[string]int, error) {
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	var st state
	file := s.data.join("run", "state.json")
	if err := readJSON(file, &st); err != nil {
		s.log.Warn("port file is unreadable, choosing new ports", "error", err)
		st = state{}
	}
	chosen, taken := map[string]int{}, map[int]bool{}
	for _, name := range names {
		if p := st.Ports[name]; reuse && p > 0 && !taken[p] && portFree(p) {
			chosen[name], taken[p] = p, true
		}
	}
	fresh, err := FreePorts(len(names) - len(chosen))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, ok := chosen[name]; !ok && len(fresh) > 0 {
			chosen[name], fresh = fresh[0], fresh[1:]
		}
	}
	if st.Ports == nil {
		st.Ports = map[string]int{}
	}
	maps.Copy(st.Ports, chosen)
	if err := writeJSON(file, st); err != nil {
		return nil, fmt.Errorf("remember ports: %w", err)
	}
	return chosen, nil
}

// startOnPorts calls start with ports for names, and again with others when it fails while one of them turns out to be
// taken: between choosing a port and listening on it, another process can be faster.
func (s *Supervisor) startOnPorts(names []string, start func(map[string]int) error) error {
	var errs []error
	for attempt := range 5 {
		ports, err := s.choosePorts(attempt == 0, names)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		if err = start(ports); err == nil {
			return nil
		}
		errs = append(errs, err)
		clash := false
		for _, p := range ports {
			clash = clash || !portFree(p)
		}
		if !clash {
			return err
		}
	}
	return errors.Join(errs...)
}
