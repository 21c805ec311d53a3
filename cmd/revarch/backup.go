package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"revarch/config"
	"revarch/devstack"
	"revarch/fault"
	"revarch/services/backup"
	"revarch/store"
)

func backupCommand() *cobra.Command {
	var data string
	var noKeyset bool
	c := &cobra.Command{
		Use: "backup FILE", Short: "Copy the database and the keyset into one file", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			logTo("warn")
			return onDatabase(cmd.Context(), data, true, func(ctx context.Context, p place) error {
				if noKeyset {
					p.keyset = ""
				}
				m, err := backup.Write(ctx, args[0], backup.Source{OwnerURL: p.owner, Keyset: p.keyset, BinDirs: p.binDirs, Program: version, Clock: time.Now})
				if err != nil {
					return err
				}
				describe(cmd.OutOrStdout(), "wrote", args[0], m)
				return nil
			})
		},
	}
	c.Flags().StringVar(&data, "data", "", "data folder of revarch up, unless REVARCH_DATABASE_OWNER_URL names a database")
	c.Flags().BoolVar(&noKeyset, "no-keyset", false, "leave the keyset out: whoever restores this must have it, or every provider is connected again")
	return c
}

func restoreCommand() *cobra.Command {
	var data string
	var force, noKeyset bool
	c := &cobra.Command{
		Use: "restore FILE", Short: "Fill an empty database from a backup", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			logTo("warn")
			return onDatabase(cmd.Context(), data, false, func(ctx context.Context, p place) error {
				if noKeyset {
					p.keyset = ""
				}
				m, err := backup.Restore(ctx, args[0], backup.Target{
					OwnerURL: p.owner, AdminURL: p.admin, Passwords: p.passwords,
					Keyset: p.keyset, BinDirs: p.binDirs, Force: force,
				})
				if err != nil {
					return err
				}
				describe(cmd.OutOrStdout(), "restored", args[0], m)
				if ours, err := store.ProgramSchema(); err == nil && m.SchemaVersion < ours {
					fmt.Fprintf(cmd.OutOrStdout(), "its schema is older than this program's version %d; run: revarch migrate up (revarch up does so itself)\n", ours)
				}
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "", "data folder of revarch up, unless REVARCH_DATABASE_OWNER_URL names a database")
	f.BoolVar(&force, "force", false, "drop what the database holds of ours first")
	f.BoolVar(&noKeyset, "no-keyset", false, "leave the keyset that is in place alone")
	return c
}

func describe(w io.Writer, did, path string, m backup.Manifest) {
	var size int64
	keyset := "without a keyset"
	for _, f := range m.Files {
		size += f.Size
		if f.Name != m.Files[0].Name {
			keyset = "with the keyset"
		}
	}
	fmt.Fprintf(w, "%s %s: schema version %d, PostgreSQL %d, %d bytes, %s, made %s\n", did, path, m.SchemaVersion, m.PostgreSQL, size, keyset, m.CreatedAt.Format(time.RFC3339))
}

// place is where an installation keeps what a backup holds.
type place struct {
	owner     string // URL of the schema's owner
	admin     string // URL of a role that may create roles; "" when there is none but the owner's
	passwords store.RolePasswords
	keyset    string
	binDirs   []string
}

// onDatabase finds the database the way revarch up does: the environment's if it names one, else the private cluster of
// the data folder. A cluster that does not run is started for as long as fn takes. live says whether fn may work beside a
// running installation.
func onDatabase(ctx context.Context, data string, live bool, fn func(context.Context, place) error) error {
	cfg, err := config.Load(config.Need{})
	if err != nil {
		return err
	}
	p := place{owner: cfg.DatabaseOwnerURL, keyset: cfg.KeysetPath}
	if p.keyset == "" && data != "" {
		p.keyset = filepath.Join(data, "keys")
	}
	if p.owner != "" {
		if p.keyset == "" {
			return fault.New(fault.Invalid, "REVARCH_KEYSET is not set: it names the keyset file of the installation")
		}
		return fn(ctx, p)
	}
	at, err := devstack.Inspect(data)
	if err != nil {
		return err
	}
	if p.keyset == "" {
		p.keyset = filepath.Join(at.Data, "keys")
	}
	switch {
	case at.Running != 0 && !live:
		return fault.New(fault.Conflict, "the data folder %s is in use by process %d: stop it first", at.Data, at.Running)
	case at.Running != 0:
		p.owner = at.URLs.Owner
		return fn(ctx, p)
	case live && at.Major == 0:
		return fault.New(fault.NotFound, "there is no database in %s: name its data folder with --data, or set REVARCH_DATABASE_OWNER_URL", at.Data)
	}
	return withCluster(ctx, at.Data, p, fn)
}

// withCluster runs the private cluster of a data folder while fn works.
func withCluster(ctx context.Context, data string, p place, fn func(context.Context, place) error) (err error) {
	sup, err := devstack.Open(ctx, devstack.Options{Data: data})
	if err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if stopErr := sup.Stop(stop); err == nil {
			err = stopErr
		}
	}()
	cluster, err := devstack.Postgres{}.Start(ctx, sup)
	if err != nil {
		return err
	}
	pw := cluster.Passwords
	p.owner, p.admin, p.binDirs = cluster.URLs.Owner, cluster.URLs.Superuser, []string{cluster.BinDir}
	p.passwords = store.RolePasswords{Owner: pw.Owner, App: pw.App, Worker: pw.Worker}
	return fn(ctx, p)
}
