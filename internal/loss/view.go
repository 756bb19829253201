// SPDX-License-Identifier: Apache-2.0

package loss

// AppendView appends a notice, which is a line of JSON, to dst as view renders
// it; as JSON if view is nil, panics, ends its goroutine, or does not append a
// line.
func AppendView(dst, line []byte, view func(dst, line []byte) []byte) []byte {
	if view == nil {
		return append(dst, line...)
	}
	before := len(dst)
	text := render(dst, line, view)
	if len(text) <= before || text[len(text)-1] != '\n' {
		return append(dst, line...)
	}
	return text
}

// render calls view on another goroutine: the caller holds locks, which it
// would not release if view called runtime.Goexit.
func render(dst, line []byte, view func(dst, line []byte) []byte) (text []byte) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		text = view(dst, line)
	}()
	<-done
	return text
}
