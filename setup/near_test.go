// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFaultsSuggestWhatToWrite(t *testing.T) {
	for _, c := range []struct {
		env  env
		want string
	}{
		{env{"NIB_LVL": "debug"}, "NIB_LVL: there is no such setting (did you mean NIB_LEVEL?)"},
		{env{"NIB_OUTPUTS": "stdout"}, "did you mean NIB_OUTPUT?"},
		{env{"NIB_level": "debug"}, "NIB_level: there is no such setting (did you mean NIB_LEVEL?)"},
		{env{"NIB_CONF": "log.json"}, "did you mean NIB_CONFIG?"},
		{env{"NIB_OUTPUT": "file:x?maxsize=1MB"}, "NIB_OUTPUT[0].maxsize: there is no such setting (did you mean max_size?)"},
		{env{"NIB_OUTPUT": "file:x?maxSize=1MB"}, "did you mean max_size?"},
		{env{"NIB_OUTPUT": "file:x?bakups=1"}, "did you mean backups?"},
		{env{"NIB_OUTPUT": "file:x?max_size=100"}, `"100" has no unit (write 100MB, or 100B for bytes)`},
		{env{"NIB_OUTPUT": "/var/log/x.log"}, `"/var/log/x.log" is a path: write file:/var/log/x.log`},
		{env{"NIB_OUTPUT": "./x.log?max_size=1MB"}, `"./x.log" is a path: write file:./x.log`},
		{env{"NIB_OUTPUT": `C:\logs\x.log`}, `is a path: write file:C:\logs\x.log`},
	} {
		_, err := c.env.read()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v:\n got %v\nwant %s", c.env, err, c.want)
		}
	}
}

func TestNamesOfOtherProgramsAreLeftAlone(t *testing.T) {
	for _, name := range []string{"NIB_PORT", "NIB_PORT_80_TCP", "NIB_SERVICE_HOST", "NIB_KAFKA_PASSWORD", "NIB_E2E", "NIB_X", "NIB_"} {
		if _, err := (env{name: "1"}).read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyTheLastDirectoryIsMade(t *testing.T) {
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, o := range []string{
		"file:" + at("a", "b", "x.log"),
		"file:" + at("x.log") + "?spool=" + at("a", "b"),
	} {
		_, err := Open(Config{Output: []string{o}})
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "make "+at("a")+" first") {
			t.Errorf("%v: got %v", o, err)
		}
	}
	log := mustOpen(t, Config{Output: []string{"file:" + at("logs", "x.log") + "?spool=" + at("spool")}})
	log.Info().Msg("one")
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	if line, err := os.ReadFile(at("logs", "x.log")); err != nil || !strings.Contains(string(line), `"one"`) {
		t.Errorf("got %s, %v", line, err)
	}
}
