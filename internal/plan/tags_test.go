// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA5008 tags that are not as they should be are what is tested here

package plan

import (
	"reflect"
	"testing"
	"time"
)

// mustAppend encodes v at an address, or fails the test.
func mustAppend(t *testing.T, v any) string {
	t.Helper()
	got, err := append1(v, MaxDepth)
	if err != nil {
		t.Fatalf("%T: %v", v, err)
	}
	return string(got)
}

func TestNamesFromTags(t *testing.T) {
	got := mustAppend(t, struct {
		A int `json:"quo\"te"`
		B int `json:"back\\slash"`
		C int `json:"com,ma"`
		D int `json:"!#$%&()*+-./:;<=>?@[]^_{|}~ "`
		E int `json:"Ünïcödé9"`
		F int `json:"☃"`
		G int `json:"-"`
		H int `json:"-,"`
		I int `json:""`
		J int `xml:"j"`
		K int `json:",omitempty"`
		L int "json:\"tab\t\""
	}{K: 1})
	const want = `{"A":0,"B":0,"com":0,"!#$%&()*+-./:;<=>?@[]^_{|}~ ":0,"Ünïcödé9":0,"F":0,"-":0,"I":0,"J":0,"K":1,"L":0}`
	if got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

type (
	Credentials struct {
		User     string
		Password string `log:"mask"`
		Key      []byte `log:"-"`
	}
	Public struct {
		Credentials
		Password string `log:"-"`
	}
	Times struct {
		A time.Duration  `log:"unit=s"`
		B time.Duration  `log:"unit=ms"`
		C time.Duration  `log:"unit=us"`
		D time.Duration  `log:"unit=ns"`
		E *time.Duration `log:"unit=ms"`
		F time.Duration  `json:",string" log:"unit=ms"`
		G *time.Duration `json:",string,omitempty" log:"unit=s"`
		H time.Duration  `json:",omitempty" log:"unit=ms"`
		I time.Duration
	}
)

func TestLogTags(t *testing.T) {
	d := 1500 * time.Microsecond
	cases := []struct {
		v    any
		want string
	}{
		{Credentials{"ada", "secret", []byte("k")}, `{"User":"ada","Password":"***"}`},
		{struct{ C Credentials }{Credentials{Password: "x"}}, `{"C":{"User":"","Password":"***"}}`},
		{struct{ C *Credentials }{&Credentials{Password: "x"}}, `{"C":{"User":"","Password":"***"}}`},
		{struct {
			Credentials `log:"mask"`
			ID          int
		}{}, `{"User":"***","Password":"***","ID":0}`},
		{struct {
			Credentials `log:"-"`
			ID          int
		}{}, `{"ID":0}`},
		{struct {
			*Credentials `log:"mask"`
		}{}, `{}`},
		{struct {
			*Credentials `log:"mask"`
		}{&Credentials{}}, `{"User":"***","Password":"***"}`},
		{Public{Credentials{"ada", "secret", nil}, "other"}, `{"User":"ada"}`}, // hidden, but it hides
		{Times{A: d, B: d, C: d, D: d, E: &d, F: d, G: &d, I: d}, `{"A":0.0015,"B":1.5,"C":1500,"D":1500000,"E":1.5,"F":"1.5","G":"0.0015","I":1500000}`},
		{Times{A: -d, H: 1}, `{"A":-0.0015,"B":0,"C":0,"D":0,"E":null,"F":"0","H":0.000001,"I":0}`},
	}
	for _, c := range cases {
		if got := mustAppend(t, c.v); got != c.want {
			t.Errorf("%T:\ngot  %s\nwant %s", c.v, got, c.want)
		}
	}
}

func TestMaskedFields(t *testing.T) {
	v := struct {
		A string   `json:"a,omitempty" log:"mask"`
		B *int     `json:",omitempty" log:"mask"`
		C *int     `log:"mask"`
		D []string `log:"mask"`
		E chan int `log:"mask"`
		F []byte   `json:",omitzero" log:"mask"`
	}{A: "x"}
	const want = `{"a":"***","C":"***","D":"***","E":"***"}`
	if got := mustAppend(t, v); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

func TestFaultyLogTags(t *testing.T) {
	const options = "; there are -, mask, unit=s, unit=ms, unit=us, unit=ns"
	cases := []struct {
		v    any
		want string
	}{
		{struct {
			A int `log:"masked"`
		}{}, `.A: the tag log:"masked" has an unknown option "masked"` + options},
		{struct {
			A int `log:"mask, unit=ms"`
		}{}, `.A: the tag log:"mask, unit=ms" has an unknown option " unit=ms"` + options},
		{struct {
			A time.Duration `log:"unit=min"`
		}{}, `.A: the tag log:"unit=min" has an unknown option "unit=min"` + options},
		{struct {
			A int64 `log:"unit=ms"`
		}{}, `.A: the tag log:"unit=ms" is for a time.Duration or a pointer to one, not for int64`},
		{struct {
			Credentials `log:"unit=s"`
		}{}, `.Credentials: the tag log:"unit=s" is for a time.Duration or a pointer to one, not for plan.Credentials`},
		{struct {
			B *[]map[string]struct {
				C int `log:"?"`
			}
		}{}, `.B[][].C: the tag log:"?" has an unknown option "?"` + options},
	}
	for _, c := range cases {
		want := "nib/schema: " + reflect.TypeOf(c.v).String() + c.want
		p := Of(reflect.TypeOf(c.v))
		if p.Err() == nil || p.Err().Error() != want {
			t.Errorf("got  %v\nwant %s", p.Err(), want)
		}
		if _, err := append1(c.v, MaxDepth); err == nil {
			t.Errorf("%T: got no error when encoding it", c.v)
		}
		if _, err := AppendAny(nil, []any{c.v}, top); err == nil {
			t.Errorf("%T: got no error when encoding it within an interface", c.v)
		}
	}
}

type (
	hidden        struct{ text string }
	hiddenString  string
	hiddenPointer struct{ Text string }
)

func (hidden) IsSecret()         {}
func (hiddenString) IsSecret()   {}
func (*hiddenPointer) IsSecret() {}

func (hidden) MarshalJSON() ([]byte, error) { panic("asked for what is secret") }

func TestSecretsAreMaskedWhereverTheyStand(t *testing.T) {
	h := hidden{"seen"}
	v := struct {
		A hidden
		B *hidden
		C []hidden
		D map[string]hidden
		E any
		F any
		G hiddenString `json:",string"`
		H hiddenPointer
		I [2]hiddenString
		J hiddenString `json:",omitempty"`
		K *hidden
		L []hiddenString
		M any
	}{A: h, B: &h, C: []hidden{h}, D: map[string]hidden{"k": h}, E: h, F: &h, G: "seen", H: hiddenPointer{"seen"}, M: hiddenPointer{"seen"}}
	const want = `{"A":"***","B":"***","C":["***"],"D":{"k":"***"},"E":"***","F":"***","G":"***","H":"***","I":["***","***"],"K":null,"L":null,"M":"***"}`
	if got := mustAppend(t, v); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
	if !Of(reflect.TypeFor[hidden]()).Plain() {
		t.Error("got a plan that runs code of the user's for a secret")
	}
	if _, err := append1(map[hiddenString]int{"seen": 1}, MaxDepth); err == nil {
		t.Error("got no error for secrets as keys of a map")
	}
}

func TestFieldTable(t *testing.T) {
	type table struct {
		Deep
		Took time.Duration `json:"took,omitzero,string" log:"unit=ms"`
		Pass string        `json:",omitempty" log:"mask"`
		Gone int           `log:"-"`
	}
	want := []Field{
		{Name: "low", Path: "Deep.Low", Index: []int{0, 2}, Type: reflect.TypeFor[string]()},
		{Name: "took", Path: "Took", Index: []int{1}, Type: typeDuration, OmitZero: true, Quoted: true, Unit: "ms"},
		{Name: "Pass", Path: "Pass", Index: []int{2}, Type: reflect.TypeFor[string](), OmitEmpty: true, Masked: true},
	}
	byName := map[string]Field{}
	for _, f := range Of(reflect.TypeFor[table]()).Fields() {
		byName[f.Name] = f
	}
	for _, w := range want {
		if got := byName[w.Name]; !reflect.DeepEqual(got, w) {
			t.Errorf("\ngot  %+v\nwant %+v", got, w)
		}
	}
	if _, ok := byName["Gone"]; ok {
		t.Error("got a field that is left out")
	}
}
