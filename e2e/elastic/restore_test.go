// SPDX-License-Identifier: Apache-2.0

//go:build linux

package elastic_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/elastic"
	"github.com/nib-log/nib/e2e/restore"
)

// An index creates documents, each _id once.
type index struct {
	mu       sync.Mutex
	ids      map[string]bool
	messages map[string]int
}

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in, items := bufio.NewReader(r.Body), []any{}
	for {
		var action struct {
			Create struct {
				ID string `json:"_id"`
			}
		}
		var line struct{ Message, Msg string }
		first, err := in.ReadBytes('\n')
		second, _ := in.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if json.Unmarshal(first, &action) != nil || json.Unmarshal(second, &line) != nil {
			http.Error(w, "cannot be read", http.StatusBadRequest)
			return
		}
		status := http.StatusConflict
		if !x.ids[action.Create.ID] {
			status = http.StatusCreated
			x.messages[line.Message+line.Msg]++
		}
		x.ids[action.Create.ID] = true
		items = append(items, map[string]any{"create": map[string]int{"status": status}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items}) // the client may be gone
}

// TestRestoredSpoolLosesNoLine restores the directory of a spool from a backup:
// the index has each line once.
func TestRestoredSpoolLosesNoLine(t *testing.T) {
	type messages = func() map[string]int
	restore.Run(t, func(t *testing.T) (func() delivery.Destination, messages) {
		x := &index{ids: map[string]bool{}, messages: map[string]int{}}
		server := httptest.NewServer(x)
		t.Cleanup(server.Close)
		dial := func() delivery.Destination {
			d, err := elastic.New(server.URL, "logs", elastic.Config{})
			if err != nil {
				panic(fmt.Sprint("dial: ", err))
			}
			return d
		}
		return dial, func() map[string]int {
			x.mu.Lock()
			defer x.mu.Unlock()
			return x.messages
		}
	})
}
