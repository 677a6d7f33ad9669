package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3api"
	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3err"
)

// Generous caps, because a test opens hundreds of connections at once.
const (
	maxConnections = 4096
	maxParts       = 10_000
	maxCopyBytes   = 5 << 30
	fileOperations = 512
)

// The content of the data folder: posix.New refuses a sidecar or versions inside the objects. All are on one
// filesystem, because files are renamed between objects and versions.
const (
	objectsFolder  = "objects"
	metadataFolder = "metadata"
	versionsFolder = "versions"
)

// options are the flags of the S3 server.
type options struct {
	dir, addr, access, secret, region, domain, bucket string
	temporary                                         bool
	noncurrent                                        time.Duration
}

// serve answers S3 requests until standard input ends or a signal comes, and
// prints one line on standard output once it listens.
func serve(ended <-chan struct{}, o options) error {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return err
	}
	o.dir = dir
	under := &requests{}
	server, err := newServer(o, under)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	failed := make(chan error, 1)
	go func() { failed <- server.ServeMultiPort([]string{o.addr}) }()
	select {
	case err := <-failed:
		return err
	case <-stop:
		return under.end(server.ShutDown)
	case <-ended:
		err := under.end(server.ShutDown)
		if o.temporary {
			err = errors.Join(err, os.RemoveAll(o.dir))
		}
		return err
	}
}

// newServer puts the corrected backend under versitygw's API.
func newServer(o options, under *requests) (*s3api.S3ApiServer, error) {
	backend, err := openBackend(o.dir)
	if err != nil {
		return nil, err
	}
	if err := createBucket(backend.Posix, o); err != nil {
		return nil, err
	}
	go expiry{backend.versions, o.noncurrent}.run()
	owner := auth.Account{Access: o.access, Secret: o.secret, Role: auth.RoleAdmin}
	return s3api.New(
		backend,
		middlewares.RootUserConfig{Access: o.access, Secret: o.secret},
		o.region,
		accounts{auth.NewIAMServiceSingle(owner)},
		nil, nil, nil, nil, // no audit logs, no events, no metrics
		s3api.WithQuiet(),
		s3api.WithKeepAlive(),
		s3api.WithHealth("/healthz"),
		s3api.WithHostStyle(o.domain),
		s3api.WithMiddleware("/", under.count),
		s3api.WithMiddleware("/", drain),
		s3api.WithConcurrencyLimiter(maxConnections, maxConnections),
		s3api.WithMpMaxParts(maxParts),
		s3api.WithOnListen(func() { fmt.Println("s3d listens on", o.addr) }),
	)
}

// openBackend opens the objects in dir with the metadata that its filesystem
// allows. Dir is absolute, since posix.New changes the working directory.
func openBackend(dir string) (corrected, error) {
	objects, kept := filepath.Join(dir, objectsFolder), filepath.Join(dir, versionsFolder)
	if err := errors.Join(os.MkdirAll(objects, 0o700), os.MkdirAll(kept, 0o700)); err != nil {
		return corrected{}, err
	}
	metadata, err := openMetadata(dir)
	if err != nil {
		return corrected{}, err
	}
	_, files := metadata.(sidecar)
	backend, err := posix.New(objects, metadata, posix.PosixOpts{
		VersioningDir:       kept,
		Concurrency:         fileOperations,
		CopyObjectThreshold: maxCopyBytes,
	})
	return corrected{
		Posix:    backend,
		versions: &versions{meta: metadata, folder: kept, sidecar: files},
		puts:     make(chan struct{}, fileOperations),
	}, err
}

// createBucket creates the private bucket o.bucket, or finds it there, and keeps its versions from now on.
func createBucket(backend *posix.Posix, o options) error {
	if o.bucket == "" {
		return nil
	}
	acl, err := json.Marshal(auth.ACL{Owner: o.access})
	if err != nil {
		return err
	}
	// An empty folder may be a bucket whose creation was cut off before its
	// metadata came; the removal of any other fails, as it should.
	_ = os.Remove(filepath.Join(o.dir, objectsFolder, o.bucket))
	err = backend.CreateBucket(asOwner{context.Background(), o.access}, &s3.CreateBucketInput{
		Bucket:                    &o.bucket,
		ObjectOwnership:           types.ObjectOwnershipBucketOwnerEnforced,
		CreateBucketConfiguration: &types.CreateBucketConfiguration{},
	}, acl)
	var known s3err.S3Error
	if errors.As(err, &known) && known.BaseError().Code == "BucketAlreadyOwnedByYou" {
		err = nil
	}
	if err == nil {
		err = backend.PutBucketVersioning(context.Background(), o.bucket, types.BucketVersioningStatusEnabled)
	}
	if err == nil {
		err = backend.PutBucketCors(context.Background(), o.bucket, []byte(browserPuts))
	}
	if err != nil {
		return fmt.Errorf("create bucket %s: %w", o.bucket, err)
	}
	return nil
}

// browserPuts is the rule that a deployment's bucket has for pages of the app,
// here for those of every stack on this machine, because tests share a bucket.
const browserPuts = `<CORSConfiguration><CORSRule>
<AllowedOrigin>http://localhost:*</AllowedOrigin>
<AllowedMethod>PUT</AllowedMethod>
<AllowedHeader>if-none-match</AllowedHeader><AllowedHeader>x-amz-checksum-sha256</AllowedHeader>
<MaxAgeSeconds>600</MaxAgeSeconds>
</CORSRule></CORSConfiguration>`

// asOwner is a context that names the owner of a new bucket under the plain
// string key that versitygw reads.
type asOwner struct {
	context.Context
	access string
}

func (o asOwner) Value(key any) any {
	if key == "bucket-owner" {
		return auth.Account{Access: o.access}
	}
	return o.Context.Value(key)
}
