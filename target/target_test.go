// SPDX-License-Identifier: Apache-2.0

package target

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/settings"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Target{
		"stdout":                            {Scheme: "stdout"},
		"STDERR?level=info+2":               {Scheme: "stderr", Params: [][2]string{{"level", "info+2"}}},
		"file:/var/log/a.log":               {Scheme: "file", Path: "/var/log/a.log"},
		"file:///var/log/a.log?":            {Scheme: "file", Path: "/var/log/a.log"},
		"file:a%2Cb%3Fc,d?at=1&at=2":        {Scheme: "file", Path: "a,b?c,d", Params: [][2]string{{"at", "1"}, {"at", "2"}}},
		`file:C:\logs\a.log`:                {Scheme: "file", Path: `C:\logs\a.log`},
		"file?mode=0600&path=/x":            {Scheme: "file", Path: "/x", Params: [][2]string{{"mode", "0600"}}},
		"syslog+tls://[::1]:6514?app=a%26":  {Scheme: "syslog+tls", Host: "[::1]:6514", Params: [][2]string{{"app", "a&"}}},
		"syslog+unixgram:///dev/log":        {Scheme: "syslog+unixgram", Path: "/dev/log"},
		"kafka://a:9092,b:9092/logs?x=y=z":  {Scheme: "kafka", Host: "a:9092,b:9092", Path: "/logs", Params: [][2]string{{"x", "y=z"}}},
		"file:////x":                        {Scheme: "file", Path: "//x"},
		"kk://[2001:db8::a]:1,b:2/a@b?x=c@": {Scheme: "kk", Host: "[2001:db8::a]:1,b:2", Path: "/a@b", Params: [][2]string{{"x", "c@"}}},
		"kk://[2001:db8::a]/a@b":            {Scheme: "kk", Host: "[2001:db8::a]", Path: "/a@b"},
	} {
		got, err := parse(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", text, got, err, want)
		}
		if again, err := parse(got.String()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: String gives %s, which is read as %+v, %v", text, got, again, err)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for text, want := range map[string][]string{
		"":                         {`"" is not a target (want a scheme such as stdout or file:PATH)`},
		"/var/log/x":               {`"/var/log/x" is a path: write file:/var/log/x`},
		`C:\x`:                     {`"C:\\x" is a path: write file:C:\x`},
		"7":                        {`"7" is not a target`},
		"a b:c":                    {`"a b:c" is not a target`},
		"file:%zz":                 {`path: invalid URL escape "%zz" (a % is written %25)`},
		"file:x?a&b=%&c=1":         {`want ?NAME=VALUE&NAME=VALUE, with letters, digits, _ and - in names`, `b: invalid URL escape "%" (a % is written %25)`},
		"file:x?path=y":            {`path: is set twice`},
		"file:x?pas:hunter2=y":     {`want ?NAME=VALUE&NAME=VALUE, with letters`},
		"k://u:hunter2@h:1/t":      {`a user or password does not belong in a target`},
		"kk://u:hun/hunter2@h:1/t": {`a user or password does not belong in a target`},
		"kk://u:hun?hunter2@h:1/t": {`a user or password does not belong in a target`},
		"kk:u:hunter2@h:1/t":       {`a user or password does not belong in a target`},
		"kk://u:/hunter2@h:1/t":    {`a user or password does not belong in a target`},
		"kk://a:1,u:h/unter2@h:1":  {`a user or password does not belong in a target`},
		"k://h:1/t?a=b&token=hu2":  {`a user or password does not belong in a target`},
	} {
		_, err := parse(text)
		compare(t, text, err, want)
	}
}

// compare expects a Fault for each want, its beginning.
func compare(t *testing.T, text string, err error, want []string) {
	t.Helper()
	var got faults
	got.wrap("", err)
	if len(got) != len(want) {
		t.Errorf("%q: got %v, want %q", text, err, want)
		return
	}
	for i, err := range got {
		var f *settings.ParamError
		if !strings.HasPrefix(err.Error(), want[i]) || !errors.As(err, &f) || strings.Contains(err.Error(), "hu2") || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%q: got %v, want %s", text, err, want[i])
		}
	}
}

type params struct {
	Size  int64  `set:"size" is:"size" default:"1MB" doc:"a size"`
	Words string `set:"words" is:"a|b" doc:"words"`
}

func (p *params) Validate(Target) error {
	if p.Size == 1 {
		return errors.Join(Fault("size", errors.New("is too small")), errors.New("and more"))
	}
	return nil
}

func (p *params) Open(Target) (delivery.Destination, error) { return nil, nil }

var kinds = []Spec{
	{Forms: []string{"one"}, Params: func() Params { return new(params) }},
	{Forms: []string{"path:PATH", "x+tcp://HOST:PORT", "x+many://HOST:PORT,HOST:PORT/NAME"}, Doc: "for tests", Params: func() Params { return new(params) }},
}

