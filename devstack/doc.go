// Package devstack runs the embedded default: a private PostgreSQL cluster, Temporal's development server and any
// further process of ours as supervised children of one process, with everything they store below one data folder.
// What belongs here: supervision (order, restarts, leftovers, ports, the lock on the data folder) and what is special
// about the two servers. What the children do, migrations and wiring belong to the commands that use this package.
//
// A data folder holds:
//
//	run/lock           held while a supervisor uses the folder
//	run/state.json     the ports chosen before, reused while they are free
//	run/<name>.pid     the children of the supervisor, also after it was killed
//	log/<name>.log     what the children print
//	db-passwords.json  passwords of the database roles, 0600
//	pg/                the PostgreSQL cluster
//	pg-dist/           PostgreSQL binaries, only where the machine has none
//	temporal/          Temporal's database
package devstack
