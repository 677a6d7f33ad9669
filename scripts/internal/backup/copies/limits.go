package copies

import (
	"os"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// policyName is the file in a data folder in which scripts/dev keeps the policy that it was started with.
const policyName = "policy.json"

// Limits returns the limits that held on one machine: those of the first file that has a policy, or the defaults where
// none has. Rates and allowances are off, because no file tells whether they were on.
func Limits(files ...string) limits.Limits {
	numbers := limits.Default()
	numbers.Off, numbers.Tiers = true, policy.Default(false).Tiers
	for _, file := range files {
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
