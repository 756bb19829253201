// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkout makes a repository with one commit, whose modules require each other
// at v0.1.0. Files replace or add to its own.
func checkout(t *testing.T, files map[string]string) *repository {
	t.Helper()
	all := published
	t.Cleanup(func() { published = all })
	published = []string{".", "bridge/niblogrus", "dest/kafka", "dest/kafka/embedded", "dest/otlp", "dest/elastic", "allocs", "cmd/nib"}
	own := "require " + rootPath + " v0.1.0\n"
	contents := map[string]string{
		"LICENSE":                    "Apache-2.0\n",
		"CHANGELOG.md":               "# Changes\n\n## Unreleased\n\n- a\n\n## v0.1.0\n\n- b\n",
		"go.mod":                     "module " + rootPath + "\n\ngo 1.24\n",
		"bridge/niblogrus/go.mod":    "module " + rootPath + "/bridge/niblogrus\n\n" + own + "replace " + rootPath + " => ../..\n",
		"dest/kafka/go.mod":          "module " + rootPath + "/dest/kafka\n\n" + own,
		"dest/kafka/embedded/go.mod": "module " + rootPath + "/dest/kafka/embedded\n",
		"dest/otlp/go.mod":           "module " + rootPath + "/dest/otlp\n",
		"dest/elastic/go.mod":        "module " + rootPath + "/dest/elastic\n",
		"allocs/go.mod":              "module " + rootPath + "/allocs\n",
		"cmd/nib/go.mod":             "module " + rootPath + "/cmd/nib\n\n" + own + "require " + rootPath + "/allocs v0.1.0\n",
		"bench/go.mod":               "module " + rootPath + "/bench\n\n" + own,
	}
	for name, text := range files {
		contents[name] = text
	}
	dir := t.TempDir()
	for name, text := range contents {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	r, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-C", dir}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// wantErrors checks that an error has each of some texts, and is nil without.
func wantErrors(t *testing.T, name string, err error, want []string) {
	t.Helper()
	if (err == nil) != (len(want) == 0) {
		t.Errorf("%s: got %v, want %q", name, err, want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: got %v, want %q", name, err, w)
		}
	}
}

func TestLint(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"good", nil, nil},
		{"module in no list", map[string]string{"bridge/unlisted/go.mod": "module " + rootPath + "/bridge/unlisted\n"}, []string{"bridge/unlisted/go.mod: add the module to published"}},
		{"test data", map[string]string{"allocs/testdata/m/go.mod": "module example.com/m\n"}, nil},
		{"program with a replace directive", map[string]string{"cmd/nib/go.mod": "module " + rootPath + "/cmd/nib\n\nreplace " + rootPath + " => ../..\n"}, []string{"go install refuses"}},
		{"library that replaces another module", map[string]string{"bridge/niblogrus/go.mod": "module " + rootPath + "/bridge/niblogrus\n\nreplace example.com/x => ../x\n"}, []string{"replaces example.com/x, which has no effect"}},
		{"requirement that is not published", map[string]string{"bridge/niblogrus/go.mod": "module " + rootPath + "/bridge/niblogrus\n\nrequire " + rootPath + "/bench v0.1.0\n"}, []string{"requires " + rootPath + "/bench, which is not published"}},
		{"path of another folder", map[string]string{"allocs/go.mod": "module example.com/allocs\n"}, []string{"got module example.com/allocs"}},
	} {
		wantErrors(t, c.name, checkout(t, c.files).lint(), c.want)
	}
}

func TestGraph(t *testing.T) {
	const kafka, consumer = rootPath + "/dest/kafka@v0.1.0 ", "example.com/get "
	for _, c := range []struct{ name, folder, graph, want string }{
		{"good", "dest/kafka", kafka + rootPath + "@v0.1.0\n" + kafka + "example.com/client@v1.2.3\n", ""},
		{"requirement of the root", ".", rootPath + "@v0.1.0 example.com/x@v1.0.0\n", "want no requirement"},
		{"go line of the root", ".", rootPath + "@v0.1.0 go@1.24\n", ""},
		{"older version", "dest/kafka", kafka + rootPath + "@v0.0.0\n", "want v0.1.0"},
		{"revision", "dest/kafka", kafka + "example.com/x@v0.0.0-20260918054303-01f206a7e32c\n", "is not a release"},
		{"revision behind a release", "dest/kafka", kafka + "example.com/x@v1.2.4-0.20260918054303-01f206a7e32c\n", "is not a release"},
		{"revision that a program requires", "cmd/nib", rootPath + "/cmd/nib@v0.1.0 example.com/x@v0.0.0-20260918054303-01f206a7e32c\n", ""},
		{"revision of a module without releases", "bridge/nibgrpc", kafka + "google.golang.org/genproto/googleapis/rpc@v0.0.0-20260817212433-ac3dfec99bb1\n", ""},
		{"revision that another module requires", "dest/kafka", consumer + "example.com/x@v0.0.0-20260918054303-01f206a7e32c\n", ""},
	} {
		u := &user{staged: &staged{version: "v0.1.0"}}
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		wantErrors(t, c.name, u.graph(c.folder, c.graph), want)
	}
}

