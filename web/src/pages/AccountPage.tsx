import { useParams } from 'react-router';
import { AccountView, useAccount } from '../components/AccountView';
import { Page } from '../components/basics';

export default function AccountPage() {
  const { id = '' } = useParams();
  const account = useAccount(id);
  return (
    <Page title={account.data?.account.name ?? 'Account'} back={{ to: '/accounts', label: 'Accounts' }}>
      <div className="panel"><div className="body"><AccountView id={id} headless /></div></div>
    </Page>
  );
}
