package stack

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/shared/platform/limits"
)

func TestFunctionsCannotBeToldEverything(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		says   string
	}{
		"a clock": {func(o *Options) { o.Now = func() time.Time { return time.Time{} } }, "option Now"},
		"middleware": {func(o *Options) {
			o.Middleware = append(o.Middleware, func(*middleware.Stack) error { return nil })
		}, "option Middleware"},
		"a limit":        {func(o *Options) { o.Limits.Actor.Limit = 1 }, "option Limits"},
		"a tier's limit": {func(o *Options) { o.Limits.Tiers[limits.Free] = limits.Policy{} }, "option Limits"},
	} {
		o := Options{
			Lambda: true,
			Data:   t.TempDir(),
			Now:    time.Now,
			Limits: limits.Default(),
		}
		c.change(&o)
		if _, err := Start(t.Context(), o); !errors.Is(err, ErrInProcess) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFunctionsAreToldWhatTheirSettingsSay(t *testing.T) {
	o := Options{Lambda: true, Limits: limits.Default()}
	o.Limits.Off, o.Limits.Pow = true, limits.PowAlways
	o.Limits.Cache = 0
	o.FetchOrigins = []string{"http://127.0.0.1:1"}
	if err := o.inProcess(); err != nil {
		t.Error(err)
	}
}
