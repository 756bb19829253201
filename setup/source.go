// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// A ConfigSource is where a configuration comes from: [FromEnv], [Load], or a [Config]
// itself.
type ConfigSource interface {
	// read returns what the source sets, and adds what is wrong with it.
	read(found *faults) Config
}

// Read puts a configuration together without opening anything. Settings of later
// sources replace those of earlier ones, each list as a whole; Fields, Sinks and
// Options add up. The error joins the faults of all sources.
func Read(sources ...ConfigSource) (Config, error) {
	var c Config
	var found faults
	for _, s := range sources {
		if s != nil {
			c = merge(c, s.read(&found))
		}
	}
	return c, found.err()
}

type sourceFunc func(found *faults) Config

func (f sourceFunc) read(found *faults) Config { return f(found) }

// FromEnv is the environment: variables whose names are prefix, an underscore,
// and the name of a setting in upper case (NIB_LEVEL). An empty prefix means
// NIB. A variable that is empty counts as not set. Other names are left alone, for
// other programs may use them (Kubernetes makes some of the names of services),
// unless they are nearly those of settings: NIB_LVL is a fault. prefix_CONFIG is the path of a JSON file that is
// read first, so the other variables win over it. It is read when Open or Read
// is called. In a program with set-uid, set-gid or file capabilities FromEnv sets
// nothing: its caller must not choose the files that it writes.
func FromEnv(prefix string) ConfigSource {
	if prefix == "" {
		prefix = "NIB"
	}
	return sourceFunc(func(found *faults) Config {
		if hasOtherRights() {
			return Config{}
		}
		return readEnv(prefix+"_", os.Environ(), found)
	})
}

// readEnv reads variables, each NAME=VALUE.
func readEnv(prefix string, environ []string, found *faults) (c Config) {
	variables := map[string]string{}
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, prefix) {
			variables[name] = value
		}
	}
	findUnknown(prefix, variables, found)
	if path := variables[prefix+"CONFIG"]; path != "" {
		c = readFile(path, prefix+"CONFIG", found)
	}
	var over Config
	settings := configSettings()
	for i := range settings {
		s := &settings[i]
		where := prefix + strings.ToUpper(s.name)
		switch text := variables[where]; {
		case text == "":
		case s.isOutputs():
			over.Output = readOutputs(text, found, where)
		default:
			s.set(&over, text, found, where)
		}
	}
	return merge(c, over)
}

// findUnknown reports variables whose names are nearly those of settings. Names that
// Kubernetes makes of the ports of a service are none of them.
func findUnknown(prefix string, variables map[string]string, found *faults) {
	settings := configSettings()
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		own := strings.ToLower(strings.TrimPrefix(name, prefix))
		known := own == "config" || find(settings, own) != nil
		if known || own == "port" || strings.HasPrefix(own, "port_") || strings.HasPrefix(own, "service_") {
			continue
		}
		if like := nearest(own, settings); like != "" {
			found.add(name, "there is no such setting (did you mean %s%s?)", prefix, strings.ToUpper(like))
		}
	}
}

func readFile(path, where string, found *faults) Config {
	f, err := os.Open(path)
	if err != nil {
		found.wrap(where, err)
		return Config{}
	}
	defer f.Close()
	return readJSON(f, path+": ", found)
}

// Load is a JSON object, read from r to its end when Open or Read is called. If
// r has a name, as a file has, faults begin with it.
func Load(r io.Reader) ConfigSource {
	name := ""
	if named, ok := r.(interface{ Name() string }); ok {
		name = named.Name() + ": "
	}
	return sourceFunc(func(found *faults) Config { return readJSON(r, name, found) })
}

// maxJSON is far more than a configuration has.
const maxJSON = 1 << 20

func readJSON(r io.Reader, where string, found *faults) (c Config) {
	text, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
	if err == nil && len(text) > maxJSON {
		err = fmt.Errorf("is longer than %d bytes", maxJSON)
	}
	if err != nil {
		found.wrap(where+"the whole", err)
		return c
	}
	return decode(text, found, where)
}
