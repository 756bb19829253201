// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// A writer counts what is written to a ResponseWriter. As with any
// ResponseWriter, it is used by one goroutine at a time.
//
// The types below add the abilities that the wrapped writer has too: a handler
// that looks for one by type assertion finds what it would find without the
// middleware. Each holds one pointer and so costs no malloc.
type writer struct {
	http.ResponseWriter
	status   int // 0 until the header is written
	ignored  int // a status that was set after that
	bytes    int64
	hijacked bool
}

type (
	flushWriter  struct{ *writer }     // httptest.ResponseRecorder
	pushWriter   struct{ flushWriter } // HTTP/2
	hijackWriter struct{ flushWriter } // HTTP/1
)

// abilities returns w with the abilities of what it wraps. It supports the
// combinations that exist in net/http; others lose abilities, except those that
// http.ResponseController finds with Unwrap.
func (w *writer) abilities() http.ResponseWriter {
	f := flushWriter{w}
	switch w.ResponseWriter.(type) {
	case interface {
		http.Flusher
		http.Hijacker
	}:
		return hijackWriter{f}
	case interface {
		http.Flusher
		http.Pusher
	}:
		return pushWriter{f}
	case http.Flusher:
		return f
	}
	return w
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter. An informational status (except
// 101) is sent and is not that of the response. A status that comes too late is
// recorded for the access line; the server would only log it with the name of
// this function.
func (w *writer) WriteHeader(status int) {
	if w.status != 0 && !w.hijacked {
		w.ignored = status
		return
	}
	w.ResponseWriter.WriteHeader(status) // panics if there is no such status
	if !w.hijacked && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	w.headerSent()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// WriteString implements io.StringWriter.
func (w *writer) WriteString(s string) (int, error) {
	w.headerSent()
	n, err := io.WriteString(w.ResponseWriter, s)
	w.bytes += int64(n)
	return n, err
}

// headerSent records that the wrapped writer sends the header now, unless it
// was sent before.
func (w *writer) headerSent() {
	if w.status == 0 && !w.hijacked {
		w.status = http.StatusOK
	}
}

// Flush implements http.Flusher.
func (w flushWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController.
func (w flushWriter) FlushError() error {
	w.headerSent()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Push implements http.Pusher.
func (w pushWriter) Push(target string, opts *http.PushOptions) error {
	return w.ResponseWriter.(http.Pusher).Push(target, opts)
}

// Hijack implements http.Hijacker.
func (w hijackWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.hijacked = true
	}
	return conn, rw, err
}

// ReadFrom implements io.ReaderFrom, so that io.Copy of a file to an HTTP/1
// connection stays one system call.
func (w hijackWriter) ReadFrom(r io.Reader) (int64, error) {
	to, ok := w.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return io.Copy(justWriter{w.writer}, r)
	}
	n, err := to.ReadFrom(r)
	if n > 0 {
		w.headerSent()
	}
	w.bytes += n
	return n, err
}

// A justWriter hides ReadFrom from io.Copy.
type justWriter struct{ io.Writer }
