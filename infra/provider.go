package main

import "fmt"

// readProviders reads the ARN of the secret that lists the trusted identity providers of agents; empty: there are none.
func readProviders(c lookup) (string, error) {
	arn := c.text("agent-providers", "")
	if arn != "" && !secretShape.MatchString(arn) {
		return "", fmt.Errorf("the context agent-providers is the whole ARN of a secret in Secrets Manager, not %q", arn)
	}
	return arn, nil
}
