// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/syslog"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/journald"
	"github.com/nib-log/nib/sink/spool"
	"github.com/nib-log/nib/sink/stdout"
	"github.com/nib-log/nib/target"
)

// The schemes of outputs that are not destinations, and of files.
const (
	toStdout   = "stdout"
	toStderr   = "stderr"
	toFile     = "file"
	toJournald = "journald"
	toDiscard  = "discard"
	toSpool    = "spool"
)

// builtin returns the kinds that need no Config.Kinds.
func builtin() []target.Spec {
	return []target.Spec{
		{Forms: []string{toStdout, toStderr},
			Doc:    "neither hangs nor kills the service, whatever becomes of the reader",
			Params: func() target.Params { return new(stdoutParams) }},
		{Forms: []string{toJournald},
			Doc:    "the journal of systemd by its own protocol, with all fields",
			Params: func() target.Params { return new(journaldParams) }},
		{Forms: []string{toDiscard}, Doc: "nothing at all",
			Params: func() target.Params { return new(discardParams) }},
		{Forms: []string{toSpool + ":PATH"},
			Doc: "the directory of a [spool](spool.md) that nib relay, or another process with " +
				"the directory, delivers",
			Params: func() target.Params { return new(spoolParams) }},
		file.Kind, syslog.Kind,
	}
}

// elsewhere are the kinds of other modules, whose packages have these names.
var elsewhere = []string{"kafka", "otlp", "elastic"}

// Kinds adds kinds of outputs of other modules or of the program:
//
//	setup.Open(setup.FromEnv("NIB"), setup.Kinds(kafka.Kind))
func Kinds(kinds ...target.Spec) ConfigSource { return Config{Kinds: kinds} }

// A wanted is an output of the configuration.
type wanted struct {
	target.Target
	params target.Params
	leveled
	formatted
	spooled

	label string // name of the destination in the spool's metrics and errors
}

// The parameters that outputs have in common: all, those that can be read by
// people, and destinations.
type (
	leveled struct {
		Level string `set:"level" is:"level" default:"all" doc:"the lowest level that this output gets, of those that are written"`
	}
	formatted struct {
		Format string `set:"format" is:"json|console|logfmt" default:"format of the process" doc:"how lines look"`
	}
	spooled struct {
		Spool  string   `set:"spool" default:"none" doc:"directory of a [spool](spool.md): a line is there when its call returns, and is delivered a little later, also after kill -9; processes may share it. Or memory"`
		Size   int64    `set:"spool_size" is:"size" default:"see the spool" doc:"how much the spool may hold"`
		OnFull []string `set:"on_full" default:"drop_new" doc:"what happens when it is full: drop_new, drop_old or block:100ms, for a level and above: error:block:1s; may be given several times"`
	}
)

// inMemory is the value of Spool that is not a directory.
const inMemory = "memory"

// readOutput reads and checks one output. Its error joins a target.Fault for
// each mistake.
func readOutput(text string, kinds []target.Spec) (*wanted, error) {
	w := &wanted{}
	with := []any{&w.leveled}
	w.Scheme = strings.ToLower(text[:strings.IndexAny(text+":", ":?")])
	switch w.Scheme {
	case toStdout, toStderr:
		with = append(with, &w.formatted)
	case toFile:
		with = append(with, &w.formatted, &w.spooled)
	case toJournald, toDiscard, toSpool:
	default:
		with = append(with, &w.spooled)
	}
	var err error
	w.Target, w.params, err = target.Parse(text, append(builtin(), kinds...), with...)
	switch kind := w.kind(); {
	case err == nil:
		err = w.checkSpool()
	case w.params == nil && slices.Contains(elsewhere, kind) && !hasKind(kinds, kind):
		err = fmt.Errorf(
			"%s is a kind of another package: import %q and pass setup.Kinds(%[1]s.Kind) to "+
				"setup.Open", kind, "github.com/nib-log/nib/dest/"+kind)
	}
	return w, err
}

// hasKind reports whether a target of a kind has any of the forms of kinds.
func hasKind(kinds []target.Spec, kind string) bool {
	return slices.ContainsFunc(kinds, func(k target.Spec) bool {
		return slices.ContainsFunc(k.Forms, func(form string) bool {
			return strings.HasPrefix(form, kind)
		})
	})
}

