// Package engines runs the DynamoDB and S3 engines of the local stack and of
// every test as child processes that never outlive their parent.
package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// The settings of every local engine. They are no secrets, because the engines listen on the
// loopback interface only.
const (
	accessKey = "vitrine"
	secretKey = "vitrine-local"
	region    = "us-east-1"
	bucket    = "vitrine"
	s3Domain  = "s3.localhost"
)

// Environment variables that name engines which already run.
const (
	EnvDynamoDB = "DYNAMODB_ENDPOINT"
	EnvS3       = "S3_ENDPOINT"
)

// Options say where the engines keep their data and on which ports they listen. The zero value
// suits tests.
type Options struct {
	// Dir holds the data. When it is empty, DynamoDB keeps its data in memory
	// until it stops, and S3 in a temporary folder until Close, Kill or the
	// death of this process.
	Dir string
	// DynamoDBPort and S3Port are ports on 127.0.0.1; 0 takes a free one.
	DynamoDBPort, S3Port int
	// Own starts both engines even if the environment names some.
	Own bool
	// Log receives what the engines print. It may be nil.
	Log io.Writer
}

// Engines are the addresses and keys of a running DynamoDB and a running S3.
type Engines struct {
	DynamoDB string // endpoint URL
	S3       string // endpoint URL for path-style requests
	S3Domain string // host and port; URLs are signed for {Bucket}.{S3Domain}

	Bucket, AccessKey, SecretKey, Region string
	SessionToken                         string // of temporary keys, which the engines do not ask for

	// DynamoDBProcess and S3Process stop, kill and restart one engine. They are
	// nil for an engine that the environment names.
	DynamoDBProcess, S3Process *Process

	temporary string // folder to remove at the end
}

// The ports of the engines of a stack, counted from its base.
const (
	DynamoDBOffset = 11
	S3Offset       = 12
)

// At returns the engines of the stack whose ports are counted from base. It does not wait for them to answer.
func At(base int) (*Engines, error) {
	e := &Engines{
		Bucket:    bucket,
		AccessKey: accessKey,
		SecretKey: secretKey,
		Region:    region,
		DynamoDB:  "http://" + address(base+DynamoDBOffset),
		S3:        "http://" + address(base+S3Offset),
	}
	return e, e.nameDomain()
}

// Start starts both engines, or finds those that the environment names, and
// returns when both answer. Ctx bounds the start only: the engines run until
// Close, Kill or the end of this process, kill -9 included.
func Start(ctx context.Context, o Options) (*Engines, error) {
	e := &Engines{
		Bucket:    bucket,
		AccessKey: accessKey,
		SecretKey: secretKey,
		Region:    region,
	}
	if err := e.start(ctx, o); err != nil {
		e.Kill()
		return nil, err
	}
	return e, nil
}

func (e *Engines) start(ctx context.Context, o Options) error {
	log := &sharedWriter{to: o.Log}
	if err := e.startDynamoDB(ctx, o, log); err != nil {
		return fmt.Errorf("DynamoDB engine: %w", err)
	}
	if err := e.startS3(ctx, o, log); err != nil {
		return fmt.Errorf("S3 engine: %w", err)
	}
	return nil
}

func (e *Engines) startDynamoDB(ctx context.Context, o Options, log io.Writer) error {
	if given := os.Getenv(EnvDynamoDB); given != "" && !o.Own {
		e.DynamoDB = given
		return answersAt(ctx, EnvDynamoDB, given)
	}
	repository, err := Root()
	if err != nil {
		return err
	}
	dynoxide, err := findDynoxide(repository)
	if err != nil {
		return err
	}
	watcher, err := buildS3D(ctx, repository, log)
	if err != nil {
		return err
	}
	e.DynamoDBProcess = &Process{
		name:   "DynamoDB engine",
		health: "/",
		log:    log,
		command: func(port int) []string {
			args := []string{watcher, "-watch", "--", dynoxide, "--host", loopback, "--port", strconv.Itoa(port)}
			if o.Dir != "" {
				args = append(args, "--db-path", filepath.Join(o.Dir, "dynamodb.db"))
			}
			return args
		},
	}
	if err := makeFolder(o.Dir); err != nil {
		return err
	}
	e.DynamoDB, err = e.DynamoDBProcess.open(ctx, o.DynamoDBPort)
	return err
}

func (e *Engines) startS3(ctx context.Context, o Options, log io.Writer) error {
	if given := os.Getenv(EnvS3); given != "" && !o.Own {
		return e.useS3(ctx, given)
	}
	repository, err := Root()
	if err != nil {
		return err
	}
	s3d, err := buildS3D(ctx, repository, log)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.Dir, "s3")
	if o.Dir == "" {
		if dir, err = os.MkdirTemp("", "vitrine-s3-"); err != nil {
			return err
		}
		e.temporary = dir
	}
	e.S3Process = &Process{
		name:   "S3 engine",
		health: "/healthz",
		log:    log,
		command: func(port int) []string {
			return []string{
				s3d, "-dir", dir, "-addr", address(port), "-bucket", e.Bucket, "-domain", s3Domain,
				"-access", e.AccessKey, "-secret", e.SecretKey, "-region", e.Region,
				"-temporary=" + strconv.FormatBool(e.temporary != ""),
			}
		},
	}
	if e.S3, err = e.S3Process.open(ctx, o.S3Port); err != nil {
		return err
	}
	return e.nameDomain()
}

// nameDomain derives the host-style domain from the endpoint's port.
func (e *Engines) nameDomain() error {
	u, err := url.Parse(e.S3)
	if err != nil {
		return err
	}
	e.S3Domain = s3Domain
	if port := u.Port(); port != "" {
		e.S3Domain += ":" + port
	}
	return nil
}

// AWS returns the region and the keys of the engines for SDK clients, which still need the
// endpoint, and path style for S3.
func (e *Engines) AWS() aws.Config {
	return aws.Config{
		Region:      e.Region,
		Credentials: credentials.NewStaticCredentialsProvider(e.AccessKey, e.SecretKey, e.SessionToken),
	}
}

// S3Host is the Host header under which S3 answers for the bucket and for which
// upload URLs are signed.
func (e *Engines) S3Host() string { return e.Bucket + "." + e.S3Domain }

// Close stops the engines that Start started and removes their temporary data.
func (e *Engines) Close() error {
	return errors.Join(e.S3Process.close((*Process).Stop), e.DynamoDBProcess.close((*Process).Stop), e.removeTemporary())
}

// Kill ends the engines that Start started as a crash would, with SIGKILL, and
// removes their temporary data.
func (e *Engines) Kill() {
	kill := func(p *Process) error { p.Kill(); return nil }
	_ = errors.Join(e.S3Process.close(kill), e.DynamoDBProcess.close(kill), e.removeTemporary())
}

func (e *Engines) removeTemporary() error {
	if e.temporary == "" {
		return nil
	}
	return os.RemoveAll(e.temporary)
}

func makeFolder(dir string) error {
	if dir == "" {
		return nil
	}
	return os.MkdirAll(dir, 0o700)
}
