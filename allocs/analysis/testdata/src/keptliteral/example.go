// SPDX-License-Identifier: Apache-2.0

package keptliteral

type server struct {
	done func()
	n    int
}

//alloc:none
func (s *server) begin(id int) {
	s.done = func() { s.n -= id } // want `the function literal is kept in s.done: it is an object with s on each call`
}

// The object has the data of the function, which is made once.
type keptServer struct {
	id, n int
}

//alloc:none
func (s *keptServer) begin(id int) { s.id = id }

func (s *keptServer) done() { s.n -= s.id }
