import { useParams } from 'react-router';
import { Page } from '../components/basics';
import { RunView, useRun } from '../components/RunView';
import { runTitle } from '../lib/runs';

export default function RunPage() {
  const { id = '' } = useParams();
  const run = useRun(id);
  return (
    <Page title={run.data ? runTitle(run.data) : 'Run'} back={{ to: '/runs', label: 'Runs' }}>
      <div className="panel"><div className="body"><RunView key={id} id={id} /></div></div>
    </Page>
  );
}
