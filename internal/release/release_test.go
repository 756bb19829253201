// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cloned makes a repository with one commit, whose modules require each other
// at v0.1.0, and clones it for v0.3.0. Files replace or add to its own.
func cloned(t *testing.T, files map[string]string) *repository {
	t.Helper()
	all := published
	t.Cleanup(func() { published = all })
	published = []string{".", "bridge/niblogrus", "allocs", "cmd/nib"}
	own := "require " + rootPath + " v0.1.0\n"
	contents := map[string]string{
		"LICENSE":               "Apache-2.0\n",
		"a.go":                  "package nib\n",
		"go.mod":                "module " + rootPath + "\n\ngo 1.24\n",
		"bridge/niblogrus/b.go": "package niblogrus\n",
		"bridge/niblogrus/go.mod": "module " + rootPath + "/bridge/niblogrus\n\n" + own +
			"replace " + rootPath + " => ../..\n",
		"allocs/go.mod":  "module " + rootPath + "/allocs\n",
		"cmd/nib/go.mod": "module " + rootPath + "/cmd/nib\n\n" + own,
		"bench/go.mod":   "module " + rootPath + "/bench\n\n" + own,
	}
	maps.Copy(contents, files)
	dir := t.TempDir()
	for name, text := range contents {
		name = filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := script(dir, nil, "git init -q\ngit add -A\n"+
		"git -c user.name=t -c user.email=t@example.com commit -q -m first")
	if err != nil {
		t.Fatal(err)
	}
	r, err := clone(dir, filepath.Join(t.TempDir(), "nib"), "v0.3.0")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLint(t *testing.T) {
	const revision = " v1.2.4-0.20260918054303-01f206a7e32c\n"
	for _, c := range []struct{ folder, more, want string }{
		{"bench/x", "", ""},
		{"bridge/x", "", "bridge/x/go.mod: add the module to published"},
		{"allocs/testdata/m", "", ""},
		{"bridge/niblogrus", "replace example.com/x => ../x\n",
			"replaces example.com/x, which has no effect"},
		{"bridge/niblogrus", "require example.com/x" + revision, "is not a release"},
		{"bridge/niblogrus", "require google.golang.org/genproto/googleapis/rpc" + revision,
			"is not a release"},
		{"cmd/nib", "require example.com/x" + revision, ""},
	} {
		mod := "module " + pathOf(c.folder) + "\n\n" + c.more
		err := cloned(t, map[string]string{c.folder + "/go.mod": mod}).lint()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", mod, err, c.want)
		}
	}
}

// A packed module requires the version, has its files only, and a license.
func TestPack(t *testing.T) {
	s, proxy := cloned(t, nil), t.TempDir()
	if err := s.pack(proxy); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(proxy, rootPath, "bridge/niblogrus", "@v", "v0.3.0")
	mod, err := os.ReadFile(at + ".mod")
	if err != nil || !strings.Contains(string(mod), rootPath+" v0.3.0") {
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
	const text = "x\n```go\npackage main\n```\n  ```sh\n  nib version # y\n  ```\n" +
		"```\nplain\n```\n    cd bench\n"
	want := []block{{"a", 1, "text", "x\n"}, {"a", 2, "go", "package main\n"},
		{"a", 5, "sh", "  nib version # y\n"}, {"a", 8, "", "plain\n"},
		{"a", 11, "text", "    cd bench\n"}}
	if got := blocksOf("a", text); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSettings(t *testing.T) {
	const text = "x `NIB_LEVEL=warn,db=debug`, or NIB_FORMAT=ecs.\n" +
		"NIB_OUTPUT='file:/a?b=1&c=2' ./x # \"NIB_CRASH=on\"\n" +
		"NIB_SEED=1 NIB_FIELDS=… NIB_TIMEOUT=\n"
	want := []string{"NIB_LEVEL=warn,db=debug", "NIB_FORMAT=ecs",
		"NIB_OUTPUT=file:/a?b=1&c=2", "NIB_CRASH=on"}
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
		"nib relay /var/spool --to x\n":                 "nib relay --once /var/spool --to x\n",
		"nib relay --once /var/spool\n":                 "nib relay --once /var/spool\n",
	} {
		if got := scriptOf(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
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
