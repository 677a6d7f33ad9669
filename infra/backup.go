package main

import (
	"fmt"
	"strconv"
)

// backup says how long what was deleted can be brought back.
type backup struct {
	NoncurrentDays float64 // how long S3 keeps replaced and deleted versions of files
}

// The bounds of noncurrent-days.
const (
	minNoncurrentDays     = 7
	defaultNoncurrentDays = 14
	maxNoncurrentDays     = 30
)

func readBackup(c lookup) (b backup, err error) {
	said := c.text("noncurrent-days", strconv.Itoa(defaultNoncurrentDays))
	kept, err := strconv.Atoi(said)
	if err != nil || kept < minNoncurrentDays || kept > maxNoncurrentDays {
		return b, fmt.Errorf("noncurrent-days is a number from %d to %d, not %q", minNoncurrentDays, maxNoncurrentDays, said)
	}
	b.NoncurrentDays = float64(kept)
	return b, nil
}
