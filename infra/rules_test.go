package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The strict rules of CloudFormation end a synthesis by themselves. The reports of cdk-nag have the rest.
func TestTheRulesHold(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(synthesised, "AwsSolutions-*.csv"))
	if len(files) == 0 {
		t.Error("cdk-nag wrote no report")
	}
	for _, file := range files {
		text, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer text.Close()
		rows, err := csv.NewReader(text).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("%s has %d rows, %v", file, len(rows), err)
			continue
		}
		for _, row := range rows[1:] {
			if row[2] != "Compliant" && row[2] != "Suppressed" && row[2] != "N/A" {
				t.Error(strings.Join(row, " | "))
			}
		}
	}
}
