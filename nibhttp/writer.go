// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// A writer counts the bytes written to a ResponseWriter. As with any
// ResponseWriter, it is used by one goroutine at a time.
//
// The types below add the abilities that the wrapped writer has too: a handler
// finds the same ones by type assertion as without the middleware. Each holds
// one pointer and so costs no malloc.
type writer struct {
	http.ResponseWriter
	status   int // 0 until the header is written
	ignored  int // a status that was set after the header was written
	bytes    int64
	hijacked bool
	switches bool // status 101 ends the response, as in HTTP/1
}

type (
	timeoutWriter      struct{ *writer }      // http.TimeoutHandler
	flushWriter        struct{ *writer }      // httptest.ResponseRecorder
	pushWriter         struct{ flushWriter }  // HTTP/2
	notifyPushWriter   struct{ pushWriter }   // HTTP/2
	hijackWriter       struct{ flushWriter }  // HTTP/1
	notifyHijackWriter struct{ hijackWriter } // HTTP/1
)

// A closeNotifier is a [net/http.CloseNotifier]. That is deprecated, but gin
// calls it in Context.Stream, and panics if the writer is none.
type closeNotifier interface{ CloseNotify() <-chan bool }

// abilities returns w with the abilities of the wrapped writer. It supports the
// combinations that exist in net/http; others lose abilities, except those that
// http.ResponseController finds with Unwrap. A Hijacker that is only found this
// way is one here, because it would otherwise be used without notice.
func (w *writer) abilities() http.ResponseWriter {
	f := flushWriter{w}
	if canHijack(w.ResponseWriter) {
		if w.notifies() {
			return notifyHijackWriter{hijackWriter{f}}
		}
		return hijackWriter{f}
	}
	_, flushes := w.ResponseWriter.(http.Flusher)
	_, pushes := w.ResponseWriter.(http.Pusher)
	switch {
	case flushes && pushes && w.notifies():
		return notifyPushWriter{pushWriter{f}}
	case flushes && pushes:
		return pushWriter{f}
	case flushes:
		return f
	case pushes:
		return timeoutWriter{w}
	}
	return w
}

// notifies reports whether the wrapped writer is a closeNotifier.
func (w *writer) notifies() bool {
	_, ok := w.ResponseWriter.(closeNotifier)
	return ok
}

// canHijack reports whether http.ResponseController can hijack w.
func canHijack(w http.ResponseWriter) bool {
	for {
		if _, ok := w.(http.Hijacker); ok {
			return true
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = u.Unwrap()
	}
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter. An informational status, such as
// 101 in HTTP/2, is sent and is not the status of the response. A status that
// is set too late is recorded for the access line; the server would only log it
// with the name of this function.
func (w *writer) WriteHeader(status int) {
	if w.status != 0 && !w.hijacked {
		w.ignored = status
		return
	}
	w.ResponseWriter.WriteHeader(status) // panics if there is no such status
	if !w.hijacked && (status >= 200 || w.switches && status == http.StatusSwitchingProtocols) {
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

// FlushError is for http.ResponseController. A flush sends the header.
func (w *writer) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		w.headerSent()
	}
	return err
}

// Flush implements http.Flusher.
func (w flushWriter) Flush() { _ = w.FlushError() }

// Push implements http.Pusher.
func (w pushWriter) Push(target string, opts *http.PushOptions) error {
	return w.push(target, opts)
}

// Push implements http.Pusher.
func (w timeoutWriter) Push(target string, opts *http.PushOptions) error {
	return w.push(target, opts)
}

func (w *writer) push(target string, opts *http.PushOptions) error {
	return w.ResponseWriter.(http.Pusher).Push(target, opts)
}

// CloseNotify implements http.CloseNotifier.
func (w notifyPushWriter) CloseNotify() <-chan bool { return w.closeNotify() }

// CloseNotify implements http.CloseNotifier.
func (w notifyHijackWriter) CloseNotify() <-chan bool { return w.closeNotify() }

func (w *writer) closeNotify() <-chan bool { return w.ResponseWriter.(closeNotifier).CloseNotify() }

// Hijack implements http.Hijacker.
func (w hijackWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.hijacked = true
	}
	return conn, rw, err
}

// ReadFrom implements io.ReaderFrom, so that io.Copy of a file or connection to
// an HTTP/1 connection stays one system call. Other sources are read in parts:
// if they panic, the parts before are counted.
func (w hijackWriter) ReadFrom(r io.Reader) (int64, error) {
	to, ok := w.ResponseWriter.(io.ReaderFrom)
	if !ok || !inKernel(r) {
		buf := copyBuffers.Get().(*[copySize]byte)
		n, err := io.CopyBuffer(w.writer, r, buf[:]) // *writer has no ReadFrom
		copyBuffers.Put(buf)                         // not after a panic: r may still use it
		return n, err
	}
	n, err := to.ReadFrom(r)
	if n > 0 || errors.Is(err, http.ErrContentLength) { // the first part was too long
		w.headerSent()
	}
	w.bytes += n
	return n, err
}

// inKernel reports whether the system can copy from r without the program: a
// file or connection, or the types in which their WriteTo, and so io.Copy,
// wraps them.
func inKernel(r io.Reader) bool {
	if l, ok := r.(*io.LimitedReader); ok {
		r = l.R
	}
	_, ok := r.(syscall.Conn)
	return ok
}

// copyBuffers are for copies to responses, for which net/http keeps buffers of
// this size, too.
var copyBuffers = sync.Pool{New: func() any { return new([copySize]byte) }}

const copySize = 32 << 10