// checkSpool returns an error if the spool is wrong or missing.
func (w *wanted) checkSpool() error {
	c, err := w.spoolConfig()
	buffered := slices.ContainsFunc(w.Params, func(p [2]string) bool { return p[0] == "buffer" })
	switch {
	case err != nil:
		return err
	case unknownMark(w.Path) != "":
		return fmt.Errorf("%s is not replaced in a path: write %s or %s",
			unknownMark(w.Path), hostMark, pidMark)
	case unknownMark(w.Spool) != "":
		return target.Fault("spool", fmt.Errorf("%s is not replaced: write %s or %s",
			unknownMark(w.Spool), hostMark, pidMark))
	case w.Spool == "" && w.isNetwork():
		return target.Fault("spool", errors.New(
			"is missing: write spool=/var/spool/app, a directory in which lines survive the "+
				"death of the process, or spool=memory"))
	case w.Spool == "" && w.Size != 0:
		return target.Fault("spool_size", errors.New("there is no spool"))
	case w.Spool == "" && len(w.OnFull) > 0:
		return target.Fault("on_full", errors.New("there is no spool"))
	case w.Spool != "" && buffered:
		return target.Fault("buffer", errors.New("the spool holds the lines already"))
	}
	return c.Validate()
}

// spoolDir returns the directory of the spool, "" if there is none, and the
// place of its name within the target.
func (w *wanted) spoolDir() (place, dir string) {
	switch {
	case w.Scheme == toSpool:
		dir = w.Path
	case w.Spool != inMemory:
		place, dir = ".spool", w.Spool
	}
	if path, err := filepath.Abs(dir); err == nil && dir != "" {
		dir = path // two names of one directory are equal, except for links
	}
	return place, dir
}

// isNetwork reports whether the output is a destination that needs a spool.
func (w *wanted) isNetwork() bool {
	return !slices.Contains([]string{toStdout, toStderr, toFile, toJournald, toDiscard, toSpool},
		w.Scheme)
}

// spoolConfig returns the configuration of a directory that several processes
// may share, as in a rolling restart.
func (w *wanted) spoolConfig() (spool.Config, error) {
	c := spool.Config{Layout: w.Layout, Size: w.Size, Shared: w.Spool != inMemory && w.Spool != ""}
	var errs []error
	for _, text := range w.OnFull {
		rule, ok := fullRule(text)
		if !ok {
			errs = append(errs,
				target.Fault("on_full", fmt.Errorf(
					"%q is not a rule (want drop_new, drop_old or block:100ms, or for a level and "+
						"above error:block:1s)", text)))
		}
		for i, before := range c.OnFull {
			if ok && before.From == rule.From && before != rule {
				errs = append(errs, target.Fault("on_full", fmt.Errorf(
					"%s and %s exclude each other: leave one of them out", w.OnFull[i], text)))
			}
		}
		c.OnFull = append(c.OnFull, rule)
	}
	return c, errors.Join(errs...)
}

// fullRule reads [LEVEL:]ACTION[:WAIT].
func fullRule(text string) (r spool.FullRule, ok bool) {
	action, wait, hasWait := strings.Cut(text, ":")
	r.From = nib.LevelTrace
	if level, err := nib.ParseLevel(action); err == nil && hasWait {
		r.From = level
		action, wait, hasWait = strings.Cut(wait, ":")
	}
	var err error
	switch action {
	case "drop_new":
		r.Do = spool.ActionDropNew
	case "drop_old":
		r.Do = spool.ActionDropOld
	case "block":
		r.Do = spool.ActionBlock
		r.Wait, err = time.ParseDuration(wait)
		return r, err == nil && r.Wait > 0
	default:
		return r, false
	}
	return r, !hasWait
}

// name returns the name of the output in errors.
func (w *wanted) name() string {
	t := w.Target
	t.Params = nil
	return t.String()
}

// kind returns the scheme without the transport: syslog for syslog+tls.
func (w *wanted) kind() string {
	kind, _, _ := strings.Cut(w.Scheme, "+")
	return kind
}

// label returns the name of the nth spooled destination of a kind: kafka,
// kafka-2.
func label(kind string, n int) string {
	if n == 1 {
		return kind
	}
	return kind + "-" + strconv.Itoa(n)
}

// holdsBack reports whether there may be lines that Flush has to write.
func (w *wanted) holdsBack() bool {
	return w.Spool != "" || slices.ContainsFunc(w.Params, func(p [2]string) bool {
		return p[0] == "buffer" || p[0] == "sync" && strings.EqualFold(p[1], "flush")
	})
}

// forMonitor returns the output of the monitor, which writes one line: without
// buffers, and with a path that does not depend on the working directory.
// Instead of a network it has the directory of the spool, in which the next
// process finds the line.
func (w *wanted) forMonitor() (text string, ok bool) {
	if w.isNetwork() {
		path, err := filepath.Abs(w.Spool)
		return target.Target{Scheme: toSpool, Path: path}.String(), err == nil &&
			w.Spool != inMemory
	}
	if path, err := filepath.Abs(w.Path); err == nil && w.Scheme == toFile {
		w.Path = path
	}
	w.Params = slices.DeleteFunc(w.Params, func(p [2]string) bool {
		return slices.Contains([]string{"buffer", "delay", "spool", "spool_size", "on_full"}, p[0])
	})
	return w.String(), true
}

