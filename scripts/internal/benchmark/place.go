package main

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/adapter/meter"
)

// place is where the engines are and which tables are used.
type place struct {
	engines *engine.Engines
	tables  string
}

type addition = func(*middleware.Stack) error

// The clients have the settings of those that functions/assembly gives the hosts.

func (p place) dynamodb(more ...addition) *dynamodb.Client {
	return dynamodb.NewFromConfig(p.client(more), func(o *dynamodb.Options) { o.BaseEndpoint = &p.engines.DynamoDB })
}

func (p place) s3(more ...addition) *s3.Client {
	return s3.NewFromConfig(p.client(more), func(o *s3.Options) {
		o.BaseEndpoint = aws.String("http://" + p.engines.S3Domain)
		o.HTTPClient = p.engineClient()
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
}

func (p place) client(more []addition) aws.Config {
	cfg := p.engines.AWS()
	cfg.HTTPClient = httpClient(nil)
	cfg.APIOptions = append([]addition{meter.Add}, more...)
	return cfg
}

// engineClient dials the S3 engine whatever the name, which need not resolve.
func (p place) engineClient() *http.Client {
	var dialer net.Dialer
	return httpClient(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, strings.TrimPrefix(p.engines.S3, "http://"))
	})
}
