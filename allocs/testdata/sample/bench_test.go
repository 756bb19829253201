// SPDX-License-Identifier: Apache-2.0

package sample

import "testing"

// repeat is not inlined, so that a case runs as it was compiled on its own.
//
//go:noinline
func repeat(b *testing.B, f func()) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		f()
	}
}

// Cases are all of them, for whoever establishes the truth.
var Cases = []struct {
	Name string
	Run  func()
}{
	{"C01EventEnabled", C01EventEnabled},
	{"C02EventDisabled", C02EventDisabled},
	{"C03AnyInt", C03AnyInt},
	{"C04AnyStringer", C04AnyStringer},
	{"C05AnyDisabled", C05AnyDisabled},
	{"C06VariadicInterface", C06VariadicInterface},
	{"C07VariadicInterfaceDisabled", C07VariadicInterfaceDisabled},
	{"C08VariadicConcrete", C08VariadicConcrete},
	{"C09FieldsInterface", C09FieldsInterface},
	{"C10FieldsConcrete", C10FieldsConcrete},
	{"C11SlogDisabledPairs", C11SlogDisabledPairs},
	{"C12SlogDisabledAttrs", C12SlogDisabledAttrs},
	{"C13SlogDisabledLogAttrs", C13SlogDisabledLogAttrs},
	{"C14SlogFive", C14SlogFive},
	{"C15SlogSix", C15SlogSix},
	{"C16PoolByValue", C16PoolByValue},
	{"C17PoolPointer", C17PoolPointer},
	{"C18PoolNewHeader", C18PoolNewHeader},
	{"C19StackToInterface", C19StackToInterface},
	{"C20StackToConcrete", C20StackToConcrete},
	{"C21MakeVariableSmall", C21MakeVariableSmall},
	{"C22MakeVariableLarge", C22MakeVariableLarge},
	{"C23AppendLocalFour", C23AppendLocalFour},
	{"C24AppendLocalNine", C24AppendLocalNine},
	{"C25AppendReturned", C25AppendReturned},
	{"C26AppendThroughCallee", C26AppendThroughCallee},
	{"C27AppendReused", C27AppendReused},
	{"C28BoxedConstant", C28BoxedConstant},
	{"C29SortedKeys", C29SortedKeys},
	{"C30ClosureNotKept", C30ClosureNotKept},
	{"C31ClosureKept", C31ClosureKept},
	{"C32MethodValueKept", C32MethodValueKept},
	{"C33Goroutine", C33Goroutine},
	{"C34LoadLocation", C34LoadLocation},
	{"C35CachedLocation", C35CachedLocation},
	{"C36TimeFormat", C36TimeFormat},
	{"C37TimeAppendFormat", C37TimeAppendFormat},
	{"C38Sprintf", C38Sprintf},
	{"C39Appendf", C39Appendf},
	{"C40Itoa", C40Itoa},
	{"C41StringSmallLocal", C41StringSmallLocal},
	{"C42StringLargeLocal", C42StringLargeLocal},
	{"C43ConcatSmallLocal", C43ConcatSmallLocal},
	{"C44ConcatLargeLocal", C44ConcatLargeLocal},
	{"C45BoxLarge", C45BoxLarge},
	{"C46BoxSmall", C46BoxSmall},
	{"C47GenericSwitch", C47GenericSwitch},
	{"C48ContextStruct", C48ContextStruct},
	{"C49ContextInt", C49ContextInt},
	{"C50ErrorsIs", C50ErrorsIs},
	{"C51Errorf", C51Errorf},
	{"C52Caller", C52Caller},
	{"C53Callers", C53Callers},
	{"C54PanicPath", C54PanicPath},
	{"C55ErrorPath", C55ErrorPath},
	{"C56MapInsertSteady", C56MapInsertSteady},
	{"C57MapFresh", C57MapFresh},
	{"C58MovedToHeap", C58MovedToHeap},
}

