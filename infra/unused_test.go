package main

import (
	"slices"
	"strings"
	"testing"
)

// reportUnused names rights that the visit did not use, because such a right is one too many.
func (h *harness) reportUnused(t *testing.T) {
	t.Helper()
	for _, host := range functionNames {
		for _, line := range rights[host] {
			action, rest, _ := strings.Cut(line, " ")
			resource, _, _ := strings.Cut(rest, " ")
			service, _, _ := strings.Cut(action, ":")
			if slices.Contains(unproven, service) || unreached[host+" "+line] != "" {
				continue
			}
			if !h.uses(host, []string{action}, resource, "*") {
				t.Errorf("%s never uses %s", host, line)
			}
		}
		h.reportUnusedKeys(t, host)
	}
}

// reportUnusedKeys names leading keys that a host may use and did not.
func (h *harness) reportUnusedKeys(t *testing.T, host string) {
	t.Helper()
	for _, s := range policyOf(t, read(t, made["Plain"].stackName(host))) {
		for condition, patterns := range s.conditions {
			if !strings.HasSuffix(condition, " "+leadingKeys) || unreached[host+" "+rolePolicy{s}.lines()[0]] != "" {
				continue
			}
			for _, pattern := range strings.Split(patterns.(string), either) {
				if !h.uses(host, s.actions, s.resources[0], pattern) {
					t.Errorf("%s never uses %s on %s of %s", host, strings.Join(s.actions, either), pattern, s.resources[0])
				}
			}
		}
	}
}

// uses reports whether a host used one of some actions on a resource, with a leading key that
// matches pattern.
func (h *harness) uses(host string, actions []string, resource, pattern string) bool {
	for used := range h.used[host] {
		part := strings.SplitN(used, " ", 3)
		if slices.Contains(actions, part[0]) && matches(resource, part[1]) && matches(pattern, strings.Join(part[2:], "")) {
			return true
		}
	}
	return false
}