func TestMayTag(t *testing.T) {
	for _, c := range []struct {
		name, version string
		change        func(r *repository)
		want          []string
	}{
		{"good", "v0.1.0", func(*repository) {}, nil},
		{"dirty", "v0.1.0", func(r *repository) {
			if err := os.WriteFile(filepath.Join(r.dir, "new"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, []string{"uncommitted changes"}},
		{"tag of another module", "v0.1.0", func(r *repository) { git(t, r.dir, "tag", "bridge/niblogrus/v0.1.0") }, []string{"the tag bridge/niblogrus/v0.1.0 exists"}},
		{"older than the last", "v0.1.0", func(r *repository) { git(t, r.dir, "tag", "v0.2.0") }, []string{"v0.1.0 is not later than v0.2.0"}},
		{"no section", "v0.2.0", func(*repository) {}, []string{`want a section "## v0.2.0"`}},
	} {
		r := checkout(t, nil)
		c.change(r)
		wantErrors(t, c.name, r.mayTag(c.version), c.want)
	}
}

func TestHasSection(t *testing.T) {
	const text = "# Changes\n\n## Unreleased\n\n## v0.2.0 (2026-12-01)\n\n- x\n\n## v0.1.0\n"
	for version, want := range map[string]bool{"v0.2.0": true, "v0.1.0": false, "v0.2": false, "Unreleased": false} {
		if got := hasSection(text, version); got != want {
			t.Errorf("%s: got %v, want %v", version, got, want)
		}
	}
}

// A module is tagged after all that it requires, whatever the order of the list
// of modules: here most come before those they require there.
func TestPlanTagsWhatIsRequiredFirst(t *testing.T) {
	requires := map[string][]string{
		"bridge/niblogrus":    {".", "dest/kafka", "cmd/nib"},
		"dest/kafka":          {"allocs", "dest/kafka/embedded"},
		"dest/kafka/embedded": {"cmd/nib"},
		"cmd/nib":             {"."},
		"allocs":              {"cmd/nib"},
	}
	files := map[string]string{}
	for folder, list := range requires {
		files[folder+"/go.mod"] = "module " + pathOf(folder) + "\n\nrequire example.com/x v1.0.0\n"
		for _, below := range list {
			files[folder+"/go.mod"] += "require " + pathOf(below) + " v0.1.0\n"
		}
	}
	commands, err := checkout(t, files).plan("v0.1.0", false)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, c := range commands {
		at[c[len(c)-1]] = i
	}
	if len(at) != len(published) {
		t.Fatalf("got %q, want a tag for each of %q", commands, published)
	}
	for folder, list := range requires {
		for _, below := range list {
			if at[tagOf(below, "v0.1.0")] >= at[tagOf(folder, "v0.1.0")] {
				t.Errorf("%s requires %s, but is tagged first: %q", folder, below, commands)
			}
		}
	}
}

func TestPlan(t *testing.T) {
	r := checkout(t, nil)
	commands, err := r.plan("v0.2.0", false)
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, c := range commands {
		if c[0] == "tag" {
			tags = append(tags, c[len(c)-1])
		}
	}
	want := []string{"v0.2.0", "bridge/niblogrus/v0.2.0", "dest/kafka/v0.2.0", "dest/kafka/embedded/v0.2.0", "dest/otlp/v0.2.0", "dest/elastic/v0.2.0", "allocs/v0.2.0", "cmd/nib/v0.2.0"}
	if commands[0][0] != "commit" || !slices.Equal(tags, want) {
		t.Errorf("got %q, want a commit and the tags %q", commands, want)
	}
	if r.git("status", "--porcelain") != "" {
		t.Error("a dry run has changed files")
	}
	if commands, err = r.plan("v0.1.0", true); err != nil || commands[0][0] != "tag" {
		t.Errorf("requirements are up to date: got %q, %v", commands, err)
	}
	if _, err := r.plan("v0.2.0", true); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(r.dir, "cmd/nib/go.mod")); err != nil || strings.Count(string(text), "v0.2.0") != 2 || strings.Contains(string(text), "v0.1.0") {
		t.Errorf("got %s, %v", text, err)
	}
}

// The commands of a plan can be pasted into a shell.
func TestPlanIsPrintedForAShell(t *testing.T) {
	args := []string{"tag", "-m", "github.com/nib-log/nib v0.1.0", "it's", "v0.1.0"}
	out, err := exec.Command("bash", "-c", `printf '%s\n' `+shell(args)).Output()
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); err != nil || !slices.Equal(got, args) {
		t.Errorf("got %q, %v, want %q", got, err, args)
	}
}

func TestPack(t *testing.T) {
	r := checkout(t, map[string]string{"a.go": "package nib\n", "bridge/niblogrus/b.go": "package niblogrus\n"})
	s, err := r.stage(filepath.Join(t.TempDir(), "nib"), "v0.3.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.pack(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(s.proxy, rootPath, "bridge/niblogrus", "@v", "v0.3.0.mod"))
	if err != nil || !strings.Contains(string(mod), rootPath+" v0.3.0") {
		t.Errorf("got %s, %v", mod, err)
	}
	for folder, want := range map[string][]string{".": {"LICENSE", "a.go"}, "bridge/niblogrus": {"LICENSE", "b.go"}} {
		got := contents(t, filepath.Join(s.proxy, rootPath, folder, "@v", "v0.3.0.zip"), versionOf(folder, "v0.3.0").String())
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s: got %q, want %q", folder, got, name)
			}
		}
		if folder == "." && slices.Contains(got, "bridge/niblogrus/b.go") {
			t.Errorf("the root has the files of another module: %q", got)
		}
	}
}

