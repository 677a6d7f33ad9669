// Command lambda is the api host as a Lambda function.
package main

import (
	"vitrine/shared/boot/api"
	"vitrine/shared/boot/function"
)

func main() {
	function.Main(function.Host{Name: "api", Rings: api.Rings, Handler: api.Handler, Scheduled: api.Reconcile})
}
