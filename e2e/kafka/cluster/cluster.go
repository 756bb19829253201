// SPDX-License-Identifier: Apache-2.0

// Package cluster starts real Kafka brokers for tests, from the jars of Maven
// Central. It needs Java 17 and Maven; where they are missing, tests are
// skipped with the reason.
package cluster

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/e2e/servers"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// startTimeout is the time within which brokers must become ready.
const startTimeout = 5 * time.Minute

// clusterID is any name of 22 characters.
const clusterID = "MkU3OEVBNTcwNTJENDM2Qg"

// kafkaServer is the class of a broker.
const kafkaServer = "kafka.Kafka"

// A Cluster is a set of brokers on 127.0.0.1, which are their own controllers.
// It ends with the test.
type Cluster struct {
	t       testing.TB
	jars    string
	brokers []*broker
}

type broker struct {
	dir  string
	addr string
	mu   sync.Mutex
	cmd  *exec.Cmd // nil if the broker does not run
	done chan struct{}
}

// Start starts n brokers and waits until they are ready. Topics are replicated
// to up to three of them; with three, two must have a record before it is
// acknowledged. Without NIB_E2E in the environment the test is skipped.
func Start(t testing.TB, n int) *Cluster {
	t.Helper()
	if os.Getenv("NIB_E2E") == "" {
		t.Skip("runs real servers: set NIB_E2E to short or full")
	}
	c := &Cluster{t: t, jars: jars(t)}
	addrs, err := servers.UnusedAddresses(2 * n)
	if err != nil {
		t.Fatal(err)
	}
	var voters []string
	for i := range n {
		voters = append(voters, fmt.Sprintf("%d@%s", i+1, addrs[n+i]))
	}
	for i := range n {
		b := &broker{dir: t.TempDir(), addr: addrs[i]}
		conf := properties(i+1, n, addrs[i], addrs[n+i], strings.Join(voters, ","), b.dir)
		if err := os.WriteFile(b.properties(), []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		c.brokers = append(c.brokers, b)
		if err := c.format(b, i+1); err != nil {
			t.Fatalf("format the storage of a broker: %v", err)
		}
	}
	t.Cleanup(func() {
		c.endRecording()
		for i := range c.brokers {
			c.Kill(i)
		}
	})
	for i := range n {
		c.Run(i)
	}
	c.AwaitReady()
	return c
}

// formatted has the files of a formatted storage by their names. The program
// that makes them runs once in a process: it takes seconds.
var formatted struct {
	sync.Mutex
	files map[string]string
}

var identities = regexp.MustCompile(`(?m)^(node|directory)\.id=.*$`)

// format formats the storage of a broker.
func (c *Cluster) format(b *broker, id int) error {
	formatted.Lock()
	defer formatted.Unlock()
	data := filepath.Join(b.dir, "data")
	if formatted.files == nil {
		cmd := c.java(b, "64m", "kafka.tools.StorageTool", "format",
			"--cluster-id="+clusterID, "-c", b.properties())
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		names, err := os.ReadDir(data)
		if err != nil {
			return err
		}
		files := map[string]string{}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(data, name.Name()))
			if err != nil {
				return err
			}
			files[name.Name()] = string(text)
		}
		formatted.files = files
		return nil
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	for name, text := range formatted.files {
		text = identities.ReplaceAllStringFunc(text, func(line string) string {
			if strings.HasPrefix(line, "node") {
				return fmt.Sprintf("node.id=%d", id)
			}
			return "directory.id=" + newID()
		})
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// newID returns a random identity in Kafka's form.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[0] &= 0x7f           // "-" may not come first
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Addrs returns the addresses of the brokers.
func (c *Cluster) Addrs() (addrs []string) {
	for _, b := range c.brokers {
		addrs = append(addrs, b.addr)
	}
	return addrs
}

// Run starts a broker that does not run.
func (c *Cluster) Run(i int) {
	b := c.brokers[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cmd != nil {
		return
	}
	heap := "256m"
	if len(c.brokers) > 1 {
		heap = "192m"
	}
	cmd := c.java(b, heap, kafkaServer, b.properties())
	out, err := os.OpenFile(filepath.Join(b.dir, "out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Error(err)
		return
	}
	cmd.Stdout, cmd.Stderr = out, out
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		c.t.Errorf("start a broker: %v", err)
		return
	}
	b.cmd, b.done = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // the broker is killed
		_ = out.Close()
		close(b.done)
	}()
}

// Kill kills a broker with SIGKILL, and waits until it is gone.
func (c *Cluster) Kill(i int) {
	b := c.brokers[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cmd == nil {
		return
	}
	_ = b.cmd.Process.Kill() // the broker may have ended
	<-b.done
	b.cmd = nil
}

// AwaitReady waits until all brokers have found each other.
func (c *Cluster) AwaitReady() {
	c.t.Helper()
	c.poll("brokers are not ready", func(ctx context.Context, cl *kgo.Client) bool {
		resp, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl)
		return err == nil && len(resp.Brokers) >= len(c.brokers) && resp.ControllerID > 0
	})
}

// Create makes a topic and waits until all its partitions have leaders.
func (c *Cluster) Create(name string, partitions int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := topic.Create(ctx, c.Addrs(), name, partitions, min(len(c.brokers), 3)); err != nil {
		c.t.Fatal(err)
	}
	c.AwaitReplicas(name, partitions)
}

// AwaitReplicas waits until all replicas of a topic are in sync.
func (c *Cluster) AwaitReplicas(name string, partitions int) {
	c.t.Helper()
	c.poll("topic "+name+" is not ready", func(ctx context.Context, cl *kgo.Client) bool {
		all := metadata(ctx, cl, name)
		if len(all) < partitions {
			return false
		}
		for _, p := range all {
			if p.ErrorCode != 0 || p.Leader <= 0 || len(p.ISR) < len(p.Replicas) {
				return false
			}
		}
		return true
	})
}

// Leader returns the broker that leads the first partition of a topic.
func (c *Cluster) Leader(name string) (broker int) {
	c.t.Helper()
	c.poll("topic "+name+" has no leader", func(ctx context.Context, cl *kgo.Client) bool {
		for _, p := range metadata(ctx, cl, name) {
			if p.Partition == 0 && p.Leader > 0 {
				broker = int(p.Leader) - 1
				return true
			}
		}
		return false
	})
	return broker
}

// metadata asks for the partitions of a topic.
func metadata(
	ctx context.Context, cl *kgo.Client, name string,
) []kmsg.MetadataResponseTopicPartition {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(name)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil || len(resp.Topics) != 1 {
		return nil
	}
	return resp.Topics[0].Partitions
}

// poll calls ready until it returns true. It uses a new client each time, since
// a client caches responses.
func (c *Cluster) poll(what string, ready func(context.Context, *kgo.Client) bool) {
	c.t.Helper()
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.Addrs()...), kgo.RequestRetries(0))
		if err != nil {
			c.t.Fatal(err)
		}
		ok := ready(ctx, cl)
		cl.Close()
		cancel()
		if ok {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.t.Fatalf("%s after %v\n%s", what, startTimeout, c.outputs())
}

// outputs returns the output of the brokers.
func (c *Cluster) outputs() string {
	var all strings.Builder
	for i, b := range c.brokers {
		out, _ := os.ReadFile(filepath.Join(b.dir, "out")) // for the error message
		fmt.Fprintf(&all, "broker %d: %s\n", i, out)
	}
	return all.String()
}

func (b *broker) properties() string { return filepath.Join(b.dir, "server.properties") }

func (c *Cluster) java(b *broker, heap string, args ...string) *exec.Cmd {
	all := []string{
		"-cp", filepath.Join(c.jars, "*"), "-Xmx" + heap,
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
	}
	all = append(all, c.sharing(len(c.brokers) == 1 && args[0] == kafkaServer)...)
	all = append(all, args...)
	cmd := exec.Command("java", all...)
	cmd.Dir = b.dir
	return cmd
}

// archive names the archive of Kafka's classes, with which Java starts in half
// the time.
func (c *Cluster) archive() string { return filepath.Join(filepath.Dir(c.jars), "classes.jsa") }

// recording names the file to which a broker of this process writes an archive.
func (c *Cluster) recording() string { return fmt.Sprintf("%s.%d", c.archive(), os.Getpid()) }

// sharing returns the options for the archive: to use it or, if there is none
// and record is true, to write one when the broker ends.
func (c *Cluster) sharing(record bool) []string {
	if _, err := os.Stat(c.archive()); err == nil {
		return []string{"-XX:SharedArchiveFile=" + c.archive()}
	}
	if record {
		return []string{"-XX:ArchiveClassesAtExit=" + c.recording()}
	}
	return nil
}

// endRecording ends a single broker that records its classes, and keeps what it
// has written. Without an archive, brokers start as well.
func (c *Cluster) endRecording() {
	b := c.brokers[0]
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cmd == nil || !slices.Contains(b.cmd.Args, "-XX:ArchiveClassesAtExit="+c.recording()) ||
		b.cmd.Process.Signal(syscall.SIGTERM) != nil {
		return
	}
	<-b.done
	b.cmd = nil
	_ = os.Rename(c.recording(), c.archive())
}

// properties returns the configuration of a broker. With registrations that
// expire soon, a broker can return soon after it was killed.
func properties(id, n int, addr, controller, voters, dir string) string {
	replicas := min(n, 3)
	return strings.Join([]string{
		"process.roles=broker,controller",
		fmt.Sprintf("node.id=%d", id),
		"controller.quorum.voters=" + voters,
		fmt.Sprintf("listeners=PLAINTEXT://%s,CONTROLLER://%s", addr, controller),
		"advertised.listeners=PLAINTEXT://" + addr,
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"controller.listener.names=CONTROLLER",
		"inter.broker.listener.name=PLAINTEXT",
		"log.dirs=" + filepath.Join(dir, "data"),
		"num.partitions=1",
		"auto.create.topics.enable=false",
		fmt.Sprintf("default.replication.factor=%d", replicas),
		fmt.Sprintf("min.insync.replicas=%d", max(1, replicas-1)),
		fmt.Sprintf("offsets.topic.replication.factor=%d", replicas),
		"offsets.topic.num.partitions=4",
		fmt.Sprintf("transaction.state.log.replication.factor=%d", replicas),
		fmt.Sprintf("transaction.state.log.min.isr=%d", max(1, replicas-1)),
		"transaction.state.log.num.partitions=4",
		"group.initial.rebalance.delay.ms=0",
		"log.cleaner.dedupe.buffer.size=4194304",
		"broker.session.timeout.ms=3000",
		"broker.heartbeat.interval.ms=500",
		"",
	}, "\n")
}
