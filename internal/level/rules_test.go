// SPDX-License-Identifier: Apache-2.0

package level_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/must"
)

func TestFindTakesTheRuleThatIsMostToThePoint(t *testing.T) {
	for _, x := range []struct{ rules, name, want string }{
		{"", "db", "info"},
		{"warn", "", "warn"},
		{"warn", "db", "warn"},
		{"*=warn", "db", "warn"},
		{"warn,db=debug", "db", "debug"},
		{"db=debug,warn", "db", "debug"},
		{"warn,db=debug", "db.pool", "debug"},
		{"warn,db=debug", "dbx", "warn"},
		{"warn,db=debug,db.pool=error", "db.pool.idle", "error"},
		{"warn,db.pool=error,db=debug", "db.pool.idle", "error"},
		{"warn,http.*=error", "http", "warn"},
		{"warn,http.*=error", "http.client", "error"},
		{"http=trace,http.*=error", "http.client", "error"},
		{"http.*=error,http=trace", "http", "trace"},
		{"db=debug,db=error", "db", "error"},
		{" warn , db = info+2 ,", "db", "info+2"},
		{"", "*", "info"},
		{"warn", "*", "warn"},
		{"warn,db=debug,http.*=trace", "*", "trace"},
		{"db=error", "*", "info"},
		{"warn,db=error", "*", "warn"},
		{"warn,db=error", "db.*", "error"},
		{"warn,db.pool=debug,http=trace", "db.*", "trace"},
	} {
		rules, err := level.ParseRules(x.rules)
		if err != nil {
			t.Errorf("%q: %v", x.rules, err)
		}
		if got := level.String(level.Find(rules, x.name, 0)); got != x.want {
			t.Errorf("%q for %q: got %s, want %s", x.rules, x.name, got, x.want)
		}
	}
}

func TestParseRulesNamesAllFaults(t *testing.T) {
	_, err := level.ParseRules("wran,db=debug,=info,a*b=warn,x=,http.*=erorr")
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{`"wran"`, `rule "=info": nib: a name is missing`, `rule "a*b=warn": nib: a *`, `rule "x="`, `"erorr"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s in it", err, want)
		}
	}
	if strings.Contains(err.Error(), "db=debug") {
		t.Errorf("got %v\nbut db=debug is right", err)
	}
}

// A rule for a name that results from a typing error changes no level.
func TestParseRulesRefusesNamesOfTypingErrors(t *testing.T) {
	const separator, part = "commas between rules", "a part of the name is empty"
	for rules, want := range map[string]string{
		"info;db=debug":         separator,
		"info db=debug":         separator,
		"info\tdb.*=debug":      separator,
		"info\u00a0db=debug":    separator,
		"db.=debug":             part,
		".db=debug":             part,
		"db..pool=debug":        part,
		"db..*=debug":           part,
		"info,. = debug,a=warn": part,
	} {
		if _, err := level.ParseRules(rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q in it", rules, err, want)
		}
	}
	for _, rules := range []string{"db-2/pool_x:y@[::1]=debug", "größe.日本=debug"} {
		if _, err := level.ParseRules(rules); err != nil {
			t.Errorf("%q: %v", rules, err)
		}
	}
}

func FuzzRulesComeBack(f *testing.F) {
	f.Add("warn,db=debug,http.*=error", "http.client")
	f.Add("*=info+2,a.b=-4", "a.b.c")
	f.Fuzz(func(t *testing.T, s, name string) {
		rules, err := level.ParseRules(s)
		if err != nil {
			return
		}
		text := level.Format(rules)
		again, err := level.ParseRules(text)
		if err != nil || level.Format(again) != text || level.Find(again, name, 0) != level.Find(rules, name, 0) {
			t.Errorf("%q became %q and then %q, %v", s, text, level.Format(again), err)
		}
	})
}

// A name may be asked for while the rules change; in the end all have the last
// ones.
func TestNamesFollowTheRules(t *testing.T) {
	var table level.Table
	var group sync.WaitGroup
	all := []string{"db", "db.pool", "x", "*"}
	var names []*level.Named
	for _, name := range all {
		names = append(names, table.Of(name, nil))
	}
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 1000 {
				for _, n := range names {
					_ = n.Level()
				}
			}
		}()
	}
	for i := range 200 {
		rules := []string{"warn,db=debug", "error", "x=trace,db.pool=-1"}[i%3]
		must.Succeed(t, table.Set(rules))
	}
	group.Wait()
	for i, n := range names {
		rules, _ := level.ParseRules(table.String())
		if want := level.Find(rules, all[i], 0); int(n.Level()) != want {
			t.Errorf("%s: got %v, want %d", all[i], n.Level(), want)
		}
	}
}

// A level is found once for a logger and those made of it with the same name.
func TestNamesAreKeptByTheirLoggers(t *testing.T) {
	var table, other level.Table
	n := table.Of("db", nil)
	if table.Of("db", n) != n || table.Of("x", n) == n || other.Of("db", n) == n {
		t.Error("the level of another name or table was kept, or its own was not")
	}
}
