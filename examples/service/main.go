// SPDX-License-Identifier: Apache-2.0

// Command service is an HTTP service as it would run in production:
// human-readable lines on a terminal, otherwise JSON on standard output; one
// access line per request; a level that can be changed while it runs; graceful
// shutdown.
//
//	go run ./service
//	curl http://127.0.0.1:8080/hello/ada
//	curl -X PUT -d debug http://127.0.0.1:8081/level
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/sink/console"
	"github.com/nib-log/nib/sink/stdout"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address of the service")
	adminAddr := flag.String("admin", "127.0.0.1:8081",
		"address of level and metrics: not for the public")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	var level nib.LevelVar
	s, closeSink := newSink()
	log := nib.NewSink(s, nib.WithLevel(&level))
	err := serve(ctx, log, &level, *addr, *adminAddr)
	if err != nil {
		log.Error().Err(err).Msg("service failed")
	}
	if closeErr := closeSink(); closeErr != nil {
		fmt.Fprintln(os.Stderr, closeErr)
	}
	if err != nil {
		os.Exit(1)
	}
}

// newSink writes lines for people if standard error is a terminal, and JSON to
// standard output otherwise.
func newSink() (s nib.Sink, closeSink func() error) {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return console.New(os.Stderr, console.Config{}), func() error { return nil }
	}
	out := stdout.New(stdout.Config{})
	return out, out.Close
}

// serve listens and runs until ctx ends.
func serve(
	ctx context.Context, log *nib.Logger, level *nib.LevelVar, addr, adminAddr string,
) error {
	public, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	private, err := net.Listen("tcp", adminAddr)
	if err != nil {
		_ = public.Close()
		return err
	}
	log.Info().Stringer("addr", public.Addr()).Stringer("admin", private.Addr()).Msg("listening")
	return run(ctx, log, map[net.Listener]http.Handler{
		public:  nibhttp.Middleware(log)(routes()),
		private: admin(log, level),
	})
}

// run serves each handler on its listener until ctx ends or one of them fails,
// then waits for the requests under way.
func run(ctx context.Context, log *nib.Logger, handlers map[net.Listener]http.Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	servers := make([]*http.Server, 0, len(handlers))
	for l, h := range handlers {
		srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second,
			ErrorLog: log.StdLog(nib.LevelWarn)}
		servers = append(servers, srv)
		go func() { cancel(srv.Serve(l)) }()
	}
	<-ctx.Done()
	grace, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	var errs []error
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		errs = append(errs, err)
	}
	for _, srv := range servers {
		errs = append(errs, srv.Shutdown(grace))
	}
	log.Info().Msg("stopped")
	return errors.Join(append(errs, log.Flush(grace))...)
}

// routes returns the handler of the service.
func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello/{name}", func(w http.ResponseWriter, r *http.Request) {
		log := nib.FromContext(r.Context()) // lines of log have the id of the request
		log.Debug().Str("name", r.PathValue("name")).Msg("greeting")
		fmt.Fprintf(w, "hello, %s\n", r.PathValue("name"))
	})
	return mux
}

// admin changes the level and shows the counters.
func admin(log *nib.Logger, level *nib.LevelVar) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/level", nibhttp.LevelHandler(level))
	mux.Handle("GET /metrics", nibhttp.MetricsHandler(log))
	return mux
}
