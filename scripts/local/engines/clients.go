package engines

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
)

// DynamoDBClient returns a client of the DynamoDB engine. Its requests pass through the middleware.
func (e *Engines) DynamoDBClient(through ...func(*middleware.Stack) error) *dynamodb.Client {
	return dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) {
		o.BaseEndpoint = &e.DynamoDB
		o.APIOptions = append(o.APIOptions, through...)
	})
}

// S3Client returns a client of the S3 engine. Its requests pass through the middleware.
func (e *Engines) S3Client(through ...func(*middleware.Stack) error) *s3.Client {
	return s3.NewFromConfig(e.AWS(), func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = &e.S3, true
		o.APIOptions = append(o.APIOptions, through...)
	})
}
