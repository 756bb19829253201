// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"io"
	"sync"
)

// A requestBody is a body, not empty, that can be detached from the transport,
// which may read it again, and after a request has failed.
type requestBody struct {
	mu    sync.Mutex
	data  []byte // nil after detach
	begun bool   // a part was read
}

// reader returns a reader from the beginning.
func (b *requestBody) reader() (io.ReadCloser, error) {
	return io.NopCloser(&bodyReader{body: b}), nil
}

// hasBegun reports whether any of the body was read.
func (b *requestBody) hasBegun() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun
}

// detach ends all reading.
func (b *requestBody) detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = nil
}

// A bodyReader reads a requestBody.
type bodyReader struct {
	body *requestBody
	at   int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.data == nil:
		return 0, io.ErrClosedPipe
	case r.at == len(b.data):
		return 0, io.EOF
	}
	n := copy(p, b.data[r.at:])
	r.at += n
	b.begun = true
	return n, nil
}
