package main

import (
	"testing"

	"vitrine/shared/platform/limits"
)

// Pages tell people for how long the operator can reach what was deleted. The garbage collector takes a day and an hour
// until it deletes files, and S3 deletes old versions with a delay of up to two days.
func TestNothingDeletedStaysLongerThanPagesSay(t *testing.T) {
	if versions := 25*limits.Day/24 + (maxNoncurrentDays+2)*limits.Day; versions > limits.RecoverableLife {
		t.Errorf("old versions of files stay for %v, and pages say %v", versions, limits.RecoverableLife)
	}
	if tables := backupDays * limits.Day; tables > limits.RecoverableLife {
		t.Errorf("tables can be restored for %v, and pages say %v", tables, limits.RecoverableLife)
	}
}
