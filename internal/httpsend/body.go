// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"io"
	"slices"
	"sync"
)

// A requestBody is a body that can be detached from the transport, which may
// read it after a request has failed.
type requestBody struct {
	mu   sync.Mutex
	data []byte
	at   int
	gone bool
	more []*requestBody // copies that the transport has requested
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone:
		return 0, io.ErrClosedPipe
	case b.at == len(b.data):
		return 0, io.EOF
	}
	n := copy(p, b.data[b.at:])
	b.at += n
	return n, nil
}

func (b *requestBody) Close() error { return nil }

// again returns the same body, from the beginning.
func (b *requestBody) again() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return nil, io.ErrClosedPipe
	}
	other := &requestBody{data: b.data}
	b.more = append(b.more, other)
	return other, nil
}

// begun reports whether any of the body was read.
func (b *requestBody) begun() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at > 0 || slices.ContainsFunc(b.more, (*requestBody).begun)
}

// detach ends all reading.
func (b *requestBody) detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone, b.data = true, nil
	for _, other := range b.more {
		other.detach()
	}
}
