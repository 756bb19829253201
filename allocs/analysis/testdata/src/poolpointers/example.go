// SPDX-License-Identifier: Apache-2.0

package poolpointers

import (
	"net/http"
	"sync"
)

type request struct {
	http *http.Request
	buf  []byte
}

var requests = sync.Pool{New: func() any { return new(request) }}

func serve(r *http.Request) {
	x := requests.Get().(*request)
	x.http = r
	x.buf = append(x.buf[:0], r.URL.Path...)
	requests.Put(x) // want `x goes to the pool with its pointers: clear http`
}

func serveCleared(r *http.Request) {
	x := requests.Get().(*request)
	x.http = r
	x.buf = append(x.buf[:0], r.URL.Path...)
	x.http = nil
	requests.Put(x)
}
