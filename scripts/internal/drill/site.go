package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/assembly"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/limits"
)

// tablePrefix names the tables, as those of scripts/dev are named.
const tablePrefix = "vitrine"

// site is a data folder with the engines and the hosts that serve it.
type site struct {
	data    string
	base    int
	faults  *chaos.Injector
	lock    *folder.Lock
	engines *engines.Engines
	stack   *stack.Stack
}

// startEngines starts the engines, on free ports if there is no base.
func (s *site) startEngines(ctx context.Context) (err error) {
	o := engines.Options{Dir: s.data, Own: true}
	if s.base != 0 {
		o.DynamoDBPort, o.S3Port = s.base+engines.DynamoDBOffset, s.base+engines.S3Offset
	}
	s.engines, err = engines.Start(ctx, o)
	return err
}

// start starts the engines and then the hosts.
func (s *site) start(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return err
	}
	if s.lock, err = folder.Take(s.data, folder.User{PID: os.Getpid(), Base: s.base}); err != nil {
		return err
	}
	if err := s.startEngines(ctx); err != nil {
		return err
	}
	assembly.SetMemory(os.Getenv)
	numbers := numbers()
	numbers.Bundles = stack.JobsEvery
	s.stack, err = stack.Start(ctx, stack.Options{
		Engines:           s.engines,
		BasePort:          s.base,
		Data:              s.data,
		Tables:            tablePrefix,
		Limits:            numbers,
		Now:               time.Now,
		Log:               slog.New(slog.DiscardHandler),
		Middleware:        []func(*middleware.Stack) error{s.faults.Add},
		NoClientDocuments: true,
	})
	return err
}

// numbers are the limits without rates, which one machine full of clients would reach.
func numbers() limits.Limits {
	n := limits.Default()
	n.Off = true
	return n
}

// stopHosts stops the hosts with their jobs. The engines go on.
func (s *site) stopHosts(ctx context.Context) error {
	if s.stack == nil {
		return nil
	}
	err := s.stack.Close(ctx)
	s.stack = nil
	return err
}

// stop stops everything. It may be called again.
func (s *site) stop(ctx context.Context) error {
	err := s.stopHosts(ctx)
	if s.engines != nil {
		err = errors.Join(err, s.engines.Close())
		s.engines = nil
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Release())
		s.lock = nil
	}
	return err
}

// deployment returns the tables and the bucket, past the faults.
func (s *site) deployment() invariant.Deployment {
	e := s.engines
	return invariant.Deployment{
		DynamoDB: dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) { o.BaseEndpoint = &e.DynamoDB }),
		S3:       s3.NewFromConfig(e.AWS(), func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = aws.String(e.S3), true }),
		Tables:   dynamo.Named(tablePrefix),
		Bucket:   e.Bucket,
		Limits:   numbers(),
	}
}
