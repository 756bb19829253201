// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/settings"
	"github.com/nib-log/nib/target"
)

// A ConfigSource is where a configuration comes from: [FromEnv], [Load],
// [FromLambda], [Kinds], or a [Config] itself.
type ConfigSource interface {
	// read returns the settings of the source, and adds its faults to r.
	read(r *reading) Config

	furtherKinds() []target.Spec
}

// Read merges the configurations of sources without opening anything. Later
// sources replace the settings of earlier ones, each list as a whole; Fields,
// Kinds, Sinks and Options are added up, and the Kinds apply to the outputs of
// all sources. The error joins an error for each mistake, with the variable,
// the JSON path or the field, and the values that are allowed.
func Read(sources ...ConfigSource) (Config, error) {
	var c Config
	var r reading
	sources = slices.DeleteFunc(slices.Clone(sources), func(s ConfigSource) bool {
		return s == nil
	})
	for _, s := range sources {
		r.kinds = append(r.kinds, s.furtherKinds()...)
	}
	for _, s := range sources {
		c = merge(c, s.read(&r))
	}
	return c, r.err()
}

// merge replaces the settings of base that over sets.
func merge(base, over Config) Config {
	settings.Merge(&base, &over)
	if over.Rules != nil {
		base.Rules = over.Rules
	}
	base.Kinds = slices.Concat(base.Kinds, over.Kinds)
	base.Sinks = slices.Concat(base.Sinks, over.Sinks)
	base.Options = slices.Concat(base.Options, over.Options)
	base.lambda = base.lambda || over.lambda
	return base
}

// checkOutputs returns the mistakes in outputs.
func (r *reading) checkOutputs(list []string, at func(i int) string) []string {
	files, spools := make([]string, len(list)), make([]string, len(list))
	for i, text := range list {
		if r.uncheckedOutputs {
			break
		}
		w, err := readOutput(text, r.kinds)
		r.wrap(at(i), err)
		if err != nil {
			continue
		}
		if w.Scheme == toFile {
			files[i] = w.Path
			if first := indexOfFile(files, w.Path); first < i {
				r.add(at(i), "%s is this file already: each output needs its own", at(first))
			}
		}
		param, dir := w.spoolDir()
		spools[i] = dir
		if first := indexOfFile(spools, dir); first < i {
			r.add(at(i)+param, "%s has this directory already: each output needs its own",
				at(first))
		}
	}
	return list
}

// indexOfFile returns the index of the first path in list that is the same file
// as path, which is in the list or "".
func indexOfFile(list []string, path string) int {
	if path == "" {
		return len(list)
	}
	return slices.IndexFunc(list, func(p string) bool { return p != "" && isSameFile(p, path) })
}

// isSameFile reports whether two paths are one file, which need not exist yet.
func isSameFile(a, b string) bool {
	if x, err := os.Stat(a); err == nil {
		if y, err := os.Stat(b); err == nil {
			return os.SameFile(x, y)
		}
	}
	return resolved(a) == resolved(b)
}

// resolved returns an absolute path without symbolic links, as far as its
// directories exist.
func resolved(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if target, err := os.Readlink(path); err == nil { // a link to a file that is made later
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// splitOutputs reads a list of outputs that are joined by commas.
func (r *reading) splitOutputs(text, where string) []string {
	list, err := settings.SplitTargets(text)
	r.wrap(where, err)
	return r.checkOutputs(list, func(i int) string { return place(where, i) })
}

type sourceFunc func(r *reading) Config

func (f sourceFunc) read(r *reading) Config      { return f(r) }
func (f sourceFunc) furtherKinds() []target.Spec { return nil }

// FromEnv reads the environment: variables whose names are prefix, an
// underscore, and the name of a setting in upper case (NIB_LEVEL). The
// underscore may also end the prefix. An empty prefix means NIB. A variable
// that is empty counts as not set. Other names are ignored, since other
// programs may use them (Kubernetes derives some from the names of services),
// unless they are similar to a setting's: NIB_LVL is a fault. prefix_CONFIG is
// the path of a JSON file that is read first, so the other variables override
// it. It is read when Open or Read is called. In a program with set-uid,
// set-gid or file capabilities FromEnv sets nothing, since its caller must not
// be able to choose the files that it writes, and reports the variables to
// standard error. On Linux it does the same without /proc, and in a program
// that has changed its user before, which look alike.
func FromEnv(prefix string) ConfigSource {
	prefix = cmp.Or(strings.TrimSuffix(prefix, "_"), "NIB") + "_"
	return sourceFunc(func(r *reading) Config {
		if hasOtherRights() {
			reportIgnored(prefix, os.Environ())
			return Config{}
		}
		return readEnv(prefix, os.Environ(), r)
	})
}

// FromLambda reads the logging controls of a function of AWS Lambda:
// AWS_LAMBDA_LOG_LEVEL, and AWS_LAMBDA_LOG_FORMAT. With JSON lines have the
// keys that Lambda reads, "timestamp" and "level", with levels in upper case;
// with Text they are logfmt. Outside of Lambda it sets nothing. Other sources
// may follow:
//
//	log, err := setup.Open(setup.FromLambda(), setup.FromEnv("NIB"))
func FromLambda() ConfigSource {
	return sourceFunc(func(r *reading) (c Config) {
		const levelVar, formatVar = "AWS_LAMBDA_LOG_LEVEL", "AWS_LAMBDA_LOG_FORMAT"
		if text := os.Getenv(levelVar); text != "" {
			level, err := nib.ParseLevel(text)
			r.wrap(levelVar, err)
			c.Level = level.String()
		}
		switch format := os.Getenv(formatVar); strings.ToLower(format) {
		case "":
		case "json":
			c.lambda = true
		case "text":
			c.Format = viewLogfmt
		default:
			r.add(formatVar, "%q is not a format (want JSON or Text)", format)
		}
		return c
	})
}

// variablesOf returns the variables with a prefix from a list of NAME=VALUE,
// without the line break that a block of YAML or a file leaves at the end.
func variablesOf(prefix string, environ []string) map[string]string {
	variables := map[string]string{}
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, prefix) {
			variables[name] = strings.TrimSpace(value)
		}
	}
	return variables
}

