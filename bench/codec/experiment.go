// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/json"
	"io"

	jsoniter "github.com/json-iterator/go"

	"github.com/nib-log/nib/schema"
)

// ExperimentOps is the number of lines that the experiment encodes.
const ExperimentOps = 100_000

var (
	topicStruct = topicLine{Service: service, Msg: entryMessage, TaskID: taskID, LogDate: "2026-11-21 06:30:15"}
	topicMap    = map[string]any{"service": service, "msg": entryMessage, taskKey: taskID, "log_date": "2026-11-21 06:30:15"}
)

const wantExperiment = `{"service":"billing","msg":"request handled","task_id":"7f3a-19","log_date":"2026-11-21 06:30:15"}`

// experiment compares the choices of a handwritten formatter: to copy the entry
// into a struct or into a map, and which package marshals that. It calls the
// most obvious function of each package; nib has no function that allocates the
// result, so it appends to a buffer.
func experiment() []Scenario {
	marshal := func(f func(v any) ([]byte, error), v any) func(w io.Writer) func(n int) {
		return func(w io.Writer) func(n int) {
			return func(n int) {
				var text []byte
				for range n {
					var err error
					if text, err = f(v); err != nil {
						panic(err)
					}
				}
				show(w, text)
			}
		}
	}
	return []Scenario{
		{Name: "ExperimentStruct", Title: "struct", Ops: ExperimentOps, Versus: StdJSON, Want: wantExperiment, Contestants: []Contestant{
			{Name: Nib, New: nibStruct(schema.MustFor[topicLine](), &topicStruct)},
			{Name: StdJSON, New: marshal(json.Marshal, &topicStruct)},
			{Name: Iterator, New: marshal(jsoniter.Marshal, &topicStruct)},
		}},
		{Name: "ExperimentMap", Title: "map", Ops: ExperimentOps, Versus: StdJSON, Want: wantExperiment, Contestants: []Contestant{
			{Name: Nib, New: nibMap(topicMap)},
			{Name: StdJSON, New: marshal(json.Marshal, topicMap)},
			{Name: Iterator, New: marshal(jsoniter.Marshal, topicMap)},
		}},
	}
}
