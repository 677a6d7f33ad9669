package bootstrap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Budgets are the largest sizes of a zip file, by architecture and host. A test fails above them;
// builds and deployments only warn, so that a patch of a dependency does not stop them.
var Budgets = map[string]map[string]int64{
	"arm64": {"api": 7e6, "upload": 5e6, "content": 5e6, "app": 9e6, "mcp": 7e6, "render": 9e6, "jobs": 5e6, "bundle": 5e6},
	"amd64": {"api": 7e6, "upload": 5.5e6, "content": 5.5e6, "app": 9e6, "mcp": 7e6, "render": 9e6, "jobs": 5.5e6, "bundle": 5.5e6},
}

// OverBudget names the zip files above their budget, in one sentence; empty: none.
func OverBudget(arch string, sizes map[string]int64) string {
	var over []string
	for _, host := range slices.Sorted(maps.Keys(sizes)) {
		if most := Budgets[arch][host]; sizes[host] > most {
			over = append(over, fmt.Sprintf("%s %.2f of %.1f MB", host, float64(sizes[host])/1e6, float64(most)/1e6))
		}
	}
	if len(over) == 0 {
		return ""
	}
	return fmt.Sprintf("over budget on %s: %s; `go tool nm -size -sort size` on an unstripped build tells what is large",
		arch, strings.Join(over, ", "))
}
