// Command lambda runs the api host as a Lambda function.
package main

import (
	"vitrine/functions/assembly/api"
	"vitrine/functions/assembly/function"
)

func main() {
	function.Main(function.Host{Name: "api", Rings: api.Rings, Handler: api.Handler, Scheduled: api.Reconcile})
}