const (
	hostMark = "{host}"
	pidMark  = "{pid}"
)

var mark = regexp.MustCompile(`\{[a-zA-Z_]+\}`)

// unknownMark returns what looks like {host} in a path and is not replaced, or
// "".
func unknownMark(path string) string {
	return mark.FindString(strings.NewReplacer(hostMark, "", pidMark, "").Replace(path))
}

// expandPaths replaces {host} and {pid} in the paths.
func (w *wanted) expandPaths() error {
	for _, path := range []*string{&w.Path, &w.Spool} {
		var err error
		if *path, err = expandPath(*path, os.Hostname); err != nil {
			return err
		}
	}
	return nil
}

// expandPath replaces {host} by the name of the machine, which is one element
// of a path, and {pid} by the number of the process.
func expandPath(path string, hostname func() (string, error)) (string, error) {
	path = strings.ReplaceAll(path, pidMark, strconv.Itoa(os.Getpid()))
	if !strings.Contains(path, hostMark) {
		return path, nil
	}
	host, err := hostname()
	switch {
	case err != nil:
		return "", fmt.Errorf("%s in a path: %w", hostMark, err)
	case host == "" || host == "." || host == ".." || strings.ContainsAny(host, `/\`+"\x00"):
		return "", fmt.Errorf("%s in a path: the machine has the name %q, which no file can have",
			hostMark, host)
	}
	return strings.ReplaceAll(path, hostMark, host), nil
}

// A sinkParams has the parameters of an output that is not a destination.
type sinkParams interface {
	target.Params
	sink(t target.Target) (nib.Sink, error)
}

// noDestination is embedded by each sinkParams.
type noDestination struct{}

func (noDestination) Validate(target.Target) error { return nil }

func (noDestination) Open(t target.Target) (delivery.Destination, error) {
	return nil, fmt.Errorf("nib/setup: %s is not a destination", t.Scheme)
}

type stdoutParams struct {
	noDestination
	Buffer int           `set:"buffer" is:"size" default:"none" doc:"lines are collected up to this size and written together; errors at once"`
	Delay  time.Duration `set:"delay" default:"1ms" doc:"how long a line may wait in the buffer"`
	Stall  time.Duration `set:"stall" default:"100ms" doc:"how long a call waits for a reader that does not read"`
}

func (p *stdoutParams) config(t target.Target) stdout.Config {
	return stdout.Config{File: streamOf(t.Scheme), Layout: t.Layout, View: t.View, Stall: p.Stall,
		Buffer: p.Buffer, Delay: p.Delay}
}

func (p *stdoutParams) Validate(t target.Target) error { return p.config(t).Validate() }
func (p *stdoutParams) sink(t target.Target) (nib.Sink, error) {
	return stdout.New(p.config(t)), nil
}

// streamOf returns the standard stream of a scheme, or nil for another scheme.
func streamOf(scheme string) *os.File {
	switch scheme {
	case toStdout:
		return os.Stdout
	case toStderr:
		return os.Stderr
	}
	return nil
}

type journaldParams struct {
	noDestination
	Identifier string        `set:"identifier" default:"the program's name" doc:"SYSLOG_IDENTIFIER"`
	Prefix     string        `set:"prefix" default:"none" doc:"in front of the names of fields: SHOP_"`
	Line       string        `set:"line" default:"none" doc:"name of a field for the whole line"`
	Socket     string        `set:"socket" default:"systemd's" doc:"path of the socket"`
	Stall      time.Duration `set:"stall" default:"100ms" doc:"how long a call waits for a reader that does not read"`
}

func (p *journaldParams) config() journald.Config {
	return journald.Config{Identifier: p.Identifier, Prefix: p.Prefix, Line: p.Line, Stall: p.Stall,
		Socket: p.Socket}
}

func (p *journaldParams) Validate(target.Target) error         { return p.config().Validate() }
func (p *journaldParams) sink(target.Target) (nib.Sink, error) { return journald.Open(p.config()) }

type spoolParams struct {
	noDestination
	Size int64 `set:"spool_size" is:"size" default:"see the spool" doc:"how much the spool may hold"`
}

func (p *spoolParams) config() spool.Config {
	return spool.Config{Size: p.Size, Shared: true, Label: toSpool}
}

func (p *spoolParams) Validate(target.Target) error { return p.config().Validate() }

func (p *spoolParams) sink(t target.Target) (nib.Sink, error) {
	if err := makeDir(t.Path, 0o700); err != nil {
		return nil, err
	}
	c := p.config()
	c.Layout = t.Layout
	return spool.Open(t.Path, nil, c)
}

type discardParams struct{ noDestination }

func (discardParams) sink(target.Target) (nib.Sink, error) { return sink.Discard(), nil }
