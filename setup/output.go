// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/journald"
	"github.com/nib-log/nib/sink/spool"
	"github.com/nib-log/nib/sink/stdout"
)

// The kinds of output.
const (
	toStdout   = "stdout"
	toStderr   = "stderr"
	toFile     = "file"
	toJournald = "journald"
	toDiscard  = "discard"
)

// ParseOutputs reads outputs as a variable has them, joined by commas:
//
//	stdout?buffer=64KiB,file:/var/log/app.log?max_size=100MB&at=00:00&at=12:00,journald
//
// Within paths and values %, comma, ?, & and = may be written %25, %2C, %3F, %26
// and %3D; the first three must be. The error joins a [Fault] for each thing
// that is wrong.
func ParseOutputs(text string) ([]Output, error) {
	var found faults
	list := readOutputs(text, &found, "output")
	return list, found.err()
}

// String gives o as [ParseOutputs] reads it.
func (o Output) String() string {
	var b strings.Builder
	b.WriteString(o.To)
	if o.Path != "" {
		b.WriteString(":" + escape(o.Path))
	}
	mark := "?"
	settings := outputSettings()
	for i := range settings {
		s := &settings[i]
		if field := s.in(&o); s.name != "to" && s.name != "path" && !isUnset(field) {
			for _, text := range s.texts(field) {
				b.WriteString(mark + s.name + "=" + escape(text))
				mark = "&"
			}
		}
	}
	return b.String()
}

// name is what errors call o.
func (o *Output) name() string {
	if o.Path != "" {
		return o.To + ":" + o.Path
	}
	return o.To
}

func readOutputs(text string, found *faults, where string) (list []Output) {
	for i, item := range strings.Split(text, ",") {
		list = append(list, readOutput(item, found, place(where, i)))
	}
	return list
}

// readOutput reads one output, and finds all its faults.
func readOutput(text string, found *faults, where string) (o Output) {
	before := len(found.list)
	at := func(s *setting) string { return where + "." + s.name }
	target, options, _ := strings.Cut(text, "?")
	to, path, hasPath := strings.Cut(target, ":")
	if s := find(outputSettings(), "to"); to == "" {
		found.add(where, "there is no output in %q (want %s)", shorten(text), s.kind.want)
		return o
	} else if strings.ContainsAny(to, `/\\`) || len(to) == 1 && hasPath { // a path, also that of C:\logs
		found.add(where, "%q is a path: write %s:%s", shorten(target), toFile, shorten(target))
		return o
	} else {
		s.set(&o, to, found, where)
	}
	if hasPath {
		readOption(&o, "path="+path, found, where)
	}
	if options != "" {
		for option := range strings.SplitSeq(options, "&") {
			readOption(&o, option, found, where)
		}
	}
	checkOutput(&o, found, before, where, at)
	return o
}

// readOption reads name=value.
func readOption(o *Output, option string, found *faults, where string) {
	name, value, ok := strings.Cut(option, "=")
	s := find(outputSettings(), name)
	if s == nil || name == "to" {
		found.add(where, "there is no setting %q%s (want %s)", shorten(name), suggest(name, outputSettings()[1:]), names(outputSettings()[1:], o.To))
		return
	}
	where += "." + name
	text, err := url.PathUnescape(value)
	switch {
	case !ok:
		found.add(where, "there is no = and no value")
	case err != nil:
		found.add(where, "%w (a %% is written %%25)", err)
	case !s.isList() && !isUnset(s.in(o)):
		found.add(where, "is there twice")
	default:
		s.set(o, text, found, where)
	}
}

