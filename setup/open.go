// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/spool"
)

// A Log is the logger of a process, with the outputs that Open has opened for
// it. Its methods are safe for concurrent use. Pass the Logger to other code,
// not the Log.
type Log struct {
	*nib.Logger

	outputs []*output
	timeout time.Duration
	signals signals
	monitor *exec.Cmd   // nil without Config.Crash
	restore func()      // restores the package-level functions
	takes   bool        // this Log handles the end of the process
	report  func(error) // takes errors of the end; in tests, not standard error

	ended    sync.Once
	err      error // result of the end
	released sync.Once
}

// An output is an open sink and its operations.
type output struct {
	name   string
	sink   nib.Sink                    // the sink that lines are written to
	flush  func(context.Context) error // nil if nothing is held back
	close  func() error                // nil if the sink has another owner
	reopen func() error                // nil if the output is not a file

	holdsBack bool     // flush may have something to do
	made      []string // the files and directories that opening it has made
}

// errOpen is the error of Open while another Log handles the end of the
// process: each would end it before the other has flushed.
var errOpen = errors.New("nib/setup: another Log handles the end of the process: " +
	"close it first, or switch off Signals, Reopen and Crash in one of them")

// Open merges the configurations of sources as [Read] does, opens the outputs
// and returns the logger. It starts goroutines and processes only if the
// configuration requires them; [Log.Close] ends them. The error joins the
// mistakes of an invalid configuration, or the errors of all outputs that could
// not be opened. After an error nothing is left open, and nothing has changed.
func Open(sources ...ConfigSource) (*Log, error) {
	c, err := Read(sources...)
	if err != nil {
		return nil, err
	}
	return open(c)
}

func open(c Config) (*Log, error) {
	c = c.withDefaults()
	outputs, err := openOutputs(&c)
	if err != nil {
		closeUnused(outputs)
		return nil, err
	}
	l := &Log{outputs: outputs, timeout: c.Timeout, restore: func() {}, report: writeError}
	if err := l.takeProcess(&c); err != nil {
		closeUnused(outputs)
		return nil, err
	}
	l.Logger = newLogger(&c, outputs)
	if c.Default == SwitchOn {
		l.restore = setDefaults(l.Logger)
	}
	return l, nil
}

// openOutputs opens all outputs, and returns the open ones, with the errors of
// the others.
func openOutputs(c *Config) (list []*output, err error) {
	var errs []error
	spooled := map[string]int{} // number of outputs with a spool, by kind
	for _, text := range c.Output {
		w, err := readOutput(text, c.Kinds)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if w.Spool != "" {
			kind := w.kind()
			spooled[kind]++
			w.label = label(kind, spooled[kind])
		}
		o, err := openOutput(c, w)
		if err != nil {
			errs = append(errs, fmt.Errorf("nib/setup: output %s: %w", w.name(), err))
			continue
		}
		list = append(list, o)
	}
	for i, s := range c.Sinks {
		o := &output{name: place("Config.Sinks", i), sink: s}
		if f, ok := s.(delivery.Flusher); ok {
			o.flush, o.holdsBack = f.Flush, true
		}
		list = append(list, o)
	}
	return list, errors.Join(errs...)
}

// closeUnused closes outputs to which nothing was written, and removes what was
// made for them.
func closeUnused(outputs []*output) {
	for _, o := range outputs {
		if o.close != nil {
			_ = o.close()
		}
	}
	for _, o := range slices.Backward(outputs) {
		o.unmake()
	}
}

// missing returns the files and directories that do not exist, and that opening
// w makes.
func (w *wanted) missing() (paths []string) {
	var all []string
	switch w.Scheme {
	case toFile:
		all = append(all, filepath.Dir(w.Path), w.Path)
	case toSpool:
		all = append(all, w.Path)
	}
	if w.Spool != "" && w.Spool != inMemory {
		all = append(all, w.Spool)
	}
	for _, path := range all {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, path)
		}
	}
	return paths
}

// unmake removes the files and directories that were made for an output, if
// they are empty.
func (o *output) unmake() {
	for _, path := range slices.Backward(o.made) {
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || info.Size() == 0) {
			_ = os.Remove(path) // a directory with files stays
		}
	}
}

