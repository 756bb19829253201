// SPDX-License-Identifier: Apache-2.0

//go:build unix

package kafka_test

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/e2e/kafka/cluster"
)

// command builds the command nib, which is a separate module.
func command(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "nib")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".")
	build.Dir = filepath.Join("..", "..", "cmd", "nib")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	return bin
}

// A service that writes to all partitions is killed while one broker is down,
// and nib relay delivers its lines before that broker is back: by the key in
// its target, or round robin by the mark that the service has stored. Without
// the key it refuses.
func TestRelayAfterKills(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode, kfaketest has this case with a broker in memory")
	}
	for _, mode := range []string{"keyed", "round robin"} {
		t.Run(mode, func(t *testing.T) {
			rounds, options := 2, ""
			if full() {
				rounds = 10
			}
			if mode == "keyed" {
				options = "?key=customer"
			}
			brokers := cluster.Start(t, 3)
			brokers.Create("logs", 6)
			nib := command(t)
			relay := func(dir, options string) ([]byte, error) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				to := "kafka://" + strings.Join(brokers.Addrs(), ",") + "/logs" + options
				return exec.CommandContext(ctx, nib, "relay", "--once", dir, "--to", to).CombinedOutput()
			}
			dir, told := t.TempDir(), map[string]int{}
			for round := range rounds {
				down := time.AfterFunc(rand.N(time.Second), func() { brokers.Kill(round % 3) })
				name := strconv.Itoa(round)
				told[name] = killService(t, brokers.Addrs(), dir, mode, name, time.Second+rand.N(time.Second))
				down.Stop()
				brokers.Kill(round % 3) // unless it was
				if mode == "keyed" {
					if out, err := relay(dir, ""); err == nil || !strings.Contains(string(out), "add key=FIELD") {
						t.Errorf("relay without a key: got %v, %s", err, out)
					}
				}
				if out, err := relay(dir, options); err != nil {
					t.Errorf("round %d: %v\n%s", round, err, out)
				}
				brokers.Run(round % 3)
				brokers.AwaitReady()
				brokers.AwaitReplicas("logs", 6)
			}
			v := check(t, brokers.Addrs(), told, false)
			t.Logf("%d kills of the service with a broker down, %d records: %s", rounds, v.records, v)
			if v != (verdict{records: v.records}) || v.records == 0 {
				t.Error("not each once")
			}
		})
	}
}
