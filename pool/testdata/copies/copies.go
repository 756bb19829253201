// SPDX-License-Identifier: Apache-2.0

// Package copies copies values that must not be copied, once in each function.
// go vet has to report each of them.
package copies

import "github.com/nib-log/nib/pool"

type page struct{}

func (*page) Erase() error { return nil }

func ofPool(p *pool.Pool[[]byte]) {
	q := *p
	_ = q.Get
}

func ofPoolByCall(p pool.Pool[int]) { _ = p.Get }

func ofErasablePool(p *pool.ErasablePool[*page]) {
	q := *p
	_ = q.Get
}

func ofBuffers(p *pool.Buffers) {
	q := *p
	_ = q.Get
}

func ofBuffer(b *pool.Buffer) {
	c := *b
	_ = c.B
}

func notACopy(p *pool.Pool[int], b *pool.Buffer) {
	q, c := p, b
	_, _ = q, c.B
}
