// SPDX-License-Identifier: Apache-2.0

// Package view shows a log file in a browser: a page on loopback, and the
// server that sends it lines, counts and changes.
package view

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/nib-log/nib/internal/logread"
)

//go:embed page/dist
var embedded embed.FS

// A Server shows one file.
type Server struct {
	path   string
	keys   logread.Keys
	report reportFunc
	name   string
	token  string
	pages  http.Handler
	files  fs.FS

	mu      sync.Mutex
	current *session
	changed chan struct{} // closed when there is another session
	streams chan struct{} // has an element for each stream that is open
}

// maxStreams is the number of pages that are served at a time.
const maxStreams = 32

// Open opens a file, which the page shows under a name. Its lines may have keys
// of their own. Run follows the file. What may be lost in a rotation is
// reported unless report is nil.
func Open(path, name string, keys logread.Keys, report reportFunc) (*Server, error) {
	doc, err := openDocument(path, keys, report)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(embedded, "page/dist")
	if err != nil {
		return nil, errors.Join(err, doc.Close())
	}
	s := &Server{
		path: path, keys: keys, report: report, name: visible([]byte(name)), token: rand.Text(),
		files: files, changed: make(chan struct{}), streams: make(chan struct{}, maxStreams),
	}
	s.pages = s.routes()
	s.current = newSession(context.Background(), 1, doc)
	return s, nil
}

// Run serves the page on a listener until ctx ends. It closes both.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(l) }()
	go func() { failed <- s.follow(ctx) }()
	err := <-failed
	stop()
	err = errors.Join(err, server.Close(), <-failed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err = errors.Join(err, s.current.close()); errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close closes a server that does not run.
func (s *Server) Close() error { return s.current.close() }

// follow follows the file, and starts again when the document has to be opened
// again.
func (s *Server) follow(ctx context.Context) error {
	for n := 2; ; n++ {
		now, _ := s.session()
		err := now.doc.follow(ctx)
		switch {
		case errors.Is(err, errTruncated):
			now.why = "The file was truncated."
		case errors.Is(err, errRotated):
			now.why = "The file was rotated many times."
		default:
			return err
		}
		doc := s.reopen(ctx)
		if doc == nil {
			return nil
		}
		s.mu.Lock()
		s.current = newSession(context.Background(), n, doc)
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err := now.close(); err != nil {
			return err
		}
	}
}

// reopen opens the file again. It waits while there is no file, and returns nil
// when ctx has ended.
func (s *Server) reopen(ctx context.Context) *document {
	for {
		if doc, err := openDocument(s.path, s.keys, s.report); err == nil {
			return doc
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollDelay):
		}
	}
}

// session returns the current session, and a channel that is closed when there
// is another one.
func (s *Server) session() (*session, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, s.changed
}

// index returns the index of a selection in the current session, and a channel
// that is closed when there is another session.
func (s *Server) index(c selection, stream bool) (*session, *held, <-chan struct{}, error) {
	for {
		now, other := s.session()
		h, err := now.index(c, stream)
		if errors.Is(err, errEnded) {
			select {
			case <-other:
				continue // the request has ended since
			default:
			}
		}
		return now, h, other, err
	}
}

// URL returns the address of the page on a listener.
func (s *Server) URL(l net.Listener) string {
	return fmt.Sprintf("http://%s/%s/", l.Addr(), s.token)
}

// policy allows the page to load from its own server only, and no scripts or
// styles in the page itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html"

// ServeHTTP refuses requests that do not come from the page: other programs
// that connect to loopback do not have the token, and a foreign page whose name
// resolves to loopback sends that name as the host.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Cache-Control":                "no-store",
		"Content-Security-Policy":      policy,
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "no-referrer",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
	} {
		w.Header().Set(name, value)
	}
	token, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case !isLoopback(r.Host) || !isOwnOrigin(r):
		http.Error(w, "This page is served to 127.0.0.1 and localhost only.", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "Only GET is served.", http.StatusMethodNotAllowed)
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 || !ok:
		http.Error(w, "The address has no valid token. Open the one that nib view has printed.",
			http.StatusForbidden)
	default:
		r.URL.Path = "/" + rest
		s.pages.ServeHTTP(w, r)
	}
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == "[::1]"
}

func isOwnOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return (origin == "" || origin == "http://"+r.Host) &&
		r.Header.Get("Sec-Fetch-Site") != "cross-site"
}

func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/api/rows", s.answer(getRows))
	m.HandleFunc("/api/line", s.answer(getLine))
	m.HandleFunc("/api/find", s.answer(getError))
	m.HandleFunc("/api/row", s.answer(getRow))
	m.HandleFunc("/api/compare", s.answer(getComparison))
	m.HandleFunc("/api/stream", s.stream)
	m.HandleFunc("/", s.file)
	return m
}

// mediaTypes replaces the media types of the system, which may be different.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	text, err := fs.ReadFile(s.files, name)
	kind, ok := mediaTypes[path.Ext(name)]
	if err != nil || !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the browser has gone
}
