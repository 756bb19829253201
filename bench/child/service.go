// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/bench"
)

// A Load is the result of one run of the service.
type Load struct {
	Requests  int
	PerSecond float64
	CPU       time.Duration // user and system time of the service per request
}

// Service runs an HTTP service that logs as the named entry of bench.Services
// does, five lines a request, to a standard output that is a pipe with a
// reader, and sends it requests over conns connections. CPU counts the
// service's process alone, including its start and end.
func Service(name string, conns, requests int) (Load, error) {
	out, err := StartDrain()
	if err != nil {
		return Load{}, err
	}
	defer out.Close()
	s, err := start(out.W, "serve", name)
	if err != nil {
		return Load{}, fmt.Errorf("service %s: %w", name, err)
	}
	took, err := load(s.address, conns, requests)
	if err := errors.Join(err, s.end()); err != nil {
		return Load{}, fmt.Errorf("service %s: %w", name, err)
	}
	cpu := s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	return Load{Requests: requests, PerSecond: float64(requests) / took.Seconds(), CPU: cpu / time.Duration(requests)}, nil
}

// serve runs the service: it writes its address to stderr, and ends when its
// standard input does.
func serve(name string) error {
	handler, end, err := handlerFor(name)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, end())
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }() // ends with Shutdown
	fmt.Fprintln(os.Stderr, listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errors.Join(server.Shutdown(context.Background()), end())
}

func handlerFor(name string) (h http.Handler, end func() error, err error) {
	for _, s := range bench.Services() {
		if s.Name != name {
			continue
		}
		log, end, err := s.Start(os.Stdout)
		if err != nil {
			return nil, nil, err
		}
		body := bytes.Repeat([]byte("nib "), 64)
		var ids atomic.Uint64
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			log(ids.Add(1))
			_, _ = w.Write(body)
		}), end, nil
	}
	return nil, nil, fmt.Errorf("unknown service %q", name)
}

// load sends requests over conns connections and waits for every answer.
func load(address string, conns, requests int) (time.Duration, error) {
	errs := make([]error, conns)
	var group sync.WaitGroup
	start := time.Now()
	for i := range conns {
		group.Add(1)
		go func() {
			defer group.Done()
			errs[i] = loadOne(address, (requests+i)/conns)
		}()
	}
	group.Wait()
	return time.Since(start), errors.Join(errs...)
}

// loadOne implements a minimum of HTTP, so that the client takes little
// processor time from the service, which runs on the same machine.
func loadOne(address string, requests int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	request := []byte("GET /v1/accounts/7361/orders HTTP/1.1\r\nHost: bench\r\n\r\n")
	r := bufio.NewReader(conn)
	for range requests {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if err := readAnswer(r); err != nil {
			return err
		}
	}
	return nil
}

func readAnswer(r *bufio.Reader) error {
	length, first := 0, true
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
			return fmt.Errorf("answer %q", line)
		}
		first = false
		if len(line) == 0 {
			break
		}
		if text, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(text)); err != nil {
				return err
			}
		}
	}
	_, err := r.Discard(length)
	return err
}
