package main

import (
	"errors"
	"fmt"
	"runtime"
)

// gauge reads the resources of this process, always at the same moment of a crash cycle.
type gauge struct {
	heap, goroutines []float64
}

func (g *gauge) read() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	g.heap = append(g.heap, float64(m.HeapAlloc)/(1<<20))
	g.goroutines = append(g.goroutines, float64(runtime.NumGoroutine()))
}

// The allowed growth: the last third of the readings against the second, clients and their record
// included.
const (
	heapGrowth      = 1.5
	goroutineGrowth = 1.3
)

func (g *gauge) verdict() error {
	third := len(g.heap) / 3
	if third == 0 {
		fmt.Println("too short to tell whether memory is flat")
		return nil
	}
	middle := func(v []float64) float64 { return mean(v[third : 2*third]) }
	last := func(v []float64) float64 { return mean(v[len(v)-third:]) }
	heap, routines := last(g.heap)/middle(g.heap), last(g.goroutines)/middle(g.goroutines)
	fmt.Printf("heap %.1f MB, then %.1f MB (x%.2f); goroutines %.0f, then %.0f (x%.2f)\n",
		middle(g.heap), last(g.heap), heap, middle(g.goroutines), last(g.goroutines), routines)
	if heap > heapGrowth || routines > goroutineGrowth {
		return errors.New("memory or goroutines grow")
	}
	return nil
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
