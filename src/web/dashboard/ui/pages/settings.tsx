import { type Json, loadSession, remove } from '../kit/api.ts'
import { browserOf } from '../kit/browser-name.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Facts, Head, Tabs, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href, place, setQuery } from '../kit/router.ts'
import { session } from '../kit/state.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt } from '../kit/toast.tsx'
import { AuditLog } from './settings/audit-log.tsx'
import { BlockedLinks } from './settings/blocked-links.tsx'
import { Configuration } from './settings/configuration.tsx'
import { Streams } from './settings/streams.tsx'

const TABS = [
  ['sign-in', 'Sign-in', 'usage_get'],
  ['configuration', 'Configuration', 'configuration_get'],
  ['streams', 'Streams', 'configuration_get'],
  ['audit-log', 'Audit log', 'audit_log_list'],
  ['blocked-links', 'Blocked links', 'blocked_links_list'],
] as const
type Tab = (typeof TABS)[number][0]

/** Sign-in, configuration, streams, audit log and blocked links. */
export default function SettingsPage() {
  const tabs = TABS.filter(([, , operation]) => may(operation))
  const tab = tabs.find(([id]) => id === place.value.query.tab)?.[0] ?? 'sign-in'
  return (
    <>
      <Head name="Settings" about={`Postrider ${session.value?.version}`} />
      <Tabs<Tab>
        name="Settings"
        tabs={tabs.map(([id, name]) => [id, name] as const)}
        chosen={tab}
        onChoose={(tab) => setQuery({ tab })}
      >
        {tab === 'sign-in' && <SignIn />}
        {tab === 'configuration' && <Configuration />}
        {tab === 'streams' && <Streams />}
        {tab === 'audit-log' && <AuditLog />}
        {tab === 'blocked-links' && <BlockedLinks />}
      </Tabs>
    </>
  )
}

function SignIn() {
  return (
    <div class="stack">
      <p class="muted">
        Change your password, two-step sign-in and passkeys under <a href={href('/account')}>Account</a>.
      </p>
      {may('sessions_list') && <Sessions />}
      <section class="card stack">
        <h2>API</h2>
        <Facts
          of={[
            [
              'Reference',
              <a href="/docs" target="_blank" rel="noreferrer">
                API reference
              </a>,
            ],
            [
              'OpenAPI',
              <a href="/openapi.json" target="_blank" rel="noreferrer">
                OpenAPI 3.1 document
              </a>,
            ],
          ]}
        />
      </section>
    </div>
  )
}

/** The sessions of all users. */
function Sessions() {
  const pages = usePages('/v1/sessions', {})
  const own = session.value?.session.id
  const end = async ({ id }: Json) => {
    if (!(await attempt(() => remove(`/v1/sessions/${id}`), 'Session ended'))) return
    if (id === own) await loadSession()
    else pages.reload()
  }
  const columns: Column<Json>[] = [
    {
      name: 'Browser',
      phone: 'top-left',
      show: ({ id, user_agent }) => (
        <>
          {browserOf(user_agent)} {id === own && <strong>(this browser)</strong>}
        </>
      ),
    },
    { name: 'IP address', width: '18%', phone: 'sub', show: ({ ip_address }) => ip_address ?? '' },
    { name: 'Signed in', width: '120px', show: ({ created_at }) => <Time at={created_at} /> },
    { name: 'Last seen', width: '120px', phone: 'last', show: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    {
      name: '',
      width: '128px',
      phone: 'end',
      show: (row) => (
        <button type="button" class="tiny" onClick={() => end(row)}>
          End session<span class="hidden"> from {row.ip_address}</span>
        </button>
      ),
    },
  ]
  return (
    <section>
      <h2 class="section-head">Sessions of all users</h2>
      <Table
        name="Sessions"
        columns={columns}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={<Empty name="No sessions" />}
      />
      <Pager pages={pages} />
    </section>
  )
}
