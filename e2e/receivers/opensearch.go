// SPDX-License-Identifier: Apache-2.0

//go:build linux

package receivers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// openSearchVersion is the version of OpenSearch. It needs Java 17.
const openSearchVersion = "2.19.1"

// openSearchProject has modules of OpenSearch: the server, its HTTP transport
// and the usual processors of pipelines.
const openSearchProject = `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>nib</groupId><artifactId>opensearch</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
<dependency><groupId>org.opensearch</groupId><artifactId>opensearch</artifactId><version>` + openSearchVersion + `</version></dependency>
<dependency><groupId>org.opensearch.plugin</groupId><artifactId>transport-netty4-client</artifactId><version>` + openSearchVersion + `</version></dependency>
<dependency><groupId>org.opensearch.plugin</groupId><artifactId>ingest-common</artifactId>
<version>` + openSearchVersion + `</version></dependency>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>2.21.0</version></dependency>
</dependencies>
</project>
`

const openSearchProgram = `import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.ingest.common.IngestCommonPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

public class Server extends Node {
    Server(Environment env) { super(env, List.of(Netty4Plugin.class, IngestCommonPlugin.class), false); }

    public static void main(String[] args) throws Exception {
        Settings s = Settings.builder()
            .put("path.home", ".").put("http.port", args[0]).put("transport.port", args[1])
            .put("http.host", "127.0.0.1").put("transport.host", "127.0.0.1")
            .put("http.type", "netty4").put("transport.type", "netty4")
            .put("discovery.type", "single-node").put("node.name", "one").put("cluster.name", "nib")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
        new Server(InternalSettingsPreparer.prepareEnvironment(s, Map.of(), null, () -> "one")).start();
        Thread.currentThread().join();
    }
}
`

// An OpenSearch is a node of OpenSearch with its default durability: it writes
// and syncs the documents of a request before it responds.
type OpenSearch struct{ server }

// Index is the index in which Arrivals looks for documents.
const Index = "orders"

// StartOpenSearch starts an OpenSearch.
func StartOpenSearch(t testing.TB) *OpenSearch {
	t.Helper()
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("needs java, 17 or later, to run OpenSearch")
	}
	dir := cached(t, "opensearch-ingest-"+openSearchVersion, "Server.class", "short full",
		func(dir string) error {
			if _, err := exec.LookPath("mvn"); err != nil {
				return errors.New("needs mvn")
			}
			err := write(dir,
				map[string]string{"pom.xml": openSearchProject, "Server.java": openSearchProgram})
			if err == nil {
				err = run(dir, nil, "mvn", "-q", "-B", "dependency:copy-dependencies",
					"-DoutputDirectory=lib", "-DincludeScope=runtime")
			}
			if err == nil {
				err = run(dir, nil, "javac", "-cp", "lib/*", "-d", ".", "Server.java")
			}
			return err
		})
	base, port, other := newServer(t)
	s := &OpenSearch{base}
	s.command = func() *exec.Cmd {
		return exec.Command("java", "-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-cp", filepath.Join(dir, "lib", "*")+":"+dir, "Server", port, other)
	}
	begin(t, s)
	return s
}

// URL implements Receiver.
func (s *OpenSearch) URL() string { return "http://" + s.addr }

// Arrivals implements Receiver.
func (s *OpenSearch) Arrivals(t testing.TB) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		s.call(t, "/"+Index+"/_refresh", `{}`, nil)
		type page struct {
			ID   string `json:"_scroll_id"`
			Hits struct {
				Hits []struct {
					ID     string                   `json:"_id"`
					Source struct{ Message string } `json:"_source"`
				}
			}
		}
		var p page
		s.call(t, "/"+Index+"/_search?scroll=5m",
			`{"size":10000,"sort":["_doc"],"_source":["message"]}`, &p)
		for len(p.Hits.Hits) > 0 {
			for _, h := range p.Hits.Hits {
				if !yield(Arrival{Message: h.Source.Message, UID: h.ID}) {
					return
				}
			}
			id := p.ID
			p = page{}
			s.call(t, "/_search/scroll", fmt.Sprintf(`{"scroll":"5m","scroll_id":%q}`, id), &p)
		}
	}
}

// Put sends a request that changes the server.
func (s *OpenSearch) Put(t testing.TB, path, body string) {
	t.Helper()
	s.send(t, http.MethodPut, path, body, nil)
}

// call sends a request and decodes the response.
func (s *OpenSearch) call(t testing.TB, path, body string, v any) {
	t.Helper()
	s.send(t, http.MethodPost, path, body, v)
}

func (s *OpenSearch) send(t testing.TB, method, path, body string, v any) {
	t.Helper()
	url := s.URL() + path
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s: %s", path, resp.Status, text)
	}
	if v == nil {
		return
	}
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}