// envNames returns the names of all variables, without their prefix and in
// lower case.
func envNames() []string { return append(settings.Names(settings.Of(new(Config))), "config") }

// reportIgnored reports the variables that a program with other rights ignores.
func reportIgnored(prefix string, environ []string) {
	variables := variablesOf(prefix, environ)
	var ignored []string
	for _, name := range envNames() {
		if name = prefix + strings.ToUpper(name); variables[name] != "" {
			ignored = append(ignored, name)
		}
	}
	if len(ignored) > 0 {
		writeError(fmt.Errorf(
			"nib/setup: ignored %s: a program with set-uid, set-gid or file capabilities, "+
				"without /proc, or that has changed its user takes no settings from the "+
				"environment: write setup.Load or a setup.Config",
			strings.Join(ignored, ", ")))
	}
}

// readEnv reads variables, each NAME=VALUE.
func readEnv(prefix string, environ []string, r *reading) (c Config) {
	variables := variablesOf(prefix, environ)
	findUnknown(prefix, variables, r)
	if path := variables[prefix+"CONFIG"]; path != "" {
		c = readFile(path, prefix+"CONFIG", r)
	}
	var over Config
	list := settings.Of(&over)
	for i := range list {
		s := &list[i]
		where := prefix + strings.ToUpper(s.Name)
		switch text := variables[where]; {
		case text == "":
		case s.IsList():
			over.Output = r.splitOutputs(text, where)
		default:
			r.wrap(where, s.Set(text))
		}
	}
	return merge(c, over)
}

// findUnknown reports variables with names like a setting's. Names
// that Kubernetes derives from the ports of a service do not count.
func findUnknown(prefix string, variables map[string]string, r *reading) {
	names := envNames()
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		own := strings.ToLower(strings.TrimPrefix(name, prefix))
		known := name == prefix+strings.ToUpper(own) && slices.Contains(names, own)
		if known || own == "port" || strings.HasPrefix(own, "port_") ||
			strings.HasPrefix(own, "service_") {
			continue
		}
		if like := settings.Nearest(own, names); like != "" {
			r.add(name, "there is no such setting (did you mean %s%s?)", prefix,
				strings.ToUpper(like))
		}
	}
}

func readFile(path, where string, r *reading) Config {
	f, err := os.Open(path)
	if err != nil {
		r.wrap(where, err)
		return Config{}
	}
	defer f.Close()
	return readJSON(f, path+": ", r)
}

// Load reads a JSON object from a reader, to its end, when Open or Read is
// called. If the reader has a name, as a file has, each error begins with it.
func Load(from io.Reader) ConfigSource {
	name := ""
	if named, ok := from.(interface{ Name() string }); ok {
		name = named.Name() + ": "
	}
	return sourceFunc(func(r *reading) Config { return readJSON(from, name, r) })
}

// maxJSON is far larger than a configuration.
const maxJSON = 1 << 20

func readJSON(from io.Reader, where string, r *reading) (c Config) {
	text, err := io.ReadAll(io.LimitReader(from, maxJSON+1))
	if err == nil && len(text) > maxJSON {
		err = fmt.Errorf("is longer than %d bytes", maxJSON)
	}
	if err != nil {
		r.wrap(where+"the whole", err)
		return c
	}
	return r.decode(text, where)
}
