// SPDX-License-Identifier: Apache-2.0

package target

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/settings"
)

// A Spec describes a kind of destination. Packages export theirs as Kind, such
// as kafka.Kind.
type Spec struct {
	// Forms are the forms of its targets: "file:PATH" for a path,
	// "tcp://HOST:PORT" for a host, "kafka://HOST:PORT,HOST:PORT/TOPIC" for
	// several with a path after them, "stdout" for neither. They must not be
	// empty.
	Forms []string

	// Doc describes it in a few words.
	Doc string

	// Params returns a pointer to a new struct. Its fields with the tag "set"
	// are the parameters:
	//
	//	MaxSize int `set:"max_size" is:"size" default:"8096B" doc:"size of a message"`
	//
	// A field is a string, bool, int, int64, time.Duration, fs.FileMode or
	// []string. The tag "is" names the unit of a number ("size"), or the words
	// that are allowed ("gzip|zstd"). Default and doc are for the
	// documentation. Fields of embedded structs count as well.
	Params func() Params
}

// SetDefaults sets each number, duration and mode in a struct whose fields are
// parameters to the default in its tag, if it is zero. config points to the
// struct. Defaults in words, such as "the machine's", are left to the caller.
func SetDefaults(config any) { settings.SetDefaults(config) }

// Params are the parameters of a target, decoded.
type Params interface {
	// Validate returns their faults, joined. A [Fault] names the parameter. It may
	// read files that parameters name, and must open nothing else.
	Validate(t Target) error

	// Open makes the destination. It must not wait for a network. If the result
	// has a method Close, the caller calls it.
	Open(t Target) (delivery.Destination, error)
}

// Parse reads a target of one of the kinds, decodes its parameters and
// validates them. A comma needs no escape here, only in lists. The fields of
// the structs that with points to are additional parameters. The error joins
// one for each mistake and never quotes a password.
func Parse(text string, kinds []Spec, with ...any) (Target, Params, error) {
	var found faults
	t, err := parse(text)
	if found.wrap("", err); t.Scheme == "" {
		return t, nil, errors.Join(found...)
	}
	params, err := read(t, kinds, with...)
	found.wrap("", err)
	return t, params, errors.Join(found...)
}

// read is Parse for a target whose syntax is parsed.
func read(t Target, kinds []Spec, with ...any) (Params, error) {
	var found faults
	i := slices.IndexFunc(kinds, func(k Spec) bool { return k.form(t.Scheme) != "" })
	if i < 0 {
		return nil, Fault("", unknown(t.Scheme, kinds))
	}
	params := kinds[i].Params()
	list := settings.Of(append([]any{params}, with...)...)
	for _, p := range t.Params {
		if s := settings.Find(list, p[0]); s == nil {
			found.wrap(p[0], settings.Unknown(p[0], list))
		} else {
			found.wrap(p[0], s.Set(p[1]))
		}
	}
	found.wrap("", checkForm(t, kinds[i].form(t.Scheme)))
	if len(found) == 0 {
		found.wrap("", params.Validate(t))
	}
	return params, errors.Join(found...)
}

// form returns the form of targets with a scheme, or "".
func (k Spec) form(scheme string) string {
	for _, f := range k.Forms {
		if name, _, _ := strings.Cut(f, ":"); name == scheme {
			return f
		}
	}
	return ""
}

// unknown returns the error for a scheme that no Spec has.
func unknown(scheme string, kinds []Spec) error {
	var names, forms []string
	like := ""
	for _, k := range kinds {
		for _, f := range k.Forms {
			name, _, _ := strings.Cut(f, ":")
			names, forms = append(names, name), append(forms, f)
			if strings.HasSuffix(name, "+"+scheme) { // tcp: syslog+tcp
				like = fmt.Sprintf(" (did you mean %s?)", name)
			}
		}
	}
	if like == "" {
		like = settings.Suggest(scheme, names)
	}
	return fmt.Errorf("there is no kind of target %q%s (want %s)", settings.Shorten(scheme), like,
		settings.Either(forms))
}

// checkForm compares the address of t with the form of its kind.
func checkForm(t Target, form string) error {
	var want Target
	if err := want.parseAddress(form); err != nil {
		return fmt.Errorf("the kind has the form %q: %w", form, err)
	}
	switch {
	case (t.Host == "") != (want.Host == ""), t.Path == "" && want.Path != "",
		t.Path != "" && want.Path == "":
		return fmt.Errorf("want %s, got %s", form, t.address())
	case t.Host == "":
		return nil
	}
	hosts := strings.Split(t.Host, ",")
	if len(hosts) > 1 && !strings.Contains(want.Host, ",") {
		return fmt.Errorf("want %s, got several hosts", form)
	}
	for _, host := range hosts {
		if err := checkHost(host); err != nil {
			return fmt.Errorf("want %s: %w", form, err)
		}
	}
	return nil
}

// checkHost reports faults of a host and its port.
func checkHost(text string) error {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return fmt.Errorf("%q has no port", settings.Shorten(text))
	}
	host, port := text[:i], text[i+1:]
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	switch n, err := strconv.ParseUint(port, 10, 16); {
	case err != nil || n == 0:
		return fmt.Errorf("%q has no port from 1 to 65535", settings.Shorten(text))
	case bare == "":
		return fmt.Errorf("%q has no host", settings.Shorten(text))
	case strings.Contains(bare, ":") && len(host) != len(bare)+2:
		return fmt.Errorf("an IPv6 address needs brackets: [%s]:%s", settings.Shorten(bare), port)
	}
	return nil
}
