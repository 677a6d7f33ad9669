package assembly

import (
	"runtime/debug"
	"strconv"
)

// How the process uses its memory. A host allocates about 100 KB for a request and keeps hardly any memory besides its
// cache. With Go's default of 100 percent, a fifth of its CPU time is garbage collection. With 400 percent, the heap of
// a host without a cache stays below 30 MB. With a full cache the heap grows to the limit, where the collector works as
// often as it must to stay there.
const (
	heapGrowth  = 400 // percent
	memoryShare = 80  // percent of the memory of a function
	localMemory = 512 // MB that a process outside of Lambda may use
)

// The variable that Lambda sets, and those with which an operator overrides what is chosen here.
const (
	functionMemory = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE" // MB
	growthSetting  = "GOGC"
	limitSetting   = "GOMEMLIMIT"
)

// SetMemory makes the process collect garbage as rarely as its memory allows. It respects the variables of the Go
// runtime.
func SetMemory(getenv func(string) string) {
	if getenv(growthSetting) == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if getenv(limitSetting) == "" {
		debug.SetMemoryLimit(memoryLimit(getenv(functionMemory)))
	}
}

// memoryLimit returns the bytes that a process may use.
func memoryLimit(megabytes string) int64 {
	n, err := strconv.ParseInt(megabytes, 10, 32)
	if err != nil || n <= 0 {
		n = localMemory
	}
	return n << 20 * memoryShare / 100
}