func BenchmarkC01EventEnabled(b *testing.B)              { repeat(b, C01EventEnabled) }
func BenchmarkC02EventDisabled(b *testing.B)             { repeat(b, C02EventDisabled) }
func BenchmarkC03AnyInt(b *testing.B)                    { repeat(b, C03AnyInt) }
func BenchmarkC04AnyStringer(b *testing.B)               { repeat(b, C04AnyStringer) }
func BenchmarkC05AnyDisabled(b *testing.B)               { repeat(b, C05AnyDisabled) }
func BenchmarkC06VariadicInterface(b *testing.B)         { repeat(b, C06VariadicInterface) }
func BenchmarkC07VariadicInterfaceDisabled(b *testing.B) { repeat(b, C07VariadicInterfaceDisabled) }
func BenchmarkC08VariadicConcrete(b *testing.B)          { repeat(b, C08VariadicConcrete) }
func BenchmarkC09FieldsInterface(b *testing.B)           { repeat(b, C09FieldsInterface) }
func BenchmarkC10FieldsConcrete(b *testing.B)            { repeat(b, C10FieldsConcrete) }
func BenchmarkC11SlogDisabledPairs(b *testing.B)         { repeat(b, C11SlogDisabledPairs) }
func BenchmarkC12SlogDisabledAttrs(b *testing.B)         { repeat(b, C12SlogDisabledAttrs) }
func BenchmarkC13SlogDisabledLogAttrs(b *testing.B)      { repeat(b, C13SlogDisabledLogAttrs) }
func BenchmarkC14SlogFive(b *testing.B)                  { repeat(b, C14SlogFive) }
func BenchmarkC15SlogSix(b *testing.B)                   { repeat(b, C15SlogSix) }
func BenchmarkC16PoolByValue(b *testing.B)               { repeat(b, C16PoolByValue) }
func BenchmarkC17PoolPointer(b *testing.B)               { repeat(b, C17PoolPointer) }
func BenchmarkC18PoolNewHeader(b *testing.B)             { repeat(b, C18PoolNewHeader) }
func BenchmarkC19StackToInterface(b *testing.B)          { repeat(b, C19StackToInterface) }
func BenchmarkC20StackToConcrete(b *testing.B)           { repeat(b, C20StackToConcrete) }
func BenchmarkC21MakeVariableSmall(b *testing.B)         { repeat(b, C21MakeVariableSmall) }
func BenchmarkC22MakeVariableLarge(b *testing.B)         { repeat(b, C22MakeVariableLarge) }
func BenchmarkC23AppendLocalFour(b *testing.B)           { repeat(b, C23AppendLocalFour) }
func BenchmarkC24AppendLocalNine(b *testing.B)           { repeat(b, C24AppendLocalNine) }
func BenchmarkC25AppendReturned(b *testing.B)            { repeat(b, C25AppendReturned) }
func BenchmarkC26AppendThroughCallee(b *testing.B)       { repeat(b, C26AppendThroughCallee) }
func BenchmarkC27AppendReused(b *testing.B)              { repeat(b, C27AppendReused) }
func BenchmarkC28BoxedConstant(b *testing.B)             { repeat(b, C28BoxedConstant) }
func BenchmarkC29SortedKeys(b *testing.B)                { repeat(b, C29SortedKeys) }
func BenchmarkC30ClosureNotKept(b *testing.B)            { repeat(b, C30ClosureNotKept) }
func BenchmarkC31ClosureKept(b *testing.B)               { repeat(b, C31ClosureKept) }
func BenchmarkC32MethodValueKept(b *testing.B)           { repeat(b, C32MethodValueKept) }
func BenchmarkC33Goroutine(b *testing.B)                 { repeat(b, C33Goroutine) }
func BenchmarkC34LoadLocation(b *testing.B)              { repeat(b, C34LoadLocation) }
func BenchmarkC35CachedLocation(b *testing.B)            { repeat(b, C35CachedLocation) }
func BenchmarkC36TimeFormat(b *testing.B)                { repeat(b, C36TimeFormat) }
func BenchmarkC37TimeAppendFormat(b *testing.B)          { repeat(b, C37TimeAppendFormat) }
func BenchmarkC38Sprintf(b *testing.B)                   { repeat(b, C38Sprintf) }
func BenchmarkC39Appendf(b *testing.B)                   { repeat(b, C39Appendf) }
func BenchmarkC40Itoa(b *testing.B)                      { repeat(b, C40Itoa) }
func BenchmarkC41StringSmallLocal(b *testing.B)          { repeat(b, C41StringSmallLocal) }
func BenchmarkC42StringLargeLocal(b *testing.B)          { repeat(b, C42StringLargeLocal) }
func BenchmarkC43ConcatSmallLocal(b *testing.B)          { repeat(b, C43ConcatSmallLocal) }
func BenchmarkC44ConcatLargeLocal(b *testing.B)          { repeat(b, C44ConcatLargeLocal) }
func BenchmarkC45BoxLarge(b *testing.B)                  { repeat(b, C45BoxLarge) }
func BenchmarkC46BoxSmall(b *testing.B)                  { repeat(b, C46BoxSmall) }
func BenchmarkC47GenericSwitch(b *testing.B)             { repeat(b, C47GenericSwitch) }
func BenchmarkC48ContextStruct(b *testing.B)             { repeat(b, C48ContextStruct) }
func BenchmarkC49ContextInt(b *testing.B)                { repeat(b, C49ContextInt) }
func BenchmarkC50ErrorsIs(b *testing.B)                  { repeat(b, C50ErrorsIs) }
func BenchmarkC51Errorf(b *testing.B)                    { repeat(b, C51Errorf) }
func BenchmarkC52Caller(b *testing.B)                    { repeat(b, C52Caller) }
func BenchmarkC53Callers(b *testing.B)                   { repeat(b, C53Callers) }
func BenchmarkC54PanicPath(b *testing.B)                 { repeat(b, C54PanicPath) }
func BenchmarkC55ErrorPath(b *testing.B)                 { repeat(b, C55ErrorPath) }
func BenchmarkC56MapInsertSteady(b *testing.B)           { repeat(b, C56MapInsertSteady) }
func BenchmarkC57MapFresh(b *testing.B)                  { repeat(b, C57MapFresh) }
func BenchmarkC58MovedToHeap(b *testing.B)               { repeat(b, C58MovedToHeap) }
