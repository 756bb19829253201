// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Zone string `set:"zone" is:"zone"`
}

type sample struct {
	Size     int64             `set:"size" is:"size" default:"8KiB" doc:"a size"`
	Small    int               `set:"small" is:"size"`
	Wait     time.Duration     `set:"wait"`
	Count    int               `set:"count"`
	On       bool              `set:"on"`
	Three    int8              `set:"three"`
	Mode     fs.FileMode       `set:"mode"`
	Word     string            `set:"word" is:"a|b"`
	At       []string          `set:"at" is:"time"`
	Fields   map[string]string `set:"fields"`
	Level    string            `set:"level" is:"level"`
	Levels   string            `set:"levels" is:"levels"`
	Text     string            `set:"text"`
	Internal string
	inner
}

// TestSetAndTexts sets each setting, and expects the field and the text again.
func TestSetAndTexts(t *testing.T) {
	for _, tt := range []struct {
		name, text, again string
		want              any
	}{
		{"size", "64KiB", "65536B", int64(65536)}, {"small", "1kB", "1000B", 1000}, {"wait", "7d", "168h0m0s", 7 * 24 * time.Hour},
		{"count", "5", "5", 5}, {"on", "ON", "on", true}, {"on", "0", "off", false}, {"on", "true", "on", true}, {"on", "1", "on", true}, {"on", "false", "off", false}, {"three", "true", "on", int8(1)}, {"three", "off", "off", int8(-1)},
		{"mode", "640", "0640", fs.FileMode(0o640)}, {"word", "B", "b", "b"}, {"at", "00:00", "00:00", []string{"00:00"}},
		{"fields", "b=2,a=x%2Cy", "a=x%2Cy,b=2", map[string]string{"a": "x,y", "b": "2"}},
		{"fields", "a=x, b = y z\n", "a=x,b=y z", map[string]string{"a": "x", "b": "y z"}},
		{"fields", "%20a=%0Ax y%09,b=", "%20a=%0Ax%20y%09,b=", map[string]string{" a": "\nx y\t", "b": ""}},
		{"level", "info+2", "info+2", "info+2"}, {"levels", "warn,db=debug", "warn,db=debug", "warn,db=debug"}, {"text", "x y", "x y", "x y"}, {"zone", "UTC", "UTC", "UTC"},
	} {
		var v sample
		s := Find(Of(&v), tt.name)
		if err := s.Set(tt.text); err != nil {
			t.Errorf("%s=%s: %v", tt.name, tt.text, err)
		}
		if got := s.value.Interface(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s=%s: got %v, want %v", tt.name, tt.text, got, tt.want)
		}
		if got := s.Texts(); len(got) != 1 || got[0] != tt.again {
			t.Errorf("%s=%s: got text %q, want %q", tt.name, tt.text, got, tt.again)
		}
		if errs := s.Check(); len(errs) > 0 {
			t.Errorf("%s=%s: Check finds %v", tt.name, tt.text, errs)
		}
		if err := s.Set(tt.text); (err == ErrTwice) == s.IsList() {
			t.Errorf("%s: the second time got %v", tt.name, err)
		}
	}
}

