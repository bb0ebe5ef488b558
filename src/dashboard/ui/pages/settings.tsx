import { useState } from 'preact/hooks'
import { api, type Json, loadSession, remove } from '../kit/api.ts'
import { Field, Form } from '../kit/form.tsx'
import { usePages } from '../kit/load.ts'
import { Empty, Facts, Head, Tabs, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { place, setQuery } from '../kit/router.ts'
import { session } from '../kit/state.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { AuditLog } from './settings/audit-log.tsx'
import { BlockedLinks } from './settings/blocked-links.tsx'
import { Configuration } from './settings/configuration.tsx'

const TABS = [
  ['sign-in', 'Sign-in', 'usage_get'],
  ['configuration', 'Configuration', 'configuration_get'],
  ['audit-log', 'Audit log', 'audit_log_list'],
  ['blocked-links', 'Blocked links', 'blocked_links_list'],
] as const
type Tab = (typeof TABS)[number][0]

/** Sign-in, configuration, audit log and blocked links. */
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
        {tab === 'audit-log' && <AuditLog />}
        {tab === 'blocked-links' && <BlockedLinks />}
      </Tabs>
    </>
  )
}

function SignIn() {
  const [round, setRound] = useState(0)
  return (
    <div class="stack">
      <section class="card stack">
        <h2>{session.value?.has_password ? 'Change password' : 'Set a password'}</h2>
        <p class="muted">
          Without a password, you sign in with a link from <code>postrider login-link</code> on the server. Changing the
          password ends all other sessions.
        </p>
        <PasswordForm onDone={() => setRound(round + 1)} />
      </section>
      {may('sessions_list') && <Sessions key={round} />}
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
      <h2>Sessions</h2>
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

function PasswordForm({ onDone }: { onDone: () => void }) {
  const hasPassword = session.value?.has_password
  return (
    <Form
      key={String(hasPassword)}
      action={hasPassword ? 'Change password' : 'Set password'}
      onSubmit={async (values) => {
        session.value = await api('POST', '/session/password', { body: values })
        toast('Password saved')
        onDone()
      }}
    >
      {hasPassword && (
        <Field name="present" label="Current password">
          {(control) => <input {...control} required type="password" autoComplete="current-password" />}
        </Field>
      )}
      <Field name="password" label="New password" hint="At least 12 characters.">
        {(control) => <input {...control} required type="password" minLength={12} autoComplete="new-password" />}
      </Field>
    </Form>
  )
}

/** `Mozilla/5.0 (X11; Linux x86_64) … Firefox/140.0` → `Firefox on Linux`. */
function browserOf(agent: string): string {
  // Edge and Opera put Chrome before their own name.
  const own = Math.max(agent.lastIndexOf('Edg/'), agent.lastIndexOf('OPR/'), 0)
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(agent.slice(own))?.[1]
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1]
  if (browser === undefined) return agent.slice(0, 60) || 'Unknown'
  return system === undefined ? browser : `${NAMES[browser] ?? browser} on ${system}`
}

const NAMES: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }
