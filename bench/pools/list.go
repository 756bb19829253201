// SPDX-License-Identifier: Apache-2.0

package pools

import (
	stdlist "container/list"
	"fmt"

	"github.com/nib-log/nib/pool/list"
)

// queued is the number of elements in the list, in the contest with a list that
// is not empty.
const queued = 10_000

// lists returns the contests of the list that recycles its nodes.
func lists() []Scenario {
	return []Scenario{
		{Name: "ListPushRemove", Context: "list", Title: "push and remove", Versus: StdList, Contestants: queues(0)},
		{Name: "ListQueue", Context: "list", Title: "push behind 10,000 elements, remove the first", Versus: StdList,
			Contestants: queues(queued)},
	}
}

// The elements are numbers from firstElement on: smaller ones would save
// container/list an allocation, because Go has preallocated interface values
// for them.
const firstElement = 256

func queues(elements int) []Contestant {
	return []Contestant{
		{Nib, func(*Made) Run {
			var l list.List[int]
			for i := range elements {
				l.PushBack(firstElement + i)
			}
			removed := 0
			return Run{Check: func() error { return asLong(l.Len(), elements, removed) }, Do: func(n int) {
				for i := range n {
					l.PushBack(firstElement + i)
					removed += l.Remove(l.Front())
				}
			}}
		}},
		{StdList, func(*Made) Run {
			var l stdlist.List
			for i := range elements {
				l.PushBack(firstElement + i)
			}
			removed := 0
			return Run{Check: func() error { return asLong(l.Len(), elements, removed) }, Do: func(n int) {
				for i := range n {
					l.PushBack(firstElement + i)
					removed += l.Remove(l.Front()).(int)
				}
			}}
		}},
	}
}

// asLong checks that a list has its original length, and that elements were
// removed.
func asLong(got, want, removed int) error {
	if got != want || removed == 0 {
		return fmt.Errorf("%d elements, want %d; sum of those removed: %d", got, want, removed)
	}
	return nil
}
