// Package boot assembles a deployment: it turns configuration into AWS clients, stores and services; nothing else does.
package boot

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"

	"vitrine/shared/address"
	"vitrine/shared/credential"
	"vitrine/shared/dynamo"
	"vitrine/shared/keyring"
	"vitrine/shared/limits"
)

// Config is everything that a deployment is told. It is read once; what is missing stops the start.
type Config struct {
	Environment credential.Environment
	Origins     address.Origins
	Tables      dynamo.Tables
	Bucket      string
	Rings       keyring.Set // those that the hosts need; Derive refuses an empty one
	AWS         aws.Config
	// DynamoDBEndpoint is the URL of an engine that is not AWS; empty: AWS.
	DynamoDBEndpoint string
	// S3Endpoint is the URL of an engine that is not AWS, and S3Domain the host and port that it answers to host-style,
	// {bucket}.{domain}; empty: AWS.
	S3Endpoint, S3Domain string
	// DirectPut hands out S3's own URLs instead of ones on the upload host.
	DirectPut bool
	Limits    limits.Limits
	Now       func() time.Time
	// CreateTables makes the tables and the provision gate where they are missing; a deployment has them already.
	CreateTables bool
	// Middleware joins the AWS clients' stacks; fault tests use it.
	Middleware []func(*middleware.Stack) error
}

// check names everything that is missing or wrong, in one error.
func (c *Config) check() error {
	var wrong []error
	need := func(name, value string) {
		if value == "" {
			wrong = append(wrong, fmt.Errorf("%s is not set", name))
		}
	}
	need("the name of table core", c.Tables.Core)
	need("the name of table events", c.Tables.Events)
	need("the name of table hot", c.Tables.Hot)
	need("the bucket", c.Bucket)
	if c.Environment != credential.Production && c.Environment != credential.Preview {
		wrong = append(wrong, fmt.Errorf("the environment is %q, not %s or %s", c.Environment, credential.Production, credential.Preview))
	}
	if c.Environment == credential.Production && c.Limits.Off {
		wrong = append(wrong, errors.New("limits cannot be off in production"))
	}
	o := c.Origins
	for name, origin := range map[string]string{"api": o.API, "upload": o.Upload, "content": o.Content, "app": o.App, "mcp": o.MCP} {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "http") || u.Path != "" {
			wrong = append(wrong, fmt.Errorf("the %s host's URL %q is not an http origin without path", name, origin))
		}
	}
	return errors.Join(wrong...)
}
