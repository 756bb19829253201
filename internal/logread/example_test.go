// SPDX-License-Identifier: Apache-2.0

package logread_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/nib-log/nib/internal/logread"
)

func ExampleLines() {
	const logs = `{"time":"2026-11-21T12:00:00Z","level":"warn","took":312.5,"message":"served slowly"}
{"level":"info","ts":1795262401.5,"msg":"served","took":0.02}
time=2026-11-21T12:00:02Z level=ERROR msg="it failed" took=1.5s
`
	q, err := logread.ParseQuery("took > 250ms", time.Now())
	if err != nil {
		panic(err)
	}
	for l, err := range logread.Lines(strings.NewReader(logs)) {
		if err != nil {
			panic(err)
		}
		if q.Match(l) {
			at, _ := l.Time()
			level, _ := l.Level()
			fmt.Printf("%s %v %s\n", at.Format(time.TimeOnly), level, l.Text(l.Message()))
		}
	}
	// Output:
	// 12:00:00 warn served slowly
	// 12:00:02 error it failed
}

func ExampleQueryError_Caret() {
	_, err := logread.ParseQuery("level >= loud", time.Now())
	query, caret := err.(*logread.QueryError).Caret()
	fmt.Println(query)
	fmt.Println(caret)
	// Output:
	// level >= loud
	//          ^
}

func ExampleAnd() {
	now := time.Now()
	failed, _ := logread.ParseQuery("level >= error or status >= 500", now)
	slow, _ := logread.ParseQuery("took > 1s", now)
	q := logread.And(failed, slow)
	var l logread.Line
	l.Reset([]byte(`{"level":"info","status":502,"took":1250.5,"message":"served"}`))
	fmt.Println(q, q.Match(&l))
	// Output:
	// (level >= error or status >= 500) and (took > 1s) true
}
