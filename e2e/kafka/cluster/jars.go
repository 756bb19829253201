// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// version is the version of the brokers. Kafka 4 needs Java 17.
const version = "4.1.1"

const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>nib</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>%s</version>
</dependency></dependencies>
</project>
`

// jars returns the directory with Kafka's jars, which are fetched once, 43 MB.
// The test is skipped if they cannot be fetched.
func jars(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("needs java, 17 or later, to run Kafka")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("needs a directory for Kafka's jars: %v", err)
	}
	dir := filepath.Join(cache, "nib-e2e", "kafka-"+version)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return filepath.Join(dir, "lib")
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		t.Skip("needs mvn to fetch Kafka")
	}
	if err := fetch(dir); err != nil {
		t.Skipf("Kafka cannot be fetched: %v", err)
	}
	return filepath.Join(dir, "lib")
}

// fetch copies the jars into a new directory, and renames it when it is
// complete.
func fetch(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "fetch")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.WriteFile(filepath.Join(tmp, "pom.xml"), fmt.Appendf(nil, project, version),
		0o600); err != nil {
		return err
	}
	mvn := exec.Command("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib",
		"-DincludeScope=runtime")
	mvn.Dir = tmp
	if out, err := mvn.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(tmp, "complete"), nil, 0o600); err != nil {
		return err
	}
	_ = os.RemoveAll(dir) // an incomplete directory
	return os.Rename(tmp, dir)
}