func TestBlocks(t *testing.T) {
	const text = "x\n```go\npackage main\n```\n\n  ```sh\n  nib version # y\n  ```\n```\nplain\n```\n    cd bench\n    not a command\n"
	got := blocksOf("a.md", text)
	want := []block{{"a.md:2", "go", "package main\n"}, {"a.md:6", "sh", "  nib version # y\n"}, {"a.md:9", "", "plain\n"}, {"a.md:12", "", "cd bench\n"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
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
	const text = "x `NIB_LEVEL=warn,db=debug`, or NIB_FORMAT=ecs.\nNIB_OUTPUT='file:/a?b=1&c=2' ./x # \"NIB_CRASH=on\"\nNIB_SEED=1 NIB_FIELDS=… NIB_TIMEOUT=\n"
	want := []setting{{"a.md:1", "NIB_LEVEL", "warn,db=debug"}, {"a.md:1", "NIB_FORMAT", "ecs"}, {"a.md:2", "NIB_OUTPUT", "file:/a?b=1&c=2"}, {"a.md:2", "NIB_CRASH", "on"}}
	if got := settingsOf("a.md", text); !slices.Equal(got, want) {
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
	for _, c := range []struct {
		name, text, want string
		skipped          int
	}{
		{"commands", "# a comment\n$ nib version\nallocs \\\n  -v\n", "nib version\nallocs    -v\n", 0},
		{"in a checkout", "cd e2e\ngo test ./crash\n", "", 2},
		{"one that needs a server", "nib version\nrsyslogd -N1\n", "nib version\n", 1},
		{"relay", "nib relay /var/spool --to file:/x\n", "nib relay --once /var/spool --to file:/x\n", 0},
	} {
		if got, skipped := scriptOf(c.text); got != c.want || skipped != c.skipped {
			t.Errorf("%s: got %q, %d; want %q, %d", c.name, got, skipped, c.want, c.skipped)
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
	release, area := "", ""
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "## "):
			release, area = strings.TrimSpace(line), ""
		case strings.HasPrefix(line, "### "):
			area = strings.TrimSpace(line)
		case strings.HasPrefix(line, "- ") && release == "## v0.1.0" && area == "":
			t.Fatalf("%s: %q stands in front of the first area", release, line)
		}
	}
}
