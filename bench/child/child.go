// SPDX-License-Identifier: Apache-2.0

// Package child measures in other processes: the reader of a pipe, a service
// under load, and a receiver of OTLP. The benchmark starts itself again for
// them. What fails in the benchmark's own work panics.
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
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
)

// verb is the first argument of a child.
const verb = "bench-child"

// Dispatch acts as a child and exits if the program was started as one. Call
// it first thing in main.
func Dispatch() {
	if len(os.Args) < 3 || os.Args[1] != verb {
		return
	}
	switch os.Args[2] {
	case "drain":
		drain()
	case "serve":
		serve(os.Args[3])
	case "receive":
		receive()
	}
	os.Exit(0)
}

func command(args ...string) *exec.Cmd {
	return exec.Command(measure.Must(os.Executable()), append([]string{verb}, args...)...)
}

// drain reads more at a time than a pipe holds, so that it never limits a
// writer.
func drain() {
	for buf := make([]byte, 1<<20); ; {
		if _, err := os.Stdin.Read(buf); err != nil {
			return
		}
	}
}

// A Drain is a pipe with a reader in a separate process.
type Drain struct {
	W   *os.File // the end to write to
	cmd *exec.Cmd
}

// StartDrain starts a Drain. Close ends it.
func StartDrain() *Drain {
	r, w, err := os.Pipe()
	cmd := command("drain")
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	measure.Must(cmd, errors.Join(err, cmd.Start()))
	r.Close()
	// The standard output of a service is in blocking mode. os.Pipe makes
	// non-blocking ends, to which Go writes differently. Fd switches to blocking
	// mode.
	w.Fd()
	return &Drain{W: w, cmd: cmd}
}

// Close closes the pipe and waits for the reader to end.
func (d *Drain) Close() error {
	d.W.Close()
	return d.cmd.Wait()
}

// A server is a child that writes its address to standard error, and ends when
// its standard input does.
type server struct {
	address string
	cmd     *exec.Cmd
	stdin   io.Closer
}

// start starts a server with a standard output, which may be nil.
func start(out *os.File, args ...string) *server {
	cmd := command(args...)
	if out != nil {
		cmd.Stdout = out
	}
	s := &server{cmd: cmd, stdin: measure.Must(cmd.StdinPipe())}
	stderr := bufio.NewReader(measure.Must(cmd.StderrPipe()))
	measure.Must(cmd, cmd.Start())
	s.address = strings.TrimSpace(measure.Must(stderr.ReadString('\n')))
	return s
}

func (s *server) end() error {
	s.stdin.Close()
	return s.cmd.Wait()
}

// announce writes the address of a server, and waits for its end.
func announce(address any) {
	fmt.Fprintln(os.Stderr, address)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// A Load is the result of one run of the service.
type Load struct {
	PerSecond float64       // requests
	CPU       time.Duration // user and system time of the service per request
}

// Service runs an HTTP service that logs as the named entry of bench.Services
// does, five lines a request, to a standard output that is a pipe with a
// reader, and sends it requests over conns connections. CPU counts the
// service's process alone, including its start and end.
func Service(name string, conns, requests int) (Load, error) {
	out := StartDrain()
	s := start(out.W, "serve", name)
	took, err := load(s.address, conns, requests)
	if err := errors.Join(err, s.end(), out.Close()); err != nil {
		return Load{}, fmt.Errorf("service %s: %w", name, err)
	}
	cpu := s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	return Load{float64(requests) / took.Seconds(), cpu / time.Duration(requests)}, nil
}

// body is in each answer.
var body = strings.Repeat("nib ", 64)

// serve runs the service: it writes its address to stderr, and ends when its
// standard input does.
func serve(name string) {
	all := bench.Services()
	at := slices.IndexFunc(all, func(s bench.Service) bool { return s.Name == name })
	log, end := all[at].Start(os.Stdout)
	var ids atomic.Uint64
	body := []byte(body)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		log(ids.Add(1))
		_, _ = w.Write(body)
	})}
	listener := measure.Must(net.Listen("tcp", "127.0.0.1:0"))
	go func() { _ = server.Serve(listener) }() // ends with Shutdown
	announce(listener.Addr())
	measure.Must(name, errors.Join(server.Shutdown(context.Background()), end()))
}

// load sends requests over conns connections and waits for every answer.
func load(address string, conns, requests int) (time.Duration, error) {
	errs := make([]error, conns)
	var group sync.WaitGroup
	start := time.Now()
	for i := range conns {
		group.Go(func() { errs[i] = loadOne(address, (requests+i)/conns) })
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
	line, err := r.ReadSlice('\n')
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("answer %q, %v", line, err)
	}
	for err == nil && len(line) > len("\r\n") {
		line, err = r.ReadSlice('\n')
	}
	if err == nil {
		_, err = r.Discard(len(body))
	}
	return err
}

// A Receiver counts the records that it receives over OTLP/HTTP, in a separate
// process.
type Receiver struct{ server *server }

// StartReceiver starts a Receiver. Close ends it.
func StartReceiver() *Receiver { return &Receiver{start(nil, "receive")} }

// URL returns the URL at which it receives logs.
func (r *Receiver) URL() string { return r.server.address + "/v1/logs" }

// Close ends the Receiver.
func (r *Receiver) Close() error { return r.server.end() }

// Records returns the number of records that have arrived.
func (r *Receiver) Records() (n int) {
	answer := measure.Must(http.Get(r.server.address))
	defer answer.Body.Close()
	measure.Must(fmt.Fscan(answer.Body, &n))
	return n
}

func receive() {
	var total atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprintln(w, total.Load())
			return
		}
		body := measure.Must(io.ReadAll(r.Body))
		total.Add(records(body, 1, 2, 2)) // the fields of resources, scopes and records
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer s.Close()
	announce(s.URL)
}

// records counts the messages at the end of a path of fields. It panics if
// there is no message, which ends the request without an answer.
func records(message []byte, path ...protowire.Number) (count int64) {
	if len(path) == 0 {
		return 1
	}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			panic(protowire.ParseError(size))
		}
		if number == path[0] && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[n:])
			count += records(value, path[1:]...)
		}
		message = message[n+size:]
	}
	return count
}
