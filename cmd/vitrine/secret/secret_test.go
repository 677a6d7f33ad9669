package secret

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestNothingPrintsASecret(t *testing.T) {
	holder := struct {
		Name string
		Key  Text
		Keys []Text
	}{"name", "s3cret", []Text{"s3cret"}}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("log", "key", Text("s3cret"))
	for _, printed := range []string{
		fmt.Sprint(holder), fmt.Sprintf("%v %+v %#v", holder, holder, holder),
		fmt.Sprintf("%s %q %x", holder.Key, holder.Key, holder.Key), fmt.Errorf("failed with %v", &holder).Error(),
		log.String(),
	} {
		if strings.Contains(printed, "s3cret") || strings.Contains(printed, "733363726574") {
			t.Errorf("printed %s", printed)
		}
	}
	if string(holder.Key) != "s3cret" {
		t.Error("a conversion does not give the value")
	}
}
