// SPDX-License-Identifier: Apache-2.0

package codec

import (
	jsoniter "github.com/json-iterator/go"
	"github.com/sirupsen/logrus"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogrus"
)

// dateFormat is the format of time in the handwritten formatters.
const dateFormat = "2006-01-02 15:04:05"

const (
	service = "billing"
	taskKey = "task_id"
)

// A topicLine is the fixed format of a topic: services that log through logrus
// often have their own formatter for one like it.
type topicLine struct {
	Service string `json:"service"`
	Msg     string `json:"msg"`
	TaskID  string `json:"task_id"`
	LogDate string `json:"log_date"`
}

// byStruct copies an entry into a struct and marshals that.
type byStruct struct{}

func (byStruct) Format(e *logrus.Entry) ([]byte, error) {
	line := topicLine{Service: service, Msg: e.Message, LogDate: e.Time.Format(dateFormat)}
	if id, ok := e.Data[taskKey].(string); ok {
		line.TaskID = id
	}
	text, err := jsoniter.Marshal(&line)
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// byMap copies an entry into a map and marshals that.
type byMap struct{}

func (byMap) Format(e *logrus.Entry) ([]byte, error) {
	line := map[string]any{"service": service, "msg": e.Message, taskKey: "", "log_date": e.Time.Format(dateFormat)}
	if id, ok := e.Data[taskKey]; ok {
		line[taskKey] = id
	}
	text, err := jsoniter.Marshal(line)
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// nothing is a formatter that writes nothing, to show the cost of logrus
// itself.
type nothing struct{}

func (nothing) Format(*logrus.Entry) ([]byte, error) { return nil, nil }

// fixedFormat returns a Formatter that writes the same as byStruct and byMap.
func fixedFormat() *niblogrus.Formatter {
	return &niblogrus.Formatter{
		Service: service,
		Layout:  nib.Layout{TimeKey: "log_date", TimeFormat: dateFormat, LevelKey: nib.OmitKey},
		First:   []string{"service", "msg", taskKey, "log_date"},
		Always:  []string{taskKey},
	}
}

// A formatter is a contestant for both contests, of Format alone and of calls.
type formatter struct {
	name  string
	fixed bool // writes the format of the topic, and nothing else
	new   func() logrus.Formatter
}

var formatters = []formatter{
	{Nib, false, func() logrus.Formatter { return &niblogrus.Formatter{} }},
	{NibFixed, true, func() logrus.Formatter { return fixedFormat() }},
	{Logrus, false, func() logrus.Formatter { return &logrus.JSONFormatter{} }},
	{ByMap, true, func() logrus.Formatter { return byMap{} }},
	{ByStruct, true, func() logrus.Formatter { return byStruct{} }},
}
