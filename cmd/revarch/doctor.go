package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"revarch/config"
	"revarch/devstack"
	"revarch/fault"
)

// verdict is how a check ended.
type verdict string

const (
	good    verdict = "ok"
	note    verdict = "note"    // worth knowing; everything works
	problem verdict = "problem" // something does not work
)

// finding is what one check found, and what mends it.
type finding struct {
	Check   string  `json:"check"`
	Verdict verdict `json:"verdict"`
	Detail  string  `json:"detail"`
	Mend    string  `json:"mend,omitempty"` // a command or a sentence
}

func doctorCommand() *cobra.Command {
	var data, url string
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Say what is missing or wrong, and the command that mends it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logTo("error")
			if url != "" {
				return answers(cmd.Context(), url)
			}
			d := examine(cmd.Context(), data)
			return d.print(cmd.OutOrStdout(), asJSON)
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "", "data folder of revarch up")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVar(&url, "url", "", "only check that this address answers, for health checks of containers")
	return c
}

// answers is nil when url answers with a 2xx status soon.
func answers(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "--url is no address")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "%s does not answer", url)
	}
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 {
		return fault.New(fault.Unavailable, "%s answers with status %d", url, res.StatusCode)
	}
	return nil
}

// doctor collects findings about one installation: what the environment names, else what revarch up runs in a data folder.
type doctor struct {
	cfg      config.Config
	at       devstack.Installation
	findings []finding
}

func (d *doctor) ok(check, format string, args ...any) {
	d.findings = append(d.findings, finding{Check: check, Verdict: good, Detail: fmt.Sprintf(format, args...)})
}

func (d *doctor) note(check, detail, mend string) {
	d.findings = append(d.findings, finding{Check: check, Verdict: note, Detail: detail, Mend: mend})
}

func (d *doctor) problem(check, detail, mend string) {
	d.findings = append(d.findings, finding{Check: check, Verdict: problem, Detail: detail, Mend: mend})
}

// examine runs every check that applies.
func examine(ctx context.Context, data string) *doctor {
	d := &doctor{}
	var err error
	if d.cfg, err = config.Load(config.Need{}); err != nil {
		d.problem("configuration", err.Error(), "correct the variables")
	} else {
		d.ok("configuration", "every REVARCH_* variable that is set can be used")
	}
	if d.at, err = devstack.Inspect(data); err != nil {
		d.problem("data folder", fault.Public(err), "name another folder with --data")
	}
	d.dataFolder()
	d.diskSpace()
	d.programs(ctx)
	d.webApp(ctx)
	d.keyset()
	d.providers()
	d.database(ctx)
	d.engine(ctx)
	return d
}

// ownDatabase reports whether the database is revarch up's own.
func (d *doctor) ownDatabase() bool { return d.cfg.DatabaseURL == "" && d.cfg.DatabaseOwnerURL == "" }

// ownEngine reports whether Temporal is revarch up's own.
func (d *doctor) ownEngine() bool { return d.cfg.TemporalAddress == "" }

// print lists the findings; an error means that there are problems.
func (d *doctor) print(out io.Writer, asJSON bool) error {
	problems := 0
	for _, f := range d.findings {
		if f.Verdict == problem {
			problems++
		}
	}
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(map[string]any{"ok": problems == 0, "problems": problems, "findings": d.findings}); err != nil {
			return fmt.Errorf("print findings: %w", err)
		}
	} else {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, f := range d.findings {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", f.Verdict, f.Check, f.Detail)
			if f.Mend != "" {
				_, _ = fmt.Fprintf(w, "\t\t-> %s\n", f.Mend)
			}
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("print findings: %w", err)
		}
	}
	if problems > 0 {
		return fault.New(fault.Conflict, "%d problem(s) found", problems)
	}
	return nil
}
