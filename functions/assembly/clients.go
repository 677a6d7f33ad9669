package assembly

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/adapter/meter"
	"vitrine/shared/adapter/sdk"
)

// How often and how long the AWS clients try.
const (
	awsAttempts = 3
	awsBackoff  = 200 * time.Millisecond // longest pause between attempts
	awsConnect  = 2 * time.Second
	awsAnswer   = 5 * time.Second // until the first byte of an answer
	idleConns   = 128
	readBuffer  = 16 << 10 // enough for the headers and a small object in one read
)

func (c *Config) dynamodb() *dynamodb.Client {
	return dynamodb.NewFromConfig(c.client(nil), func(o *dynamodb.Options) {
		if c.DynamoDBEndpoint != "" {
			o.BaseEndpoint = aws.String(c.DynamoDBEndpoint)
		}
	})
}

// s3 returns a client that puts the bucket into the host name, because presigned URLs are signed for that host. A local
// engine's host name need not resolve, so its client always dials the endpoint.
func (c *Config) s3() (*s3.Client, error) {
	if c.S3Endpoint == "" {
		return s3.NewFromConfig(c.client(nil)), nil
	}
	endpoint, err := url.Parse(c.S3Endpoint)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, endpoint.Host)
	}
	return s3.NewFromConfig(c.client(dial), func(o *s3.Options) {
		o.BaseEndpoint = aws.String(endpoint.Scheme + "://" + c.S3Domain)
	}), nil
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// client returns the configuration of one AWS client. It bounds and counts the calls, and adds the middleware of tests.
func (c *Config) client(dial dialFunc) aws.Config {
	cfg := c.AWS.Copy()
	if dial == nil {
		dial = (&net.Dialer{Timeout: awsConnect}).DialContext
	}
	cfg.HTTPClient = sdk.Sender{RoundTripper: transport(dial)}
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = awsAttempts, awsBackoff })
	}
	cfg.APIOptions = append(append(cfg.APIOptions, sdk.Trim(), meter.Add), c.Middleware...)
	return cfg
}

// transport returns a transport that keeps connections open for all concurrent calls of a host. It uses no proxy. It
// asks for neither HTTP/2 nor compression, because DynamoDB and S3 do not offer them unasked.
func transport(dial dialFunc) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:           dial,
		MaxIdleConns:          idleConns,
		MaxIdleConnsPerHost:   idleConns,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   awsConnect,
		ResponseHeaderTimeout: awsAnswer,
		Protocols:             &protocols,
		DisableCompression:    true,
		ReadBufferSize:        readBuffer,
	}
}
