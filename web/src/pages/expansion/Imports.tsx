import '../../components/expansion/expansion.css';
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { paths, type ImportError, type ImportReport, type ImportStarted } from '../../api/expansion';
import type { Run } from '../../api/types';
import { useMay } from '../../app/session';
import { runningKey } from '../../app/RunningJobs';
import { Bar, Empty, Note, Page, Panel, Wide } from '../../components/basics';
import { DataTable, type Column } from '../../components/DataTable';
import { Choice } from '../../components/expansion/Choice';
import { DropZone } from '../../components/expansion/DropZone';
import { Icon } from '../../components/icons';
import { RunView } from '../../components/RunView';
import { download } from '../../lib/csv';
import { errorsCsv, fileProblems, importKind, importKinds, looksLikeCsv, verdict, type ImportKind } from '../../lib/expansionImports';
import { count, percent, plural } from '../../lib/format';
import { runKey } from '../../lib/live';
import { upload } from '../../lib/upload';
import { useUrlState } from '../../lib/url';

export default function Imports() {
  const { get, set } = useUrlState();
  const may = useMay('manager');
  const kind = importKind(get('resource'));
  return (
    <Page title="Imports" about="Accounts, products and what accounts own, from CSV files. Each file is imported as a whole or not at all.">
      {!may ? <Empty title="Only managers and admins import files" /> : (
        <ol className="steps">
          <li>
            <Panel title="1. What the file holds" actions={<Button component="a" href={paths.importTemplate(kind.value)} download={`${kind.value}.csv`} variant="default" leftSection={<Icon name="download" />}>Download template</Button>}>
              <div className="stack">
                <Choice label="What the file holds" choices={importKinds} value={kind.value} onChange={(resource) => set({ resource, run: null })} />
                <Columns kind={kind} />
              </div>
            </Panel>
          </li>
          <FileSteps key={kind.value} kind={kind} run={get('run')} setRun={(run) => set({ run })} />
        </ol>
      )}
    </Page>
  );
}

function Columns({ kind }: { kind: ImportKind }) {
  return (
    <div className="stack tight">
      <span>{kind.about}</span>
      <Wide label={`Columns of ${kind.label}`}>
        <table className="table" aria-label={`Columns of ${kind.label}`}>
          <thead><tr><th scope="col">Column</th><th scope="col">Must be filled</th><th scope="col">What it holds</th></tr></thead>
          <tbody>{kind.columns.map((c) => <tr key={c.name}><td className="mono">{c.name}</td><td>{c.required ? 'Yes' : 'No'}</td><td>{c.about}</td></tr>)}</tbody>
        </table>
      </Wide>
    </div>
  );
}

/** Sends the chosen file: first to be checked, then, if every row is good, to be imported. */
function useImport(kind: ImportKind, started: (run: Run) => void) {
  const client = useQueryClient();
  const [share, setShare] = useState<number | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const send = <T,>(file: File, dryRun: boolean) => {
    stop.current?.abort();
    stop.current = new AbortController();
    setShare(0);
    const form = new FormData();
    form.append('file', file);
    return upload<T>(paths.importFile(kind.value, dryRun), form, setShare, stop.current.signal).finally(() => setShare(null));
  };
  const check = useMutation({ mutationFn: (file: File) => send<ImportReport>(file, true) });
  const load = useMutation({
    mutationFn: (file: File) => send<ImportStarted>(file, false),
    onSuccess: ({ run, already_running }) => {
      client.setQueryData(runKey(run.id), run);
      void client.invalidateQueries({ queryKey: runningKey });
      void client.invalidateQueries({ queryKey: ['runs'] });
      if (!already_running) started(run);
    },
  });
  return { share, check, load };
}

function FileSteps({ kind, run, setRun }: { kind: ImportKind; run: string; setRun: (run: string | null) => void }) {
  const [file, setFile] = useState<File | null>(null);
  const { share, check, load } = useImport(kind, (r) => setRun(r.id));
  const choose = (chosen: File) => {
    setRun(null);
    load.reset();
    setFile(chosen);
    check.mutate(chosen);
  };
  const report = check.data;
  const error = check.error ?? load.error;
  return (
    <>
      <li>
        <Panel title="2. Check the file">
          <div className="stack">
            <DropZone label={file ? 'Drop another file, or choose one' : 'Drop a CSV file here, or choose one'} hint="UTF-8, commas between columns, the first line names them; at most 512 MiB" accept=".csv,.txt,text/csv" onFile={choose} />
            {file && !looksLikeCsv(file) && <Note tone="warn" title={`${file.name} does not look like CSV.`}>If it is a workbook, save it as CSV UTF-8.</Note>}
            {share !== null && <div className="stack tight"><Bar value={share < 1 ? share : null} label="Upload" /><span className="dim" role="status">{share < 1 ? `${percent(share)} of ${file?.name} sent` : check.isPending ? 'Checking every row' : 'Starting the import'}</span></div>}
            {error && <Note tone="bad" title="The file cannot be used.">{fileProblems(error).map((text) => <div key={text}>{text}</div>)}</Note>}
            {report && file && !check.isPending && <Note tone={report.bad ? 'bad' : report.rows ? 'good' : 'warn'} title={`${file.name}:`}>{verdict(report)} Nothing was changed so far.</Note>}
          </div>
        </Panel>
      </li>
      {report && report.bad > 0 && !check.isPending && <li><BadRows report={report} /></li>}
      {((report && report.bad === 0 && report.rows > 0) || run) && (
        <li>
          <Panel title="3. Import">
            {run ? (
              <div className="stack">
                <RunView key={run} id={run} />
                {kind.value === 'account_products' && <span className="dim">Affinity and signals are computed on request: <Link to="/expansion/affinity">recompute them</Link>.</span>}
              </div>
            ) : (
              <div className="stack">
                {load.data?.already_running && <Note tone="warn" title="Another file is being imported." action={<Link to={`/runs/${load.data.run.id}`}>Open its run</Link>}>{file?.name} was not taken. Import it once the other has ended.</Note>}
                <div className="row apart">
                  <span>{plural(report?.valid ?? 0, 'row')} of {file?.name}.</span>
                  <Button loading={load.isPending} onClick={() => file && load.mutate(file)}>Import {plural(report?.valid ?? 0, 'row')}</Button>
                </div>
              </div>
            )}
          </Panel>
        </li>
      )}
    </>
  );
}

const columns: Column<ImportError>[] = [
  { key: 'line', header: 'Line', align: 'end', width: 80, fixed: true, cell: (e) => count(e.line) },
  { key: 'column', header: 'Column', width: 200, fixed: true, cell: (e) => (e.column ? <span className="mono">{e.column}</span> : <span className="dim">whole row</span>) },
  { key: 'reason', header: 'What is wrong', fixed: true, wrap: true, cell: (e) => e.reason },
];

function BadRows({ report }: { report: ImportReport }) {
  const list = { rows: report.errors, pending: false, stale: false, error: null, retry: () => undefined, hasMore: false, loadMore: () => undefined, loadingMore: false };
  return (
    <DataTable
      name="Bad rows" columns={columns} list={list} rowKey={(e) => `${e.line}-${e.column}-${e.reason}`} rowName={(e) => `line ${e.line}`} empty={<Empty title="No bad row" />}
      filters={<><strong>Bad rows</strong>{report.truncated && <span className="dim">The first {count(report.errors.length)} errors; there are more.</span>}<Button variant="default" leftSection={<Icon name="download" />} onClick={() => download(`${report.resource}-errors.csv`, errorsCsv(report))}>Download them</Button></>}
    />
  );
}