func TestSetRejects(t *testing.T) {
	for text, want := range map[string]string{
		"size=many": `"many" is not a size (want a number with a unit`, "size=100": `"100" has no unit (write 100MB, or 100B for bytes)`,
		"wait=5": `"5" is not a duration`, "wait=-5s": "is not a duration", "count=-1": `"-1" is not a count`, "on=yes": `"yes" is not a switch`,
		"mode=077": "is not a file mode", "mode=9600": "is not a file mode", "mode=10600": "is not a file mode", "mode=0600x": "is not a file mode",
		"size=8388608TiB": `"8388608TiB" is not a size`, "fields==1": "is not a list of fields", "fields=%zz=1": "write %25 for %", "fields=a=50%": `"a=50%": write %25 for % and %2C for a comma`, "word=c": `"c" is not a word (want a or b)`, "at=25:00": "is not a time of day", "fields=x": "is not a list of fields",
		"fields=a=1,a=2": `the field "a" is set twice`, "level=inof": "is not a level", "levels=inof": `unknown level "inof"`, "text=": "is not a text", "zone=Nowhere": "is not a known time zone",
	} {
		name, value, _ := strings.Cut(text, "=")
		if err := Find(Of(new(sample)), name).Set(value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": -1, "1B": 1, "10b": 10, "1kB": 1e3, "2MB": 2e6, "3gb": 3e9, "4TB": 4e12, "64KiB": 64 << 10, "1mib": 1 << 20, "1 GiB": 1 << 30, "8388607TiB": 8388607 << 40,
		"": -1, "MB": -1, "-1": -1, "+1": -1, "1.5MB": -1, "1 M B": -1, "8388608TiB": -1, "1e3": -1, "0x10": -1, "99999999999999999999": -1, "1kbb": -1, "1bkib": -1,
	} {
		var v sample
		if err := Find(Of(&v), "size").Set(text); (err == nil) != (want >= 0) || err == nil && v.Size != want {
			t.Errorf("%q: got %d, %v, want %d", text, v.Size, err, want)
		}
	}
}

// A size that an int cannot hold is an error, not another size.
func TestSizesBeyondAnInt(t *testing.T) {
	for _, text := range []string{"2GiB", "4GiB", "5GiB", "4TiB"} {
		var v sample
		if err := Find(Of(&v), "small").Set(text); (err == nil) != (math.MaxInt > math.MaxInt32) {
			t.Errorf("%s: got %v and %d", text, err, v.Small)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5s": 5 * time.Second, "7d": 7 * 24 * time.Hour, "1h30m": 90 * time.Minute, "0": 0, "106751d": 106751 * 24 * time.Hour,
		"0s": 0, "1ns": 1,
		"": -1, "5": -1, "-5s": -1, "-1ns": -1, "d": -1,
		"-1d": -1, "1.5d": -1, "1d12h": -1, "106752d": -1, "s": -1,
	} {
		var v sample
		if err := Find(Of(&v), "wait").Set(text); (err == nil) != (want >= 0) || err == nil && v.Wait != want {
			t.Errorf("%q: got %v, %v, want %v", text, v.Wait, err, want)
		}
	}
}

// Check returns the faults of each field that a program has set, and puts words
// in lower case.
func TestCheck(t *testing.T) {
	v := sample{Word: "B", At: []string{"00:00", "25:00", "x"}, Three: 7}
	for name, want := range map[string]int{"word": 0, "at": 2, "three": 1} {
		if errs := Find(Of(&v), name).Check(); len(errs) != want {
			t.Errorf("%s: got %v, want %d", name, errs, want)
		}
	}
	if v.Word != "b" {
		t.Errorf("got %q, want b", v.Word)
	}
}

func TestIsSet(t *testing.T) {
	v := sample{At: []string{}, Fields: map[string]string{}, Count: 1}
	for name, want := range map[string]bool{"at": false, "fields": false, "count": true, "text": false} {
		if got := Find(Of(&v), name).IsSet(); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	v.At, v.Fields = []string{""}, map[string]string{"a": ""}
	for _, name := range []string{"at", "fields"} {
		if !Find(Of(&v), name).IsSet() {
			t.Errorf("%s is not set", name)
		}
	}
}

func TestTableAndHelp(t *testing.T) {
	list := Of(new(sample))
	if got, want := Table(list[:1]), "| `size` | a size | 8KiB |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	word := Find(list, "word")
	if got, want := Table([]Setting{*word}), "| `word` | `a`, `b`:  |  |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := list[0].Help(), "?size=  a size (default 8KiB)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := word.Help(), "?word=  : a or b (default )"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"max_size", "max_age", "at", "level"}
	for name, want := range map[string]string{
		"max-size": "max_size", "maxSize": "max_size", "max_siz": "max_size", "mx_sz": "", "size": "", "lvl": "level",
		"levels": "level", "ab": "at", "xy": "", "": "", "max_age": "max_age",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestEither(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := Either(words); got != want {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
}

func TestSecretsInTargets(t *testing.T) {
	for text, want := range map[string]bool{
		"otlp+http://a:1?url_path=/v1/logs?api_key=x": true, "otlp+http://a:1?url_path=/v1/logs&tls_key=x": false,
		"a://u:p@h:1": true, "a://h:1/x?PassWord=p": true, "a://h:1/x?b=c&token=p": true, "a?passwd=": true,
		"a://:p/w@h:1": true, "a://h:p/w@h:1": true, "a:///w@h:1": false, "a://h:1/w@h": false,
		"file:///a@b": false, "file:a@b": false, "a://h:1/x?password_file=p": false, "a://h:1?u=p@h": false,
		`file:C:\a@b`: false, "a:b?c=d:e@f": false, "a:b,c:d@e": false,
	} {
		if got := HasSecret(text); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
		if _, err := SplitTargets("stdout," + text); (err == ErrSecret) != want {
			t.Errorf("%s: split with %v", text, err)
		}
	}
}

func TestMergeKeepsItsArguments(t *testing.T) {
	base := sample{Count: 1, Text: "base", Fields: map[string]string{"a": "1", "b": "1"}, At: []string{"00:00", "01:00"}}
	over := sample{Text: "over", Fields: map[string]string{"b": "2"}, At: []string{"02:00"}}
	got := base
	Merge(&got, &over)
	want := sample{Count: 1, Text: "over", Fields: map[string]string{"a": "1", "b": "2"}, At: []string{"02:00"}}
	if !reflect.DeepEqual(got, want) || base.Fields["b"] != "1" || len(over.Fields) != 1 {
		t.Errorf("got %+v of %+v and %+v", got, base, over)
	}
}

func TestMergeIntoNothing(t *testing.T) {
	var got sample
	Merge(&got, &sample{Fields: map[string]string{"a": "1"}})
	if !reflect.DeepEqual(got, sample{Fields: map[string]string{"a": "1"}}) {
		t.Errorf("got %+v, want the fields", got)
	}
}

type number int

// TestFieldsWithoutATagAreNoSettings has fields that look like an embedded
// struct, but are not.
func TestFieldsWithoutATagAreNoSettings(t *testing.T) {
	var v struct {
		number
		Named inner
		inner
	}
	if got := Names(Of(&v)); !slices.Equal(got, []string{"zone"}) {
		t.Errorf("got %q, want zone", got)
	}
	if s := Of(&v)[0]; s.Set("UTC") != nil || v.Zone != "UTC" || v.Named.Zone != "" || v.number != 0 {
		t.Errorf("got %+v, want the zone of the embedded struct", v)
	}
}

func TestNameOfAChoiceInErrors(t *testing.T) {
	var v struct {
		Mode string `set:"too_long" is:"cut|reject"`
	}
	const want = `"x" is not a too long (want cut or reject)`
	if err := Of(&v)[0].Set("x"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestParamError(t *testing.T) {
	for param, want := range map[string]string{"": "is set twice", "max_size": "max_size: is set twice"} {
		err := error(&ParamError{param, ErrTwice})
		if err.Error() != want || !errors.Is(err, ErrTwice) {
			t.Errorf("got %v, want %s, which wraps ErrTwice", err, want)
		}
	}
}

func TestShortenCutsAtARune(t *testing.T) {
	for n, want := range map[int]string{98: "ä…", 99: "…"} {
		x := strings.Repeat("x", n)
		if got := Shorten(x + "äöü"); got != x+want {
			t.Errorf("%d bytes before: got %q, want %s", n, got, want)
		}
	}
	if got, want := Shorten(strings.Repeat("\x80", 101)), strings.Repeat("\x80", 96)+"…"; got != want {
		t.Errorf("without the beginning of a rune: got %q, want %q", got, want)
	}
	whole := strings.Repeat("x", 100)
	if got := Shorten(whole); got != whole {
		t.Errorf("got %q of 100 bytes", got)
	}
}

func TestFind(t *testing.T) {
	list := Of(new(sample))
	for i := range list {
		if got := Find(list, list[i].Name); got != &list[i] {
			t.Errorf("%s: got %v", list[i].Name, got)
		}
	}
	if got := Find(list, "wiat"); got != nil {
		t.Errorf("got %v for a name that no setting has", got.Name)
	}
}

func TestUnknownSuggests(t *testing.T) {
	err := Unknown("Wiat", Of(new(sample)))
	if err == nil || !strings.HasPrefix(err.Error(), "there is no such setting (did you mean wait?) (want size, small, ") {
		t.Errorf("got %v", err)
	}
}

func TestSetDefaults(t *testing.T) {
	type config struct {
		Size    int64         `set:"size" is:"size" default:"8KiB"`
		Count   int           `set:"count" default:"512"`
		Wait    time.Duration `set:"wait" default:"1m30s"`
		Mode    fs.FileMode   `set:"mode" default:"0640"`
		Backups int           `set:"backups" default:"all"`
		Age     time.Duration `set:"age" default:"any"`
		Name    string        `set:"name" default:"nib"`
		Other   int           // not a setting
	}
	c := config{Count: 3}
	SetDefaults(&c)
	if want := (config{Size: 8192, Count: 3, Wait: 90 * time.Second, Mode: 0o640}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func TestSplitTargets(t *testing.T) {
	for list, want := range map[string][]string{
		"":                                     {""},
		"stdout,stderr":                        {"stdout", "stderr"},
		"stdout,b:1":                           {"stdout", "b:1"},
		"kafka://a:1,b:2,c:3/l?x=1,d:4":        {"kafka://a:1,b:2,c:3/l?x=1", "d:4"},
		"kafka://[::1]:1,[::2]:2/l,file:/x":    {"kafka://[::1]:1,[::2]:2/l", "file:/x"},
		"syslog+tcp://a:1,stdout":              {"syslog+tcp://a:1", "stdout"},
		"syslog+tcp://a:1,file:/x":             {"syslog+tcp://a:1", "file:/x"},
		"syslog+tcp://a:1,syslog+tcp://b:1":    {"syslog+tcp://a:1", "syslog+tcp://b:1"},
		"file:///x,b:1":                        {"file:///x", "b:1"},
		"kafka://a:1,b/l":                      {"kafka://a:1", "b/l"},
		"file:a%2Cb,kafka://a:1/l?spool=/x,,y": {"file:a%2Cb", "kafka://a:1/l?spool=/x", "", "y"},
	} {
		if got, err := SplitTargets(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", list, got, err, want)
		}
	}
}