// openOutput opens w, which is valid.
func openOutput(c *Config, w *wanted) (*output, error) {
	if err := w.expandPaths(); err != nil {
		return nil, err
	}
	name := c.viewOf(w)
	w.Layout = c.layout()
	w.View = renderOf(name, streamOf(w.Scheme), w.Layout)
	out := &output{name: w.name(), holdsBack: w.holdsBack(), made: w.missing()}
	if p, ok := w.params.(sinkParams); ok {
		s, err := p.sink(w.Target)
		if err != nil {
			out.unmake()
			return nil, err
		}
		out.use(s)
	} else if err := out.useDestination(w, c.Timeout/2); err != nil {
		out.unmake()
		return nil, err
	}
	if c.apart && sharesStandardError(w.Scheme) {
		out.sink = &view{next: out.sink,
			render: func(dst, line []byte) []byte { return append(append(dst, '\n'), line...) }}
	}
	out.sink = newView(name, out.sink, w.View)
	if w.Level != "" {
		level, _ := nib.ParseLevel(w.Level)
		out.sink = sink.Route(sink.Discard(), sink.AtLeast(level, out.sink))
	}
	return out, nil
}

// useDestination opens a destination, and its spool if it has one. Close waits
// for the destination as long as drain.
func (o *output) useDestination(w *wanted, drain time.Duration) error {
	if w.Scheme == toFile {
		if err := makeDir(filepath.Dir(w.Path), 0o750); err != nil {
			return err
		}
	}
	d, err := w.params.Open(w.Target)
	if err != nil {
		return err
	}
	if r, ok := d.(interface{ Reopen() error }); ok {
		o.reopen = r.Reopen
	}
	if w.Spool == "" {
		o.use(d.(nib.Sink)) // a file
		return nil
	}
	s, err := openSpool(w, d, drain)
	if err != nil {
		return errors.Join(err, closeDestination(d))
	}
	o.use(s)
	o.flush = nil // Close waits for the destination, and keeps lines that it does not accept
	o.close = func() error { return errors.Join(s.Close(), closeDestination(d)) }
	return nil
}

func openSpool(w *wanted, d delivery.Destination, drain time.Duration) (*spool.Sink, error) {
	c, err := w.spoolConfig()
	if err != nil {
		return nil, err
	}
	c.Drain, c.Label = drain, w.label
	if w.Spool == inMemory {
		return spool.Open("", d, c)
	}
	if err := makeDir(w.Spool, 0o700); err != nil {
		return nil, err
	}
	return spool.Open(w.Spool, d, c)
}

func closeDestination(d delivery.Destination) error {
	if c, ok := d.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// makeDir makes a directory unless it exists. Its parent must exist, so that a
// wrong path does not make a tree of directories in the wrong place.
func makeDir(path string, mode fs.FileMode) error {
	err := os.Mkdir(path, mode)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: make %s first", err, filepath.Dir(path))
	}
	return err
}

// use sets the operations of o to those that s has.
func (o *output) use(s nib.Sink) {
	o.sink = s
	if f, ok := s.(delivery.Flusher); ok {
		o.flush = f.Flush
	}
	if c, ok := s.(io.Closer); ok {
		o.close = c.Close
	}
}

// newLogger makes the logger for outputs. c is valid, and its defaults are
// filled in.
func newLogger(c *Config, outputs []*output) *nib.Logger {
	s := outputs[0].sink
	if len(outputs) > 1 {
		var sinks []nib.Sink
		for _, o := range outputs {
			sinks = append(sinks, o.sink)
		}
		s = sink.Tee(sinks...)
	}
	opts := []nib.Option{nib.WithLayout(c.layout()), levelOption(c)}
	if c.Caller == SwitchOn {
		opts = append(opts, nib.WithCaller())
	}
	if c.Stack != "" {
		from, _ := nib.ParseLevel(c.Stack)
		opts = append(opts, nib.WithStack(from))
	}
	return withFields(nib.NewSink(s, append(opts, c.Options...)...), c.Fields)
}

// levelOption uses a plain level if it can: then a disabled call is one
// comparison.
func levelOption(c *Config) nib.Option {
	level, err := nib.ParseLevel(c.Level)
	if err == nil && c.Rules == nil {
		return nib.WithLevel(level)
	}
	rules := c.Rules
	if rules == nil {
		rules = new(nib.Rules)
	}
	if c.Level != "" {
		_ = rules.Set(c.Level) // c.Level is valid
	}
	return nib.WithRules(rules)
}

func withFields(l *nib.Logger, fields map[string]string) *nib.Logger {
	return l.With(func(e *nib.Event) {
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			e.Str(key, fields[key])
		}
	})
}
