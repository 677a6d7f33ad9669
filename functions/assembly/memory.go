package assembly

import (
	"runtime/debug"
	"strconv"
)

// What the process may use of the memory that it has. A host allocates about 100 KB for a request and keeps next to
// nothing beside its cache, so that with Go's own 100 percent a fifth of its CPU time is garbage collection. At 400
// percent the heap of a host without a cache stays below 30 MB. With a full cache the heap grows to the limit, where
// the collector works as often as it takes to stay there.
const (
	heapGrowth  = 400 // percent
	memoryShare = 80  // percent of the memory of a function
	localMemory = 512 // MB of a process that is no function
)

// The variables that Lambda sets, and those by which an operator decides otherwise.
const (
	functionMemory = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE" // MB
	growthSetting  = "GOGC"
	limitSetting   = "GOMEMLIMIT"
)

// SetMemory makes the process collect garbage as seldom as its memory allows. What the environment sets for the Go
// runtime stays.
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
