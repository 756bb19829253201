// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding"
	"encoding/json"
	"strings"
	"testing"
)

// The secrets of these tests contain the word hidden.
type (
	SecretByValue   struct{ A string }
	SecretByPointer struct{ B string }
	secretMarshaler struct{ S string }
	secretReceiver  struct{ S string }
	inheritsNone    struct { // each promotes IsSecret, so neither does
		SecretByValue
		*SecretByPointer
		Open string
	}
	shadowsMethod struct {
		SecretByValue
		IsSecret bool
	}
)

func (SecretByValue) IsSecret()                              {}
func (*SecretByPointer) IsSecret()                           {}
func (secretMarshaler) IsSecret()                            {}
func (s secretMarshaler) MarshalJSON() ([]byte, error)       { return json.Marshal(s.S) }
func (s secretMarshaler) MarshalText() ([]byte, error)       { return []byte(s.S), nil }
func (*secretReceiver) IsSecret()                            {}
func (s secretReceiver) MarshalJSON() ([]byte, error)        { return json.Marshal(s.S) }
func (s secretReceiver) MarshalText() (text []byte, _ error) { return []byte(s.S), nil }

func TestSecretsInEveryPlace(t *testing.T) {
	const hidden = "hidden"
	type texts = encoding.TextMarshaler
	for _, test := range []struct {
		value any
		want  string
	}{
		{inheritsNone{SecretByValue{hidden}, &SecretByPointer{hidden}, "open"}, `{"A":"***","B":"***","Open":"open"}`},
		{&inheritsNone{}, `{"A":"***","Open":""}`},
		{shadowsMethod{SecretByValue{hidden}, true}, `{"A":"***","IsSecret":true}`},
		{struct{ V json.Marshaler }{secretMarshaler{hidden}}, `{"V":"***"}`},
		{&struct{ V texts }{secretMarshaler{hidden}}, `{"V":"***"}`},
		{[]json.Marshaler{&secretMarshaler{hidden}, secretReceiver{hidden}, (*secretReceiver)(nil)}, `["***","***",null]`},
		{map[string]texts{"k": &secretMarshaler{hidden}, "v": secretReceiver{hidden}}, `{"k":"***","v":"***"}`},
		{struct{ V json.Marshaler }{textThenJSONByValue{}}, `{"V":"json"}`},
		{map[secretMarshaler]int{{hidden}: 1}, ""},
		{map[*secretMarshaler]int{{hidden}: 1}, ""},
		{map[texts]int{secretMarshaler{hidden}: 1}, ""},
		{map[texts]int{&secretReceiver{hidden}: 1}, ""},
	} {
		got, err := AppendAny(nil, test.value, top)
		if string(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%T: got %s and error %v, want %s", test.value, got, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), hidden) {
			t.Errorf("%T: the error %q has the secret", test.value, err)
		}
	}
}

// textThenJSONByValue is not a secret.
type textThenJSONByValue struct{}

func (textThenJSONByValue) MarshalJSON() ([]byte, error) { return []byte(`"json"`), nil }
