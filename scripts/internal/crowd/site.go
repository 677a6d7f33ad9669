package crowd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

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

const (
	tablePrefix = "vitrine" // of the names of tables, as scripts/dev names them
	faultShare  = 0.01      // of the AWS calls
)

// Site is a data folder with the engines and the hosts that serve it.
type Site struct {
	Data    string
	Base    int // of the ports; 0: free ones
	Faults  *chaos.Injector
	Engines *engines.Engines
	lock    *folder.Lock
	stack   *stack.Stack
}

// Start starts the engines and then the hosts.
func (s *Site) Start(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return err
	}
	if s.lock, err = folder.Take(s.Data, folder.User{PID: os.Getpid(), Base: s.Base}); err != nil {
		return err
	}
	o := engines.Options{Dir: s.Data, Own: true}
	if s.Base != 0 {
		o.DynamoDBPort, o.S3Port = s.Base+engines.DynamoDBOffset, s.Base+engines.S3Offset
	}
	if s.Engines, err = engines.Start(ctx, o); err != nil {
		return err
	}
	assembly.SetMemory(os.Getenv)
	s.stack, err = stack.Start(ctx, stack.Options{
		Engines:           s.Engines,
		BasePort:          s.Base,
		Data:              s.Data,
		Tables:            tablePrefix,
		Limits:            numbers(),
		Now:               time.Now,
		Log:               slog.New(slog.DiscardHandler),
		Middleware:        []func(*middleware.Stack) error{s.Faults.Add},
		NoClientDocuments: true,
	})
	return err
}

// numbers are the limits without rates, which one machine full of workers would reach.
func numbers() limits.Limits {
	n := limits.Default()
	n.Off, n.Bundles = true, stack.JobsEvery
	return n
}

// Crash kills an engine, the S3 engine for an even n, and starts it again after a while.
func (s *Site) Crash(ctx context.Context, n int, down time.Duration) error {
	engine := []*engines.Process{s.Engines.S3Process, s.Engines.DynamoDBProcess}[n%2]
	engine.Kill()
	time.Sleep(down)
	if err := engine.Start(ctx); err != nil {
		return fmt.Errorf("a killed engine does not come back: %w", err)
	}
	return nil
}

// StopHosts stops the hosts with their jobs. The engines go on.
func (s *Site) StopHosts(ctx context.Context) error {
	if s.stack == nil {
		return nil
	}
	err := s.stack.Close(ctx)
	s.stack = nil
	return err
}

// Stop stops everything. It may be called again.
func (s *Site) Stop(ctx context.Context) error {
	err := s.StopHosts(ctx)
	if s.Engines != nil {
		err = errors.Join(err, s.Engines.Close())
		s.Engines = nil
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Release())
		s.lock = nil
	}
	return err
}

// Deployment returns the tables and the bucket, past the faults.
func (s *Site) Deployment() invariant.Deployment {
	e := s.Engines
	return invariant.Deployment{
		DynamoDB: e.DynamoDBClient(),
		S3:       e.S3Client(),
		Tables:   dynamo.Named(tablePrefix),
		Bucket:   e.Bucket,
		Limits:   numbers(),
	}
}

// NewFaults makes a share of all AWS calls of the hosts fail: before they are sent, or after they took effect.
func NewFaults() *chaos.Injector {
	i := chaos.New()
	seldom := func(fails ...chaos.Action) chaos.Action {
		return func(ctx context.Context, c *chaos.Call) error {
			if rand.Float64() > faultShare {
				return nil
			}
			return fails[rand.IntN(len(fails))](ctx, c)
		}
	}
	i.On("").Always().Before(seldom(chaos.Throttle, chaos.ServerError, chaos.Timeout, chaos.Unreachable))
	i.On("").Always().After(seldom(chaos.Timeout))
	return i
}
