// SPDX-License-Identifier: Apache-2.0

package sample2

import (
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
	"unique"
)

//alloc:none
func I01SelectAfter() {
	select {
	case done <- 1:
		<-done
	case <-time.After(time.Minute): // why: time-after
	}
}

//alloc:none
func I02SelectDefault() {
	select {
	case n := <-done:
		intOut = n
	default:
	}
}

//alloc:none
func I03ChannelPerCall() {
	c := make(chan int, 1) // why: chan-per-call
	c <- n5
	intOut = <-c
}

var pairChan = make(chan pair, 1)

//alloc:none
func I04SendStruct() {
	pairChan <- pair{small, n5}
	intOut = (<-pairChan).n
}

var timer = time.NewTimer(time.Hour)

//alloc:none
func I05TimerReset() { timer.Reset(time.Hour) }

//alloc:none
func I06TimerNew() {
	t := time.NewTimer(time.Hour) // why: time-after
	t.Stop()
}

//alloc:none
func I07WithCancel() {
	ctx, cancel := context.WithCancel(bg) // why: context-value
	ctxOut = ctx
	cancel()
}

type ctxKey struct{}

//alloc:none
func I08WithValue() {
	ctxOut = context.WithValue(bg, ctxKey{}, n1000) // why: context-value boxed-argument
}

//alloc:none
func I09ContextErr() { errOut = bg.Err() }

var nodePool = sync.Pool{New: func() any { return new(node) }}

//alloc:none
func I10PoolPointer() {
	n := nodePool.Get().(*node)
	n.Value = n5
	nodePool.Put(n)
}

var pairPool = sync.Pool{New: func() any { return pair{} }}

//alloc:none
func I11PoolStruct() {
	p := pairPool.Get().(pair)
	p.n = n1000
	pairPool.Put(p) // why: pool-put-value
}

var bufPool sync.Pool

//alloc:none
func I12PoolWithoutNew() {
	b, _ := bufPool.Get().(*[]byte)
	if b == nil {
		b = new([]byte)
	}
	*b = append((*b)[:0], small...)
	bufPool.Put(b)
}

//alloc:none
func I13PoolAddress() {
	var b []byte // why: pool-put-address
	if p, _ := bufPool.Get().(*[]byte); p != nil {
		b = *p
	}
	b = append(b[:0], small...)
	bufPool.Put(&b)
}

var value atomic.Value

//alloc:none
func I14AtomicValue() {
	value.Store(n1000) // why: boxed-argument
}

//alloc:none
func I15AtomicValueLoad() { intOut, _ = value.Load().(int) }

var current atomic.Pointer[pair]

//alloc:none
func I16AtomicPointer() {
	current.Store(&pair{small, n5}) // why: new-object
}

//alloc:none
func I17AtomicPointerLoad() {
	if p := current.Load(); p != nil {
		intOut = p.n
	}
}

var once sync.Once

//alloc:none
func I18Once() {
	x := n5
	once.Do(func() { intOut = x })
}

var table sync.Map

//alloc:none
func I19SyncMapLoad() {
	if v, ok := table.Load(small); ok {
		intOut = v.(int)
	}
}

//alloc:none
func I20SyncMapStore() {
	table.Store("key", n1000) // why: boxed-argument sync-map
}

var fetch = sync.OnceValue(func() int { return 5 })

//alloc:none
func I21OnceValue() { intOut = fetch() }

var handle = unique.Make("hello")

//alloc:none
func I22UniqueMake() {
	if unique.Make(small) == handle {
		intOut++
	}
}

//alloc:none
func I23WaitGroup() {
	var wg sync.WaitGroup // why: moved-variable
	for range 2 {
		wg.Add(1)
		go func() { wg.Done() }() // why: go-statement
	}
	wg.Wait()
}

//alloc:none
func I24Labels() {
	pprof.Do(bg, pprof.Labels("k", "v"), func(context.Context) { intOut++ }) // why: pprof-labels
}

//alloc:none
func I25LabelledLoop() {
	f := func(x int) int { return x * 2 }
outer:
	for i := range 4 {
		for j := range 4 {
			if i*j > n5 {
				continue outer
			}
			intOut = f(j)
		}
	}
}

//alloc:none
func I26Timeout() {
	ctx, cancel := context.WithTimeout(bg, time.Hour) // why: context-value
	defer cancel()
	intOut = len(ctx.Done()) // why: context-done
}

//alloc:none
func I27Cond() {
	mu.Lock()
	c := sync.NewCond(&mu) // why: constructor
	c.Signal()
	mu.Unlock()
}
