// SPDX-License-Identifier: Apache-2.0

package roots_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/roots"
)

const spelled = `package cache

type Cache[K comparable, V any] struct{}

func (c *Cache[K, V]) Get(k K) (v V) { return v }
func (c *Cache[K, V]) Set(k K, v V)  {}

type Entry struct{}

func (e Entry) Get() {}
func (e *Entry) Close() {}
func (e *Entry) Reset() {}
func Reset()            {}

func New() {}
func Newest() {}
func Map[K comparable](k K) {}
func init() {}
func init() {}
`

// The module's path is example.com/m, its package is named cache.
func TestRootTakesTheSpellingsThatPeopleUse(t *testing.T) {
	const get, set, closing = "example.com/m.(*Cache[...]).Get", "example.com/m.(*Cache[...]).Set", "example.com/m.(*Entry).Close"
	for name, want := range map[string][]string{
		"example.com/m.(*Cache[...]).Get":  {get},
		"example.com/m.(*Cache[K, V]).Get": {get},
		"example.com/m.(*Cache).Get":       {get},
		"example.com/m.Cache.Get":          {get},
		"example.com/m.Cache[K,V].Get":     {get},
		"m.Cache.Get":                      {get},
		"cache.Cache.Get":                  {get},
		"cache.(*Cache).Get":               {get},
		"(*Cache[K, V]).Get":               {get},
		"(*Cache).Get":                     {get},
		"*Cache.Get":                       {get},
		"Cache.Get":                        {get},
		"Entry.Get":                        {"example.com/m.Entry.Get"},
		"(*Entry).Get":                     {"example.com/m.Entry.Get"},
		"Close":                            {closing},
		"Set":                              {set},
		"New":                              {"example.com/m.New"},
		"m.New":                            {"example.com/m.New"},
		"Reset":                            {"example.com/m.Reset"},
		"Map":                              {"example.com/m.Map[...]"},
		"Map[string]":                      {"example.com/m.Map[...]"},
		"cache.init":                       {"example.com/m.init", "example.com/m.init #2"},
		"example.com/m.(*Cache[...]).*":    {get, set},
		"example.com/m.(*Cache).*":         {get, set},
		"Cache.*":                          {get, set},
		"example.com/m.New*":               {"example.com/m.New", "example.com/m.Newest"},
		"New*":                             {"example.com/m.New", "example.com/m.Newest"},
		"Clo*":                             {closing},
	} {
		set, _, err := find(t, spelled, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, r := range set.Roots {
			got = append(got, r.ID)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestRootThatFitsNothingSuggestsWhatIsNear(t *testing.T) {
	for _, c := range []struct {
		name string
		is   error
		want string
	}{
		{"Get", roots.ErrAmbiguous, "--root Get: the name fits several functions; write one of example.com/m.(*Cache[...]).Get, example.com/m.Entry.Get"},
		{"cache.Entry.get", roots.ErrNoFunction, "did you mean example.com/m.(*Cache[...]).Get, example.com/m.Entry.Get?"},
		{"example.com/other.Newest", roots.ErrNoFunction, "did you mean example.com/m.Newest?"},
		{"Store.Set", roots.ErrNoFunction, "did you mean example.com/m.(*Cache[...]).Set"},
		{"net/http.ListenAndServe", roots.ErrNoFunction, "no such function in the packages"},
		{"Nothing*", roots.ErrNoFunction, "no such function"},
	} {
		_, _, err := find(t, spelled, c.name)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", c.name, err, c.want)
		}
	}
}
