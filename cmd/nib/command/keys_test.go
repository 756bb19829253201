// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The flag has the program's own keys, or a file in the directory or the home,
// for each verb.
func TestOwnKeysOfALog(t *testing.T) {
	const keys = "time=when,level=app.sev,message=what"
	const failed = `{"when":"2026-11-27T09:30:00Z","app":{"sev":"error"},"what":"failed","n":1}` + "\n"
	const served = `{"when":"2026-11-27T09:31:00Z","app":{"sev":"info"},"what":"served","n":2}` + "\n"
	write := func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	here, home := t.TempDir(), t.TempDir()
	t.Chdir(here)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", home)
	write("app.log", failed+served)
	check := func(args, want string) {
		t.Helper()
		code, stdout, stderr := run(append(strings.Split(args, "|"), "app.log")...)
		if code > 1 || !strings.Contains(stdout, want) {
			t.Errorf("%s: got %d\n%s%swant\n%s", args, code, stdout, stderr, want)
		}
	}
	all := func(flag string) {
		t.Helper()
		check("cat|-l|warn"+flag, failed)
		check("cat|--utc|-o|console"+flag, "11-27 09:30:00.000 ERROR failed  ")
		check("cat|-o|csv|--fields|time,level,message"+flag, "T09:31:00Z,info,served\n")
		check("cat|--utc|--since|2026-11-27 09:30:30"+flag, served)
		check("tail|--no-follow|-q|message = failed"+flag, failed)
		check("stat"+flag, "1  failed\n")
		check("stat|--by|level"+flag, "1  error\n")
	}
	all("|--keys|" + keys)
	write(filepath.Join(home, ".nibkeys"), keys+"\n")
	all("")
	write(".nibkeys", "message=n")
	check("stat", "2  *\n") // a pattern
	all("|--keys|" + keys)
	write(".nibkeys", strings.ReplaceAll(keys, ",", ",\r\n")+"\n\n")
	all("")
	write(".nibkeys", strings.ReplaceAll(keys, ",", "\n"))
	all("")

	write("app.log", `{"app":{"sev":"error"},"what":"failed","message":"other"}`+"\n")
	check("cat|-o|console|--keys|"+keys, "failed ")

	const want = `want time=KEY, level=KEY or message=KEY`
	code, _, stderr := run("cat", "--keys", "msg=x", "app.log")
	if code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("got %d and %s, want %s", code, stderr, want)
	}
	write(".nibkeys", "message")
	for _, verb := range []string{"cat", "tail", "stat"} {
		if code, _, stderr := run(verb, "app.log"); code != 2 || !strings.Contains(stderr, ".nibkeys: ") {
			t.Errorf("%s: got %d and %s, want an error that names the file", verb, code, stderr)
		}
	}
}

func TestOwnKeysWhereTheHomeCannotBeRead(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", os.DevNull)
	must(t, os.WriteFile("app.log", []byte("started\n"), 0o600))
	if code, stdout, stderr := run("cat", "app.log"); code != 0 || stdout != "started\n" {
		t.Errorf("got %d, %q and %s, want the line", code, stdout, stderr)
	}
}
