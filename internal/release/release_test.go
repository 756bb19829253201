// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"debug/buildinfo"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
)

// checkout makes a repository with one commit, whose modules require each other
// at v0.1.0. Files replace or add to its own.
func checkout(t *testing.T, files map[string]string) *repository {
	t.Helper()
	all := published
	t.Cleanup(func() { published = all })
	published = []string{".", "bridge/niblogrus", "allocs", "cmd/nib"}
	own := "require " + rootPath + " v0.1.0\n"
	contents := map[string]string{
		"LICENSE":                 "Apache-2.0\n",
		"a.go":                    "package nib\n",
		"go.mod":                  "module " + rootPath + "\n\ngo 1.24\n",
		"bridge/niblogrus/b.go":   "package niblogrus\n",
		"bridge/niblogrus/go.mod": "module " + rootPath + "/bridge/niblogrus\n\n" + own + "replace " + rootPath + " => ../..\n",
		"allocs/go.mod":           "module " + rootPath + "/allocs\n",
		"cmd/nib/go.mod":          "module " + rootPath + "/cmd/nib\n\n" + own + "require " + rootPath + "/allocs v0.1.0\n",
		"bench/go.mod":            "module " + rootPath + "/bench\n\n" + own,
	}
	maps.Copy(contents, files)
	dir := t.TempDir()
	for name, text := range contents {
		write(t, filepath.Join(dir, name), text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		c := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-C", dir}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	r, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// wantError checks that an error has a text, or is nil without one.
func wantError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %q", name, err, want)
	}
}

func TestLint(t *testing.T) {
	for _, c := range []struct{ file, more, want string }{
		{"bench/x/go.mod", "module " + rootPath + "/bench/x\n", ""},
		{"bridge/x/go.mod", "module " + rootPath + "/bridge/x\n", "bridge/x/go.mod: add the module to published"},
		{"allocs/testdata/m/go.mod", "module example.com/m\n", ""},
		{"cmd/nib/go.mod", "module " + rootPath + "/cmd/nib\n\nreplace " + rootPath + " => ../..\n", "go install refuses"},
		{"bridge/niblogrus/go.mod", "module " + rootPath + "/bridge/niblogrus\n\nreplace example.com/x => ../x\n",
			"replaces example.com/x, which has no effect"},
		{"bridge/niblogrus/go.mod", "module " + rootPath + "/bridge/niblogrus\n\nrequire " + rootPath + "/bench v0.1.0\n",
			"requires " + rootPath + "/bench, which is not published"},
		{"allocs/go.mod", "module example.com/allocs\n", "got module example.com/allocs"},
	} {
		wantError(t, c.file, checkout(t, map[string]string{c.file: c.more}).lint(), c.want)
	}
}

func TestGraph(t *testing.T) {
	const kafka, revision = rootPath + "/dest/kafka@v0.1.0 ", "example.com/x@v0.0.0-20260918054303-01f206a7e32c\n"
	for _, c := range []struct{ folder, graph, want string }{
		{"dest/kafka", kafka + rootPath + "@v0.1.0\n" + kafka + "example.com/client@v1.2.3\n", ""},
		{".", rootPath + "@v0.1.0 example.com/x@v1.0.0\n", "want no requirement"},
		{".", rootPath + "@v0.1.0 go@1.24\n", ""},
		{"dest/kafka", kafka + rootPath + "@v0.0.0\n", "want v0.1.0"},
		{"dest/kafka", kafka + revision, "is not a release"},
		{"dest/kafka", kafka + "example.com/x@v1.2.4-0.20260918054303-01f206a7e32c\n", "is not a release"},
		{"cmd/nib", rootPath + "/cmd/nib@v0.1.0 " + revision, ""},
		{"bridge/nibgrpc", kafka + "google.golang.org/genproto/googleapis/rpc@v0.0.0-20260817212433-ac3dfec99bb1\n", ""},
		{"dest/kafka", "example.com/get " + revision, ""},
	} {
		u := &user{repository: &repository{version: "v0.1.0"}}
		wantError(t, c.graph, u.graph(c.folder, c.graph), c.want)
	}
}

// A packed module requires the version, has its files only, and a license.
func TestPack(t *testing.T) {
	s, err := checkout(t, nil).stage(filepath.Join(t.TempDir(), "nib"), "v0.3.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.pack(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(s.proxy, rootPath, "bridge/niblogrus", "@v", "v0.3.0")
	if mod, err := os.ReadFile(at + ".mod"); err != nil || !strings.Contains(string(mod), rootPath+" v0.3.0") {
		t.Errorf("got %s, %v", mod, err)
	}
	z, err := zip.OpenReader(at + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, strings.TrimPrefix(f.Name, rootPath+"/bridge/niblogrus@v0.3.0/"))
	}
	slices.Sort(names)
	if want := []string{"LICENSE", "b.go", "go.mod"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestBlocks(t *testing.T) {
	const text = "x\n```go\npackage main\n```\n  ```sh\n  nib version # y\n  ```\n```\nplain\n```\n    cd bench\n"
	want := []block{{"a", 1, "text", "x\n"}, {"a", 2, "go", "package main\n"}, {"a", 5, "sh", "  nib version # y\n"},
		{"a", 8, "", "plain\n"}, {"a", 11, "text", "    cd bench\n"}}
	if got := blocksOf("a", text); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFilesOfTheReaderMayBeMissing(t *testing.T) {
	const exit, missing = "program: exit status 1\n", "\tnib/setup: NIB_OUTPUT[0].tls_ca: open /etc/ca.pem: no such file or directory\n"
	for text, want := range map[string]bool{
		exit: false, exit + missing: true, exit + missing + missing: true,
		exit + missing + "\tnib/setup: NIB_OUTPUT[0].tls_ac: unknown\n": false,
	} {
		if got := lacksFilesOnly(errors.New(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	const text = "x `NIB_LEVEL=warn,db=debug`, or NIB_FORMAT=ecs.\nNIB_OUTPUT='file:/a?b=1&c=2' ./x # \"NIB_CRASH=on\"\n" +
		"NIB_SEED=1 NIB_FIELDS=… NIB_TIMEOUT=\n"
	want := []string{"NIB_LEVEL=warn,db=debug", "NIB_FORMAT=ecs", "NIB_OUTPUT=file:/a?b=1&c=2", "NIB_CRASH=on"}
	if got := settingsOf(text); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnmarkedCommands(t *testing.T) {
	for text, want := range map[string]bool{
		"go install example.com/x@latest\n": true, "$ ls\n": true, "allocs -v\n": true,
		"goroutine 1 [running]:\n": false, "nib/setup: x\n": false, "[Service]\n": false,
	} {
		if got := isCommand.MatchString(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestScript(t *testing.T) {
	for text, want := range map[string]string{
		"# a comment\n$ nib version\nallocs \\\n  -v\n": "nib version\nallocs    -v\n",
		"cd e2e\ngo test ./crash\n":                     "",
		"nib version\nrsyslogd -N1\n":                   "nib version\n",
		"nib relay /var/spool --to file:/x\n":           "nib relay --once /var/spool --to file:/x\n",
	} {
		if got := scriptOf(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Each module that "go version -m" lists for a binary has its license text; the
// binary here is this test. A module without one is an error.
func TestLicenses(t *testing.T) {
	info, err := buildinfo.ReadFile(os.Args[0])
	if err != nil || len(info.Deps) == 0 {
		t.Fatalf("%v, or this test has no modules to look for", err)
	}
	cache, goroot := t.TempDir(), t.TempDir()
	write(t, filepath.Join(goroot, "LICENSE"), "of Go")
	places := map[string]string{}
	for _, m := range append(info.Deps, &info.Main) {
		escaped, _ := module.EscapePath(m.Path)
		places[m.Path] = filepath.Join(cache, escaped+"@"+m.Version)
		for _, name := range []string{"COPYING", "notice.go", "sub/LICENSE.md", "testdata/LICENSE", "main.go"} {
			write(t, filepath.Join(places[m.Path], name), m.Path)
		}
	}
	write(t, filepath.Join(places[info.Main.Path], "view/page/dist/licenses/svelte@5/LICENSE"), "of svelte")
	got, err := licensesOf(os.Args[0], cache, goroot)
	page := info.Main.Path + "@" + info.Main.Version + "/view/page/dist/licenses/svelte@5/LICENSE"
	if err != nil || got[info.GoVersion+"/LICENSE"] != "of Go" || got[page] != "of svelte" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, m := range info.Deps {
		name := m.Path + "@" + m.Version
		if got[name+"/COPYING"] != m.Path || got[name+"/sub/LICENSE.md"] != m.Path || got[name+"/testdata/LICENSE"] != "" ||
			got[name+"/notice.go"] != "" {
			t.Errorf("%s: got %q", m.Path, slices.Sorted(maps.Keys(got)))
		}
	}
	if err := errors.Join(os.RemoveAll(places[info.Deps[0].Path]), os.MkdirAll(places[info.Deps[0].Path], 0o755)); err != nil {
		t.Fatal(err)
	}
	_, err = licensesOf(os.Args[0], cache, goroot)
	wantError(t, "a module without a license", err, info.Deps[0].Path+"@"+info.Deps[0].Version+": has no license file")
}

// Entries about a release are below the headings of its areas. A list in front
// of them comes from a wrong merge of the change log.
func TestChangeLogHasNoEntriesOutsideOfAreas(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## v0.1.0")
	before, _, _ := strings.Cut(section, "\n### ")
	if strings.Contains(before, "\n- ") {
		t.Errorf("v0.1.0: entries stand in front of the first area: %q", before)
	}
}
