package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// readProviders reads the ARN of the secret that lists the identity providers of agents; empty: none is trusted.
func readProviders(c lookup) (string, error) {
	arn := c.text("agent-providers", "")
	if arn != "" && !secretShape.MatchString(arn) {
		return "", fmt.Errorf("the context agent-providers is the whole ARN of a secret in Secrets Manager, not %q", arn)
	}
	return arn, nil
}

// readProviderList allows a host that verifies what those providers send to read the list.
func (h host) readProviderList(o options) []awsiam.PolicyStatement {
	if !h.providers || o.AgentProviders == "" {
		return nil
	}
	return []awsiam.PolicyStatement{allow(jsii.String(o.AgentProviders), "secretsmanager:GetSecretValue")}
}