// checkOutput finds what is wrong with o as a whole, and with what its sink does
// not take. The faults of its settings are those found since before.
func checkOutput(o *Output, found *faults, before int, where string, at func(*setting) string) {
	to, path := find(outputSettings(), "to"), find(outputSettings(), "path")
	switch {
	case o.To == "" && !found.has(at(to)):
		found.add(at(to), "is missing (want %s)", to.kind.want)
		return
	case !slices.Contains([]string{toStdout, toStderr, toFile, toJournald, toDiscard}, o.To):
		return // and that is a fault already
	}
	settings := outputSettings()
	for i := range settings {
		s := &settings[i]
		if len(s.only) > 0 && !slices.Contains(s.only, o.To) && !isUnset(s.in(o)) {
			found.add(at(s), "%s has no such setting, only %s", o.To, either(s.only))
		}
	}
	if o.To == toFile && o.Path == "" && !found.has(at(path)) {
		found.add(at(path), "is missing: a file needs one")
	}
	if len(found.list) > before {
		return
	}
	switch o.To {
	case toStdout, toStderr:
		found.wrap(where, o.stdout().Validate())
	case toFile:
		found.wrap(where, o.file().Validate())
		found.wrap(where, o.spool().Validate())
		if o.Spool == "" && o.SpoolSize != 0 {
			found.add(at(find(settings, "spool_size")), "there is no spool")
		}
		if o.Spool != "" && o.Buffer != 0 {
			found.add(at(find(settings, "buffer")), "the spool holds the lines already")
		}
	case toJournald:
		found.wrap(where, o.journald().Validate())
	}
}

// The configurations of the sinks. Those who call know that o has no faults.

func (o *Output) stdout() stdout.Config {
	return stdout.Config{Stall: o.Stall, Buffer: int(o.Buffer), Delay: o.Delay}
}

func (o *Output) file() file.Config {
	c := file.Config{
		MaxSize: int64(o.MaxSize), Every: o.Every, At: o.At,
		MaxBackups: o.Backups, MaxAge: o.MaxAge, MaxTotal: int64(o.MaxTotal),
		Mode: o.Mode, Buffer: int(o.Buffer), Delay: o.Delay, MinFree: int64(o.MinFree),
	}
	if o.Zone != "" {
		c.Zone, _ = time.LoadLocation(o.Zone)
	}
	if o.Compress != "" {
		c.Compress = file.Gzip{}
	}
	switch o.Sync {
	case "flush":
		c.Sync = file.SyncFlush
	case "always":
		c.Sync = file.SyncAlways
	}
	return c
}

// spool is that of a directory that several processes may have, as those of a rolling
// restart.
func (o *Output) spool() spool.Config {
	return spool.Config{Size: int64(o.SpoolSize), Shared: true}
}

// expandPaths replaces {host} and {pid} in the paths of outputs. The monitor of crashes gets
// the result, so it writes to the files of the process.
func (c *Config) expandPaths() error {
	c.Output = slices.Clone(c.Output) // the program's own stays as it is
	for i := range c.Output {
		o := &c.Output[i]
		for _, path := range []*string{&o.Path, &o.Spool} {
			var err error
			if *path, err = expandPath(*path); err != nil {
				return fmt.Errorf("nib/setup: output %s: %w", o.name(), err)
			}
		}
	}
	return nil
}

const (
	hostMark = "{host}"
	pidMark  = "{pid}"
)

// expandPath replaces {host} by the name of the machine, which is one element of a path, and
// {pid} by the number of the process.
func expandPath(path string) (string, error) {
	path = strings.ReplaceAll(path, pidMark, strconv.Itoa(os.Getpid()))
	if !strings.Contains(path, hostMark) {
		return path, nil
	}
	host, err := os.Hostname()
	switch {
	case err != nil:
		return "", fmt.Errorf("%s in a path: %w", hostMark, err)
	case host == "" || host == "." || host == ".." || strings.ContainsAny(host, `/\`+"\x00"):
		return "", fmt.Errorf("%s in a path: the machine has the name %q, which no file can have", hostMark, host)
	}
	return strings.ReplaceAll(path, hostMark, host), nil
}

func (o *Output) journald() journald.Config {
	return journald.Config{Identifier: o.Identifier, Prefix: o.Prefix, Line: o.Line, Stall: o.Stall, Socket: o.Socket}
}

// holdsBack reports whether there may be lines for Flush to bring somewhere.
func (o *Output) holdsBack() bool { return o.Buffer > 0 || o.Sync == "flush" || o.Spool != "" }

var _ fmt.Stringer = Output{}
