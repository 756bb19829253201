// SPDX-License-Identifier: Apache-2.0

package sample2

import (
	"errors"
	"fmt"
	"reflect"
	"time"
)

//alloc:none
func G01BoxNothing() {
	anyOut = 7
	anyOut = "constant"
	anyOut = empty{}
	anyOut = item
	anyOut = yes
	anyOut = single{&n5}
	anyOut = byte(n20)
}

//alloc:none
func G02BoxEmptyString() {
	s := ""
	if !yes {
		s = small
	}
	anyOut = s
}

//alloc:none
func G03BoxString() {
	anyOut = small // why: boxed-argument
}

//alloc:none
func G04BoxFloat() {
	anyOut = f15 // why: boxed-argument
}

//alloc:none
func G05BoxSlice() {
	anyOut = ints // why: boxed-argument
}

//alloc:none
func G06BoxStruct() {
	anyOut = pair{small, n5} // why: boxed-argument
}

//alloc:none
func G07BoxTime() {
	anyOut = moment // why: boxed-argument
}

//alloc:none
func G08BoxFuncMapChan() {
	anyOut = signal
	anyOut = names
	anyOut = done
}

//alloc:none
func G09BoxWide() {
	anyOut = huge // why: boxed-argument
}

//alloc:none
func G10InterfaceToInterface() {
	if w, ok := out.(fmt.Stringer); ok {
		textOut = w.String()
	}
	anyOut = out
}

//alloc:none
func G11BoxNotKept() { intOut = lengthOf(long) }

//alloc:none
func G12ValueMethodThroughInterface() {
	var s sizer = pair{small, n5}
	intOut = s.size()
}

var sizers = []sizer{pair{"a", 1}, &pair{"b", 2}}

//alloc:none
func G13SizerFromSlice() {
	n := 0
	for _, s := range sizers {
		n += s.size()
	}
	intOut = n
}

//alloc:none
func G14SizerKept() {
	sizers[0] = pair{small, n5} // why: boxed-argument
}

//alloc:none
func G15AnyMapLookup() { intOut = anyMap[n1000] + anyMap[small] }

//alloc:none
func G16AnyMapAssign() {
	anyMap[n1000] = n5 // why: boxed-argument
}

//alloc:none
func G17VariadicKept() {
	sink.Keep(small, n1000, item) // why: variadic-slice boxed-argument
}

//alloc:none
func G18ErrorValue() {
	errOut = problem(n1000)
}

type code int

func (c code) Error() string { return "code" }

//go:noinline
func problem(n int) error {
	if n > 2000 {
		return nil
	}
	return code(n) // why: boxed-argument
}

//alloc:none
func G19ErrorPointer() {
	errOut = failing(n1000)
}

//go:noinline
func failing(n int) error {
	if n < 2000 {
		return &pair{"x", n} // why: new-object
	}
	return nil
}

//alloc:none
func G20ErrorsAs() {
	var p *pair // why: moved-variable
	if errors.As(errOut, &p) {
		intOut = p.n
	}
}

//alloc:none
func G21ErrorsJoin() {
	errOut = errors.Join(base, other) // why: errorf
}

//alloc:none
func G22ErrorsNew() {
	errOut = errors.New("new") // why: errorf
}

//alloc:none
func G23ReceiverEscapes() {
	pairOut = pair{small, n5}.keep() // why: moved-variable
}

//go:noinline
func address(x int) *int { return &x } // why: moved-variable

//alloc:none
func G24ParameterEscapes() { ptrOut = address(n5) }

//go:noinline
func named() (r int) { // why: moved-variable
	ptrOut = &r
	return n5
}

//alloc:none
func G25NamedResultEscapes() { intOut = named() }

//go:noinline
func cleanup() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = base
		}
	}()
	intOut++
	return nil
}

//alloc:none
func G26NamedResultInDefer() { errOut = cleanup() }

//alloc:none
func G27ReflectInt() { intOut = int(reflect.ValueOf(n1000).Int()) }

//alloc:none
func G28ReflectField() { reflect.ValueOf(item).Elem().Field(0).SetInt(5) }

//alloc:none
func G29ReflectInterface() {
	anyOut = reflect.ValueOf(&Named).Elem().Field(0).Interface() // why: reflection
}

// Named has a field that reflection may read.
var Named = struct{ Text string }{"long enough"}

//alloc:none
func G30ReflectNew() {
	anyOut = reflect.New(reflect.TypeOf(pair{})).Interface() // why: reflection
}

//alloc:none
func G31ReflectName() { textOut = reflect.TypeOf(anyOut).String() }

//alloc:none
func G32ReflectCall() {
	reflect.ValueOf(item).Method(0).Call(nil) // why: reflection
}

// Get is a method that reflection finds.
func (n *node) Get() int { return n.Value }

//alloc:none
func G33DeepEqual() {
	if reflect.DeepEqual(ints, room) { // why: boxed-argument
		intOut++
	}
}

//alloc:none
func G34LinkedNodes() {
	var head *node
	for i := range 3 {
		head = &node{i, head} // why: new-object
	}
	nodeOut = head
}

//alloc:none
func G35StackNodes() {
	var head *node
	for i := range 3 {
		head = &node{i, nil} // why: new-object
	}
	intOut = head.Value
}

//alloc:none
func G36Duration() {
	textOut = time.Duration(n1000).String() // why: duration-string
}

//alloc:none
func G37StructWithInterface() {
	e := event{name: small, value: n1000} // why: boxed-argument moved-variable
	eventOut = &e.value
}

type event struct {
	name  string
	value any
}

var eventOut *any
