import { api, type Json, loadSession, remove } from '../kit/api.ts'
import { Field, Form } from '../kit/form.tsx'
import { ago, when } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Facts, Head, Tabs } from '../kit/pieces.tsx'
import { ask, place } from '../kit/router.ts'
import { session } from '../kit/state.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { AuditLog } from './settings/audit-log.tsx'
import { BlockedLinks } from './settings/blocked-links.tsx'
import { Configuration } from './settings/configuration.tsx'

const TABS = [
  ['sign-in', 'Sign-in'],
  ['configuration', 'Configuration'],
  ['audit-log', 'Audit log'],
  ['blocked-links', 'Blocked links'],
] as const
type Tab = (typeof TABS)[number][0]

/** What concerns the server and whoever runs it. */
export default function SettingsPage() {
  const tab = TABS.find(([id]) => id === place.value.query.tab)?.[0] ?? 'sign-in'
  return (
    <>
      <Head name="Settings" about={`Postrider ${session.value?.version}`} />
      <Tabs<Tab> name="Settings" tabs={TABS} chosen={tab} onChoose={(tab) => ask({ tab })}>
        {tab === 'sign-in' && <SignIn />}
        {tab === 'configuration' && <Configuration />}
        {tab === 'audit-log' && <AuditLog />}
        {tab === 'blocked-links' && <BlockedLinks />}
      </Tabs>
    </>
  )
}

function SignIn() {
  const pages = usePages('/v1/sessions', {})
  const own = session.value?.session.id
  const end = async ({ id }: Json) => {
    if (!(await attempt(() => remove(`/v1/sessions/${id}`), 'That session is over'))) return
    if (id === own) await loadSession()
    else pages.reload()
  }
  const columns: Column<Json>[] = [
    {
      name: 'Browser',
      show: ({ id, user_agent }) => (
        <>
          {browserOf(user_agent)} {id === own && <strong>(this one)</strong>}
        </>
      ),
    },
    { name: 'From', show: ({ ip_address }) => ip_address ?? '' },
    { name: 'Signed in', show: ({ created_at }) => when(created_at) },
    { name: 'Last seen', show: ({ last_seen_at }) => ago(last_seen_at) },
    {
      name: '',
      isWhole: true,
      show: (row) => (
        <button type="button" class="tiny" onClick={() => end(row)}>
          End<span class="hidden"> session from {row.ip_address}</span>
        </button>
      ),
    },
  ]
  return (
    <div class="stack">
      <section class="card stack">
        <h2>{session.value?.has_password ? 'Change the password' : 'Set a password'}</h2>
        <p class="muted">
          Without one, the only way in is a link that <code>postrider login-link</code> prints on the server. Other
          sessions end when it changes.
        </p>
        <PasswordForm onDone={pages.reload} />
      </section>
      <section>
        <h2>Sessions</h2>
        <Table
          name="Sessions"
          columns={columns}
          loaded={pages}
          keyOf={({ id }) => id}
          whenEmpty={<Empty name="None" />}
        />
        <Pager pages={pages} />
      </section>
      <section class="card stack">
        <h2>Elsewhere</h2>
        <Facts
          of={[
            [
              'API',
              <a href="/docs" target="_blank" rel="noreferrer">
                documentation of every call
              </a>,
            ],
            [
              'Document',
              <a href="/openapi.json" target="_blank" rel="noreferrer">
                OpenAPI 3.1
              </a>,
            ],
          ]}
        />
      </section>
    </div>
  )
}

function PasswordForm({ onDone }: { onDone: () => void }) {
  const hasOne = session.value?.has_password
  return (
    <Form
      key={String(hasOne)}
      action={hasOne ? 'Change password' : 'Set password'}
      onSubmit={async (values) => {
        session.value = await api('POST', '/session/password', { body: values })
        toast('The password is set')
        onDone()
      }}
    >
      {hasOne && (
        <Field name="present" label="Present password">
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
  // Edge and Opera also name Chrome, in front of their own name.
  const own = Math.max(agent.lastIndexOf('Edg/'), agent.lastIndexOf('OPR/'), 0)
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(agent.slice(own))?.[1]
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1]
  if (browser === undefined) return agent.slice(0, 60) || 'unknown'
  return system === undefined ? browser : `${NAMES[browser] ?? browser} on ${system}`
}

const NAMES: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }
