package copies

import (
	"os"
	"path/filepath"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// policyName is the file in a data folder in which scripts/dev keeps the policy that it was started with.
const policyName = "policy.json"

// Limits returns the limits that held on one machine: those of the policy in a data folder, or else in the copy, or the
// defaults where neither has one. Rates and allowances are off, because no file tells whether they were on.
func (c Copy) Limits(data string) limits.Limits {
	numbers := limits.Default()
	numbers.Off, numbers.Tiers = true, policy.Default(false).Tiers
	for _, file := range []string{filepath.Join(data, policyName), c.RingFile(policyName)} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if p, err := policy.Read(text, policy.Deployment{}); err == nil {
			numbers.Tiers = p.Tiers
			break
		}
	}
	return numbers
}
