import { Button, FileInput, Modal, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { Link, useNavigate } from 'react-router';
import { api, ApiError, url } from '../api/client';
import type { Dataset, Release, RunStarted } from '../api/types';
import { useMay } from '../app/session';
import { Bar, Empty, Loading, Missing, Note, Page, Panel, Problem, Tag, When, Wide } from '../components/basics';
import { Icon, type Tone } from '../components/icons';
import { count, percent, words } from '../lib/format';
import { upload } from '../lib/upload';

const key = ['datasets'];

export default function Datasets() {
  const may = useMay('operator');
  const [opened, dialog] = useDisclosure(false);
  const query = useQuery({ queryKey: key, queryFn: ({ signal }) => api.get<{ datasets: Dataset[] }>('/api/datasets', undefined, signal), enabled: may });
  return (
    <Page title="Datasets" about="Official files on districts and institutions, the same for every organization." actions={may && <Button leftSection={<Icon name="plus" />} onClick={dialog.open}>Load a file</Button>}>
      {!may && <Empty title="Only operators load datasets">Switch to the platform’s organization if you are one.</Empty>}
      {may && query.isPending && <Loading lines={6} />}
      {query.isError && <Problem what="The datasets could not be loaded" error={query.error} retry={() => void query.refetch()} />}
      {query.data?.datasets.map((d) => (
        <Panel key={d.dataset} flush title={d.title} actions={d.current ? <span className="dim">{d.current.vintage.label}, {count(d.current.rows)} rows</span> : <Tag tone="warn">Nothing loaded</Tag>}>
          {d.releases.length ? <Releases dataset={d} /> : <p className="dim" style={{ padding: '12px 16px', margin: 0 }}>Load the official file as it was published.</p>}
        </Panel>
      ))}
      <Modal opened={opened} onClose={dialog.close} title="Load an official file" closeOnClickOutside={false} closeButtonProps={{ 'aria-label': 'Close' }}>
        <LoadForm datasets={query.data?.datasets ?? []} cancel={dialog.close} />
      </Modal>
    </Page>
  );
}

const tones: Record<Release['status'], Tone> = { loading: 'info', current: 'good', superseded: 'none', failed: 'bad' };

function Releases({ dataset }: { dataset: Dataset }) {
  return (
    <Wide label={`Releases of ${dataset.title}`}>
      <table className="table" aria-label={`Releases of ${dataset.title}`}>
        <thead><tr><th scope="col">Vintage</th><th scope="col">Status</th><th scope="col" data-align="end">Rows</th><th scope="col" className="hide-phone">Scope</th><th scope="col" className="hide-phone">File</th><th scope="col" className="hide-phone">Loaded</th><th scope="col"><span className="sr">Run</span></th></tr></thead>
        <tbody>
          {dataset.releases.map((r) => (
            <tr key={r.id}>
              <td>{r.vintage.label} <span className="dim">{r.release}</span></td>
              <td><Tag tone={tones[r.status]}>{words(r.status)}</Tag>{r.failure && <div className="dim">{r.failure}</div>}</td>
              <td data-align="end">{r.status === 'failed' ? <Missing reason="Nothing was loaded" /> : count(r.rows)}{r.bad_rows > 0 && <span className="dim"> ({count(r.bad_rows)} left out)</span>}</td>
              <td className="hide-phone">{words(r.scope)}</td>
              <td className="hide-phone mono" title={`SHA-256 ${r.sha256}`}>{r.source_name}</td>
              <td className="hide-phone"><When at={r.loaded_at} reason="Not loaded" /></td>
              <td data-align="end"><Link to={`/runs/${r.run_id}`}>Run</Link></td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

const releaseNames = ['preliminary', 'provisional', 'final', 'revised'].map((value) => ({ value, label: words(value) }));

function LoadForm({ datasets, cancel }: { datasets: Dataset[]; cancel: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [file, setFile] = useState<File | null>(null);
  const [dataset, setDataset] = useState<string | null>('auto');
  const [year, setYear] = useState('');
  const [release, setRelease] = useState<string | null>(null);
  const [share, setShare] = useState<number | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const send = useMutation({
    mutationFn: (chosen: File) => {
      stop.current = new AbortController();
      setShare(0);
      return upload<RunStarted>(url(`/api/datasets/${dataset ?? 'auto'}/ingest`, { name: chosen.name, year: year.trim(), release }), chosen, setShare, stop.current.signal);
    },
    onSuccess: ({ run }) => {
      void client.invalidateQueries({ queryKey: key });
      void navigate(`/runs/${run.id}`);
    },
    onError: () => setShare(null),
  });
  const problem = send.error instanceof ApiError ? send.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (file) send.mutate(file);
  };
  return (
    <form className="stack" onSubmit={submit}>
      {problem && <Note tone="bad" title="Not loaded.">{problem.detail} {problem.errors.map((e) => e.message).join(' ')}</Note>}
      <FileInput label="File" description="As it was published: .csv, .xls, .zip or .gz" required value={file} onChange={setFile} placeholder="Choose a file" />
      <Select label="Dataset" allowDeselect={false} value={dataset} onChange={setDataset} data={[{ value: 'auto', label: 'Recognize it by its content' }, ...datasets.map((d) => ({ value: d.dataset, label: d.title }))]} />
      <div className="row" style={{ alignItems: 'flex-start' }}>
        <TextInput label="Year" description="Where the name does not tell" inputMode="numeric" maxLength={4} value={year} onChange={(e) => setYear(e.currentTarget.value)} style={{ flex: 1 }} />
        <Select label="Release" description="Where the name does not tell" clearable data={releaseNames} value={release} onChange={setRelease} style={{ flex: 1 }} />
      </div>
      {share !== null && <div className="stack tight"><Bar value={share} label="Upload" /><span className="dim" role="status">{share < 1 ? `${percent(share)} sent` : 'Sent; starting to load'}</span></div>}
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={cancel}>Cancel</Button>
        <Button type="submit" disabled={!file} loading={send.isPending}>Load file</Button>
      </div>
    </form>
  );
}
