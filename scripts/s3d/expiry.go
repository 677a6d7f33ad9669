package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/versity/versitygw/backend/posix"
)

// sweepInterval is how often noncurrent versions are looked through.
const sweepInterval = time.Hour

// briefly is how long noncurrent versions live of what can be made again.
const briefly = 24 * time.Hour

// brief lists the prefixes of keys whose objects can be made again: bundles, diffs, exports and releases.
var brief = []string{"b/", "d/", "x/", "cli/"}

// expiry deletes noncurrent versions, as the life cycle rules of a deployment's bucket do.
type expiry struct {
	versions *versions
	keep     time.Duration
}

// run sweeps now and every hour until the process ends.
func (e expiry) run() {
	for tick := time.Tick(sweepInterval); ; <-tick {
		if err := e.sweep(time.Now()); err != nil {
			fmt.Fprintln(os.Stderr, "s3d: old versions were not all removed; the next sweep tries again:", err)
		}
	}
}

// sweep deletes the versions that have been noncurrent for long enough at now, and then the delete markers that have
// no version left. It goes on after a failure and returns all of them.
func (e expiry) sweep(now time.Time) error {
	buckets, err := os.ReadDir(".")
	if err != nil {
		return err
	}
	for _, bucket := range buckets {
		if bucket.IsDir() && e.versions.enabled(bucket.Name()) {
			err = errors.Join(err, e.sweepBucket(bucket.Name(), now))
		}
	}
	return err
}

func (e expiry) sweepBucket(bucket string, now time.Time) error {
	var failed error
	err := filepath.WalkDir(bucket, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == posix.MetaTmpDir {
			return filepath.SkipDir
		}
		if err == nil && entry.Type().IsRegular() {
			key := strings.TrimPrefix(filepath.ToSlash(path), bucket+"/")
			err = e.expire(object{bucket, key}, now)
		}
		failed = errors.Join(failed, present(err)) // what is gone needs no sweep
		return nil
	})
	return errors.Join(failed, err)
}

// expire sweeps one key. It takes the lock only for those that have something to delete.
func (e expiry) expire(o object, now time.Time) error {
	ids, err := e.versions.noncurrent(o)
	if err != nil {
		return err
	}
	marker, err := e.versions.isMarker(o)
	if err != nil || len(ids) == 0 && !marker {
		return err
	}
	defer e.versions.lock(o)()
	if ids, err = e.versions.noncurrent(o); err != nil {
		return err
	}
	newest, err := e.versions.identify(o)
	if err != nil {
		return err
	}
	ids, err = e.deleteOld(o, append(ids, newest), now)
	if err != nil || len(ids) > 0 {
		return err
	}
	if marker, err = e.versions.isMarker(o); !marker {
		return err
	}
	_, err = e.versions.deleteNewest(o, newest)
	return err
}

// deleteOld takes the ids of all versions, the oldest first, and returns the noncurrent ones that stay. The life of a
// version ends that long after the next one was written, which is the time in the next one's id.
func (e expiry) deleteOld(o object, ids []string, now time.Time) (left []string, err error) {
	keep := e.keep
	for _, prefix := range brief {
		if strings.HasPrefix(o.key, prefix) {
			keep = min(keep, briefly)
		}
	}
	for i, id := range ids[:len(ids)-1] {
		next, err := ulid.ParseStrict(ids[i+1])
		if err != nil {
			return nil, fmt.Errorf("version id %q of %s: %w", ids[i+1], o.path(), err)
		}
		if now.Sub(next.Timestamp()) < keep {
			left = append(left, id)
		} else if err := e.versions.deleteNoncurrent(o, id); err != nil {
			return nil, err
		}
	}
	return left, nil
}
