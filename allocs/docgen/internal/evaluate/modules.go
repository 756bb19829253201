// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Module is a module on which the tool is evaluated.
type Module struct {
	Name    string
	Path    string // module path for the Go proxy; "" is a directory of this repository
	Version string
	Dir     string   // the directory if Path is "", relative to allocs/
	Package string   // the package whose benchmarks are run, such as ./x
	Bench   string   // which of these benchmarks
	Roots   []string // patterns, as for --root
	// Causes are the causes of known deviations, by line. They are printed
	// beside the deviation; one without a cause fails the test.
	Causes map[string]string
}

// Causes of several deviations.
const (
	unknownCause = "not known"
	manyCallees  = "behind calls of interface methods or function values with nine or more candidates; the report names these calls for each root above the line"
	twoRoots     = "the tool counts 4 below Logger.With and 1 below Logger.Info, which is right; the comparison takes the larger of several roots, as one may call the other"
	testFile     = "the line is in a test file, whose functions are in no program; runs see it"
)

// Modules lists all modules on which the tool is evaluated, the fastest first.
var Modules = []Module{
	{Name: "log/slog with JSONHandler", Dir: "testdata/slogjson", Package: ".", Bench: ".", Roots: []string{"example.com/slogjson.*"}},
	{Name: "zerolog", Path: "github.com/rs/zerolog", Version: "v1.35.1", Package: ".", Bench: ".", Roots: []string{
		"github.com/rs/zerolog.(*Event).*", "github.com/rs/zerolog.(*Logger).*", "github.com/rs/zerolog.Logger.*",
		"github.com/rs/zerolog.(*Array).*", "github.com/rs/zerolog.Context.*"},
		Causes: map[string]string{"error_marshal_test.go:18": testFile}},
	// How far the goroutine of BenchmarkAsyncFileWriter lags behind, and therefore
	// whether a pool is empty, differs from run to run.
	{Name: "phuslu/log", Path: "github.com/phuslu/log", Version: "v1.0.121", Package: ".",
		Bench: "^Benchmark(SyncFileWriter|AsyncIOWriter|PcFile.*|Categorized.*|Logger|TSVLogger)$", Roots: []string{
			"github.com/phuslu/log.(*Entry).*", "github.com/phuslu/log.(*Logger).*", "github.com/phuslu/log.NewContext"}},
	{Name: "zap", Path: "go.uber.org/zap", Version: "v1.28.0", Package: ".", Bench: ".", Roots: []string{
		"go.uber.org/zap.(*Logger).*", "go.uber.org/zap.(*SugaredLogger).*", "go.uber.org/zap.Any"},
		Causes: map[string]string{
			"buffer/pool.go:36":          twoRoots,
			"buffer/pool.go:37":          twoRoots,
			"zapcore/json_encoder.go:38": twoRoots,
		}},
	{Name: "client_golang, counters, gauges, histograms, vectors", Path: "github.com/prometheus/client_golang", Version: "v1.25.0",
		Package: "./prometheus", Bench: "Counter|Gauge|Histogram|Vec|Label", Roots: []string{
			"github.com/prometheus/client_golang/prometheus.(*counter).*", "github.com/prometheus/client_golang/prometheus.(*gauge).*",
			"github.com/prometheus/client_golang/prometheus.(*histogram).*", "github.com/prometheus/client_golang/prometheus.(*MetricVec).*",
			"github.com/prometheus/client_golang/prometheus.(*CounterVec).*", "github.com/prometheus/client_golang/prometheus.(*GaugeVec).*",
			"github.com/prometheus/client_golang/prometheus.(*HistogramVec).*"}},
	{Name: "httprouter", Path: "github.com/julienschmidt/httprouter", Version: "v1.3.0", Package: ".", Bench: ".", Roots: []string{
		"github.com/julienschmidt/httprouter.(*Router).*", "github.com/julienschmidt/httprouter.(*node).*", "github.com/julienschmidt/httprouter.CleanPath"}},
	{Name: "chi", Path: "github.com/go-chi/chi/v5", Version: "v5.5.0", Package: ".", Bench: ".", Roots: []string{
		"github.com/go-chi/chi/v5.(*Mux).*", "github.com/go-chi/chi/v5.(*node).*", "github.com/go-chi/chi/v5.(*Context).*"}},
	{Name: "hclog", Path: "github.com/hashicorp/go-hclog", Version: "v1.6.3", Package: ".", Bench: ".", Roots: []string{
		"github.com/hashicorp/go-hclog.(*intLogger).*", "github.com/hashicorp/go-hclog.(*interceptLogger).*", "github.com/hashicorp/go-hclog.(*writer).*"}},
	{Name: "x/text/unicode/norm", Path: "golang.org/x/text", Version: "v0.43.0", Package: "./unicode/norm", Bench: ".", Roots: []string{
		"golang.org/x/text/unicode/norm.Form.*", "golang.org/x/text/unicode/norm.(*Iter).*", "golang.org/x/text/unicode/norm.(*reorderBuffer).*"}},
	// Its benchmarks of regular expressions have hundreds of cases, in
	// which they are compiled.
	{Name: "prometheus/model/labels", Path: "github.com/prometheus/prometheus", Version: "v0.316.0", Package: "./model/labels",
		Bench: "^Benchmark(Labels_.*|Builder|ScratchBuilderUnsafeAdd|Size|String|MatchType_String|Matcher_String)$", Roots: []string{
			"github.com/prometheus/prometheus/model/labels.Labels.*", "github.com/prometheus/prometheus/model/labels.(*Builder).*",
			"github.com/prometheus/prometheus/model/labels.(*ScratchBuilder).*", "github.com/prometheus/prometheus/model/labels.(*Matcher).*",
			"github.com/prometheus/prometheus/model/labels.MatchType.*"}},
	{Name: "ristretto", Path: "github.com/dgraph-io/ristretto/v2", Version: "v2.4.2", Package: ".", Bench: ".", Roots: []string{
		"github.com/dgraph-io/ristretto/v2.(*shardedMap[...]).*", "github.com/dgraph-io/ristretto/v2.(*lockedMap[...]).*",
		"github.com/dgraph-io/ristretto/v2.(*cmSketch).*"}},
	// Those of a file of 2 MB take a minute for each count.
	{Name: "segmentio/encoding/json", Path: "github.com/segmentio/encoding", Version: "v0.5.4", Package: "./json",
		Bench: "^Benchmark(Append.*|Escape.*|Marshal.*|Unmarshal.*|DecoderStream|UnicodeDecoder|Tokenizer|Unescape|ParseString.*)$", Roots: []string{
			"github.com/segmentio/encoding/json.Append", "github.com/segmentio/encoding/json.AppendEscape", "github.com/segmentio/encoding/json.Marshal",
			"github.com/segmentio/encoding/json.Parse", "github.com/segmentio/encoding/json.Unmarshal", "github.com/segmentio/encoding/json.(*Decoder).*",
			"github.com/segmentio/encoding/json.(*Encoder).*", "github.com/segmentio/encoding/json.(*Tokenizer).*", "github.com/segmentio/encoding/json.encoder.*",
			"github.com/segmentio/encoding/json.decoder.*"},
		Causes: map[string]string{
			"json/json_test.go:693": testFile,
			"json/json_test.go:697": testFile,
			"json/json_test.go:710": testFile,
			"json/json_test.go:714": testFile,
		}},
	// Encode and Decode have a case for each message of the test suite.
	{Name: "protobuf", Path: "google.golang.org/protobuf", Version: "v1.36.12", Package: "./proto", Bench: "^Benchmark(Equal.*|Unmarshal)$", Roots: []string{
		"google.golang.org/protobuf/proto.Equal", "google.golang.org/protobuf/proto.Unmarshal", "google.golang.org/protobuf/proto.UnmarshalOptions.*"}},
}

// fetch copies the module below dir, where it may be written to, and returns
// the directory of the copy.
func (m *Module) fetch(ctx context.Context, allocsDir, dir string) (string, error) {
	from := filepath.Join(allocsDir, m.Dir)
	if m.Path != "" {
		out, err := run(ctx, dir, nil, "go", "mod", "download", "-json", m.Path+"@"+m.Version)
		if err != nil {
			return "", err
		}
		var answer struct{ Dir string }
		if err := json.Unmarshal(out, &answer); err != nil || answer.Dir == "" {
			return "", fmt.Errorf("go mod download %s: %s", m.Path, out)
		}
		from = answer.Dir
	}
	to := filepath.Join(dir, strings.ReplaceAll(filepath.Base(m.Path+m.Dir), ".", "-"))
	return to, copyTree(from, to)
}

// copyTree copies files without their permissions: files of the module cache
// are read-only.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	})
}