func TestParseDecodes(t *testing.T) {
	var with struct {
		Level string `set:"level" is:"level"`
	}
	to, p, err := Parse("x+many://a:1,b:2/n?size=2kB&words=B&level=warn", kinds, &with)
	if to.Path != "/n" || err != nil || *p.(*params) != (params{2000, "b"}) || with.Level != "warn" {
		t.Errorf("got %+v, %v and %+v", p, err, with)
	}
}

func TestFaultsOfKinds(t *testing.T) {
	for text, want := range map[string][]string{
		"two":                       {`there is no kind of target "two" (want one, path:PATH, x+tcp://HOST:PORT or x+many://HOST:PORT,HOST:PORT/NAME)`},
		"tcp://a:1":                 {`there is no kind of target "tcp" (did you mean x+tcp?)`},
		"paht:x":                    {`there is no kind of target "paht" (did you mean path?)`},
		"one:x":                     {"want one, got one:x"},
		"path":                      {"want path:PATH, got path"},
		"path://a/b":                {"want path:PATH, got path://a/b"},
		"x+tcp:a:1":                 {"want x+tcp://HOST:PORT, got x+tcp:a:1"},
		"x+tcp://a:1/b":             {"want x+tcp://HOST:PORT, got x+tcp://a:1/b"},
		"x+tcp://a:1,b:1":           {"want x+tcp://HOST:PORT, got several hosts"},
		"x+tcp://a":                 {`want x+tcp://HOST:PORT: "a" has no port`},
		"x+tcp://[::1]":             {`want x+tcp://HOST:PORT: "[::1]" has no port from 1 to 65535`},
		"x+tcp://::1:5":             {`want x+tcp://HOST:PORT: an IPv6 address needs brackets: [::1]:5`},
		"x+tcp://a:65536":           {`want x+tcp://HOST:PORT: "a:65536" has no port from 1 to 65535`},
		"x+tcp://a:0":               {`want x+tcp://HOST:PORT: "a:0" has no port from 1 to 65535`},
		"x+tcp://:1":                {`want x+tcp://HOST:PORT: ":1" has no host`},
		"x+many://a:1,b:2":          {"want x+many://HOST:PORT,HOST:PORT/NAME, got x+many://a:1,b:2"},
		"one?size=1&wrods=a&size=1": {`size: "1" has no unit`, `wrods: there is no such setting (did you mean words?) (want size, words)`, `size: is set twice`},
		"one?size=1B":               {"size: is too small", "and more"},
		"one?size=2&%zz=1&words=c":  {`want ?NAME=VALUE`, `size: "2" has no unit`, `words: "c" is not a words`},
	} {
		_, _, err := Parse(text, kinds)
		compare(t, text, err, want)
	}
}

func TestKindsThatAreAlmostNamed(t *testing.T) {
	relp := []Spec{{Forms: []string{"syslog+relp://HOST:PORT"}, Params: kinds[0].Params}}
	_, _, err := Parse("relp://logs:2514", relp)
	if want := `there is no kind of target "relp" (did you mean syslog+relp?) (want syslog+relp://HOST:PORT)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if to, _, err := Parse("syslog+relp://[::1]:2514", relp); err != nil || to.Host != "[::1]:2514" {
		t.Errorf("got %+v, %v", to, err)
	}
}

// A target that does not match a form is shown without its parameters.
func TestFaultOfAnAddress(t *testing.T) {
	if _, _, err := Parse("one:x?size=1kB", kinds); err == nil || err.Error() != "want one, got one:x" {
		t.Errorf("got %v", err)
	}
}

func ExampleParse() {
	t, p, err := Parse("x+many://one:9092,two:9092/logs?size=64KiB&words=a", kinds) // or kafka.Kind and others
	fmt.Println(t.Scheme, t.Host, t.Path, p.(*params).Size, err)
	// Output: x+many one:9092,two:9092 /logs 65536 <nil>
}

// FuzzParse checks that a target is the same after String and Parse, that a
// list of it splits into it, and that a text with a mistake has a Fault that
// quotes no password.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"stdout", "file:a%2Cb?x=%26&y=", "kafka://a:1,b:2/t?k=v", "x://u:p@h:1", "a://", "a:////", "a:%", "a?b", "a?path=//x", "aa?path=b:c@d", "a?=", "C:\\x", "é:x", "a://b,c:1,d:2?x=,", "a:?path=",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parse(text)
		if err != nil {
			var fault *settings.ParamError
			if !errors.As(err, &fault) {
				t.Errorf("%q: %v is no ParamError", text, err)
			}
			return
		}
		again, err := parse(got.String())
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%q is read as %#v, whose text %q as %#v, %v", text, got, got, again, err)
		}
		if strings.Contains(got.Host, ",") {
			return
		}
		if list, err := settings.SplitTargets("stdout," + got.String() + ",stdout"); err != nil || len(list) != 3 || list[1] != got.String() {
			t.Errorf("%q: a list with it is split into %q, %v", text, list, err)
		}
	})
}
