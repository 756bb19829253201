// SPDX-License-Identifier: Apache-2.0

package bench

import "io"

// A Service is one way to log in the scenario with an HTTP service.
type Service struct {
	Name string
	// Start returns a function that logs the five lines of the request with
	// an id to w, the standard output.
	Start func(w io.Writer) func(id uint64)
}

// Services lists all of them: no logging at all, every peer that has a
// Service, and those that can hold lines back.
func Services() []Service {
	services := []Service{{Name: "off", Start: func(io.Writer) func(uint64) { return func(uint64) {} }}}
	for _, p := range Peers() {
		if p.Service != nil {
			services = append(services, Service{Name: p.Name, Start: p.Service})
		}
	}
	for _, p := range Peers() {
		if p.BufferedService != nil {
			services = append(services, Service{Name: p.Name + "-buffered", Start: p.BufferedService})
		}
	}
	return services
}

// Hellos lists the programs below hello that log one line: with no library at
// all, and with each peer.
func Hellos() []string {
	names := []string{"none"}
	for _, p := range Peers() {
		if p.Name != seedPeer.Name {
			names = append(names, p.Name)
		}
	}
	return names
}
