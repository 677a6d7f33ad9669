package assembly

import (
	"runtime/debug"
	"testing"
)

// memorySettings returns what the runtime is set to, and sets it back at the end of the test.
func memorySettings(t *testing.T) func() (percent int, limit int64) {
	t.Helper()
	read := func() (int, int64) {
		percent := debug.SetGCPercent(-1)
		debug.SetGCPercent(percent)
		return percent, debug.SetMemoryLimit(-1)
	}
	percent, limit := read()
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	return read
}

func TestAFunctionUsesMostOfItsMemory(t *testing.T) {
	read := memorySettings(t)
	for size, want := range map[string]int64{
		"512": 512 << 20 / 10 * 8, "1024": 1 << 30 / 10 * 8, "": 512 << 20 / 10 * 8, "-1": 512 << 20 / 10 * 8, "much": 512 << 20 / 10 * 8,
	} {
		SetMemory(func(name string) string { return map[string]string{functionMemory: size}[name] })
		if percent, limit := read(); percent != heapGrowth || limit/(1<<20) != want/(1<<20) {
			t.Errorf("%q MB: %d percent, limit %d, want %d", size, percent, limit, want)
		}
	}
}

func TestAnOperatorSetsTheCollectorByTheEnvironment(t *testing.T) {
	read := memorySettings(t)
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(1 << 30)
	SetMemory(func(name string) string {
		return map[string]string{functionMemory: "512", growthSetting: "50", limitSetting: "1GiB"}[name]
	})
	if percent, limit := read(); percent != 50 || limit != 1<<30 {
		t.Errorf("%d percent, limit %d", percent, limit)
	}
}
