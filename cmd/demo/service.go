// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
)

// A service answers on the loopback interface.
type service struct {
	url    string
	server *http.Server
	ended  chan error
}

func startService(log *nib.Logger) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{
		url:   "http://" + l.Addr().String(),
		ended: make(chan error, 1),
		server: &http.Server{
			Handler:           nibhttp.Middleware(log)(http.HandlerFunc(answer)),
			ReadHeaderTimeout: 10 * time.Second,
			ErrorLog:          log.StdLog(nib.LevelWarn),
		},
	}
	go func() { s.ended <- s.server.Serve(l) }()
	return s, nil
}

// stop waits for the requests in flight. It is called after the clients have
// ended.
func (s *service) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		return err
	}
	if err := <-s.ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// errStock is an error that the service logs for some requests.
var errStock = errors.New("stock: connection reset by peer")

// answer handles all requests: it sends the answer of expect for the number at
// the end of the path, and logs errors.
func answer(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
	if err != nil {
		http.NotFound(w, r)
		return
	}
	want := expect(n)
	if want.logs {
		nib.FromContext(r.Context()).Error().Err(errStock).Int("item", n).Msg(serviceMessage)
	}
	w.WriteHeader(want.status)
	_, _ = io.WriteString(w, want.body) // the access line shows that the client is gone
}
