// SPDX-License-Identifier: Apache-2.0

// Package target parses and formats targets, texts that describe where lines
// go. Variables, JSON and nib relay accept the same ones:
//
//	stdout
//	file:/var/log/app.log?max_size=100MB&backups=5
//	syslog+tls://logs:6514?facility=local0&spool=/var/spool/app
//	kafka://broker1:9092,broker2:9092/logs?spool=/var/spool/app
//
// A target is a scheme, hosts or a path, and parameters. Within paths and
// values the characters %, comma, ? and & are written %25, %2C, %3F and %26, as
// [net/url.PathEscape] does for the first three.
//
// A package that has a destination declares a [Spec] for it: its schemes and a
// struct whose tags are the parameters. Programs pass Specs to setup or to
// [Parse]; there is no registry.
package target

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/settings"
)

// A Target describes where lines go.
type Target struct {
	Scheme string      // "syslog+tls", in lower case
	Host   string      // "logs:6514"; several are separated by commas
	Path   string      // "/var/log/app.log"; after a Host it begins with a slash
	Params [][2]string // name and value; a name may occur several times. "path" becomes the Path

	// Mark is the mark that the destination of another process has stored in the
	// spool (see [delivery.Resumer]), otherwise nil. It is not part of the text.
	Mark []byte

	// Layout is the layout of the lines, for notices that a destination writes
	// among them. It is not part of the text.
	Layout nib.Layout

	// View appends such a notice to dst in the form of the lines, if lines are
	// not JSON. It is not part of the text.
	View func(dst, line []byte) []byte
}

// Fault returns an error about one parameter of a target. Programs report it
// with the place of the parameter, in a variable or in JSON.
func Fault(param string, err error) error { return &settings.ParamError{Param: param, Err: err} }

// faults collects mistakes.
type faults []error

func (f *faults) add(param, format string, values ...any) {
	*f = append(*f, Fault(param, fmt.Errorf(format, values...)))
}

// wrap adds err, or each of the errors that it joins.
func (f *faults) wrap(param string, err error) {
	var fault *settings.ParamError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			f.wrap(param, err)
		}
	} else if errors.As(err, &fault) {
		*f = append(*f, fault)
	} else if err != nil {
		*f = append(*f, Fault(param, err))
	}
}

// parse reads one target, in which a comma needs no escape. Passwords are not
// quoted in its errors.
func parse(text string) (t Target, err error) {
	var found faults
	if settings.HasSecret(text) {
		return t, Fault("", settings.ErrSecret)
	}
	address, params, _ := strings.Cut(text, "?")
	if err := t.parseAddress(address); err != nil {
		return Target{}, Fault("", err)
	}
	if params == "" {
		return t, nil
	}
	for param := range strings.SplitSeq(params, "&") {
		name, value, ok := strings.Cut(param, "=")
		value, err := url.PathUnescape(value)
		switch {
		case !ok || !paramName.MatchString(name): // a text that is not a name may be a secret
			found.add("", "want ?NAME=VALUE&NAME=VALUE, with letters, digits, _ and - in names")
		case err != nil:
			found.add(name, "%w (a %% is written %%25)", err)
		case name == "path" && t.Path != "":
			found.add(name, "%w", settings.ErrTwice)
		case name == "path":
			t.Path = value
		default:
			t.Params = append(t.Params, [2]string{name, value})
		}
	}
	return t, errors.Join(found...)
}

// scheme matches schemes of two letters or more: C: is a drive.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+$`)

var paramName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// parseAddress reads the part before the parameters.
func (t *Target) parseAddress(text string) (err error) {
	name, rest, ok := strings.Cut(text, ":")
	switch {
	case strings.ContainsAny(name, `/\`) || len(name) == 1 && ok:
		return fmt.Errorf("%q is a path: write file:%s", settings.Shorten(text),
			settings.Shorten(text))
	case !scheme.MatchString(name):
		return fmt.Errorf("%q is not a target (want a scheme such as stdout or file:PATH)",
			settings.Shorten(text))
	}
	t.Scheme = strings.ToLower(name)
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		n := strings.IndexByte(after+"/", '/')
		t.Host, rest = after[:n], after[n:]
	}
	if t.Path, err = url.PathUnescape(rest); err != nil {
		return fmt.Errorf("path: %w (a %% is written %%25)", err)
	}
	return nil
}

// String returns the text that [Parse] reads. Without its Params a Target is
// the name of a destination in errors.
func (t Target) String() string {
	text := t.Scheme
	switch {
	case t.Host != "" || strings.HasPrefix(t.Path, "//"):
		text += "://" + t.Host
	case t.Path != "":
		text += ":"
	}
	path := settings.Escape(t.Path)
	if settings.HasSecret(text + path) { // it only looks like one
		path = strings.ReplaceAll(path, "@", "%40")
	}
	text += path
	mark := "?"
	for _, p := range t.Params {
		text += mark + p[0] + "=" + settings.Escape(p[1])
		mark = "&"
	}
	return text
}

// address returns the scheme, the hosts and the path.
func (t Target) address() string {
	t.Params = nil
	return settings.Shorten(t.String())
}

var _ fmt.Stringer = Target{}
