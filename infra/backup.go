package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// backup says how long what was deleted can be brought back, and what is kept outside the deployment.
type backup struct {
	NoncurrentDays      float64 // how long S3 keeps replaced and deleted versions of files
	CopyBucket, CopyKey string  // ARNs of the second bucket and of the key that encrypts there; empty: no copy
	CopyAccount         string  // owner of the second bucket; empty: the account of the deployment
	Exports             bool    // export tables to the second bucket every day
	RingsRegion         string  // where the key rings have replicas; empty: none
	RingsKey            string  // ARN of the key that encrypts those; empty: the account's own for secrets
}

// copies reports whether files are copied to a second bucket.
func (b backup) copies() bool { return b.CopyBucket != "" }

// The bounds of noncurrent-days.
const (
	minNoncurrentDays     = 7
	defaultNoncurrentDays = 14
	maxNoncurrentDays     = 30
)

var (
	bucketShape  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	accountShape = regexp.MustCompile(`^[0-9]{12}$`)
	regionShape  = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]$`)
	keyShape     = regexp.MustCompile(`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/([0-9a-f-]{36}|mrk-[0-9a-f]{32})$`)
	bucketPrefix = regexp.MustCompile(`^arn:aws[a-z-]*:s3:::`)
)

func readBackup(c lookup) (b backup, err error) {
	said := c.text("noncurrent-days", strconv.Itoa(defaultNoncurrentDays))
	kept, err := strconv.Atoi(said)
	if err != nil || kept < minNoncurrentDays || kept > maxNoncurrentDays {
		return b, fmt.Errorf("noncurrent-days is a number from %d to %d, not %q", minNoncurrentDays, maxNoncurrentDays, said)
	}
	exports := c.text("exports", "none")
	b = backup{
		NoncurrentDays: float64(kept),
		CopyBucket:     c.text("copy-bucket", ""),
		CopyKey:        c.text("copy-key", ""),
		CopyAccount:    c.text("copy-account", ""),
		Exports:        exports == "daily",
		RingsRegion:    c.text("rings-region", ""),
		RingsKey:       c.text("rings-key", ""),
	}
	if exports != "daily" && exports != "none" {
		return b, fmt.Errorf("exports is daily or none, not %q", exports)
	}
	return b, cmp.Or(b.checkCopy(), b.checkRings(c.text("region", "")))
}

// checkCopy returns the first mistake in what is said about the second bucket.
func (b backup) checkCopy() error {
	switch where := bucketPrefix.FindString(b.CopyBucket); {
	case b.copies() && (where == "" || !bucketShape.MatchString(b.CopyBucket[len(where):])):
		return fmt.Errorf("copy-bucket is the ARN of a bucket, arn:aws:s3:::NAME, not %q", b.CopyBucket)
	case b.CopyKey != "" && !keyShape.MatchString(b.CopyKey):
		return fmt.Errorf("copy-key is the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/ID, not %q", b.CopyKey)
	case b.copies() != (b.CopyKey != ""):
		return errors.New("copy-bucket and copy-key belong together: give both, or none")
	case b.CopyAccount != "" && !accountShape.MatchString(b.CopyAccount):
		return fmt.Errorf("copy-account is the number of an account, 12 digits, not %q", b.CopyAccount)
	case b.CopyAccount != "" && !b.copies():
		return errors.New("copy-account owns the second bucket: give copy-bucket and copy-key too, or leave it away")
	case b.Exports && !b.copies():
		return errors.New("exports go to the second bucket: give copy-bucket and copy-key too, or leave exports away")
	}
	return nil
}

// checkRings returns the first mistake in what is said about replicas of the key rings. region is the deployment's.
func (b backup) checkRings(region string) error {
	switch {
	case b.RingsKey != "" && b.RingsRegion == "":
		return errors.New("rings-key encrypts replicas of the key rings: give rings-region too, or leave it away")
	case b.RingsRegion == "":
		return nil
	case !regionShape.MatchString(b.RingsRegion):
		return fmt.Errorf("rings-region is the name of a region, as eu-west-1, not %q", b.RingsRegion)
	case b.RingsRegion == region:
		return fmt.Errorf("rings-region is where the deployment itself is: choose another region than %s", region)
	case b.RingsKey != "" && (!keyShape.MatchString(b.RingsKey) || keyRegion(b.RingsKey) != b.RingsRegion):
		return fmt.Errorf("rings-key is the ARN of a KMS key in %s, not %q", b.RingsRegion, b.RingsKey)
	}
	return nil
}

// keyRegion returns the region of a key from its ARN.
func keyRegion(arn string) string { return strings.Split(arn, ":")[3] }
