package cloud

import (
	"context"
	"fmt"
)

// Abandon undoes a restore that no function runs on: it deletes the restored tables, deletes again the files whose
// markers were taken away, and lets the deployment go on as before.
func (r Restore) Abandon(ctx context.Context) error {
	return r.going(ctx, func(w *work) error {
		if w.Deploys {
			return fmt.Errorf("functions may run on the restored set already: switch and open, or deploy with %s, %s and %s",
				w.Living.Core, w.Living.Events, w.Living.Hot)
		}
		if err := w.deleteAgain(ctx); err != nil {
			return err
		}
		if err := w.release(ctx); err != nil {
			return err
		}
		for _, name := range []string{w.Set.Core, w.Set.Events, w.Set.Hot} {
			if name == w.Living.Hot {
				continue
			}
			w.sayf("delete the table %s", name)
			if err := w.tables().Drop(ctx, name); err != nil {
				return err
			}
		}
		if err := w.wake(ctx); err != nil {
			return err
		}
		w.sayf("The restore is abandoned: %s runs as before.", w.Name)
		return w.archive("abandoned")
	})
}
