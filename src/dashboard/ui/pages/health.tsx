import { useState } from 'preact/hooks'
import { get, type Json, post } from '../kit/api.ts'
import { ago, number, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Empty, Facts, Fault, Head } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { session } from '../kit/state.ts'
import { Chip, type Tone } from '../kit/status.tsx'
import { toast, toastError } from '../kit/toast.tsx'

/** Is all well, and what to do if not: what `postrider doctor` looks at, as the server saw it last. */
export default function HealthPage() {
  const { data, error, reload } = useLoad((signal) => get('/v1/health-checks', {}, signal), [], { everyMs: 30_000 })
  const [now, setNow] = useState<Json>()
  const [isLooking, setLooking] = useState(false)
  const found = newer(now, data)
  const look = async () => {
    setLooking(true)
    try {
      setNow(await post('/v1/health-checks/run'))
      toast('Everything was looked at')
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setLooking(false)
    }
  }
  const button = (
    <button type="button" class="primary" disabled={isLooking} onClick={look}>
      {isLooking ? 'Looking…' : 'Look now'}
    </button>
  )
  return (
    <div class="stack">
      <Head name="Health" about={aboutOf(found)}>
        {button}
      </Head>
      <Fault error={error} onRetry={reload} />
      {found?.checked_at === null && (
        <Empty name="Not looked at yet">
          <p>The server looks by itself a minute after its start, then every hour. It takes some seconds.</p>
        </Empty>
      )}
      {found?.checks.length > 0 && <Sum checks={found.checks} />}
      {found && groupsOf(found.checks).map(([name, checks]) => <Group key={name} name={name} checks={checks} />)}
      <Queues />
      <section class="card stack">
        <h2>This server</h2>
        <Facts
          of={[
            ['Version', session.value?.version],
            [
              'Metrics',
              <a href="/metrics" target="_blank" rel="noreferrer">
                for Prometheus, from where the config allows it
              </a>,
            ],
            [
              'API',
              <a href="/docs" target="_blank" rel="noreferrer">
                documentation of every call
              </a>,
            ],
            ['Settings', <a href={href('/settings', { tab: 'configuration' })}>what the config says</a>],
          ]}
        />
      </section>
    </div>
  )
}

function aboutOf(found: Json): string {
  if (!found || found.checked_at === null) return 'What postrider doctor looks at, looked at by the server itself.'
  return `${found.ok ? 'Nothing failed' : 'Something failed'} when it was looked at ${ago(found.checked_at)}.`
}

/** What somebody asked for stands until the server has looked again. */
function newer(one: Json, other: Json): Json {
  if (one === undefined || other === undefined) return one ?? other
  return Date.parse(other.checked_at ?? 0) > Date.parse(one.checked_at) ? other : one
}

const TONES: Record<string, Tone> = { pass: 'good', warn: 'warn', fail: 'bad', skip: 'quiet' }
const WORDS: Record<string, string> = { pass: 'well', warn: 'to mind', fail: 'failed', skip: 'skipped' }

/** What needs somebody comes first. */
const ORDER = ['fail', 'warn', 'pass', 'skip']

/** How many are how. */
function Sum({ checks }: { checks: Json[] }) {
  return (
    <p class="row">
      {ORDER.map((status) => {
        const count = checks.filter((check) => check.status === status).length
        return count > 0 && <Chip key={status} word={`${count} ${WORDS[status]}`} tone={TONES[status]} />
      })}
    </p>
  )
}

/** Where checks stand; those that are not named stand at the end. */
const GROUPS: readonly (readonly [name: string, checks: readonly string[]])[] = [
  [
    'Name and network',
    ['name_servers', 'hostname', 'reverse_dns_ipv4', 'reverse_dns_ipv6', 'outbound_port_25', 'smarthost', 'blocklists'],
  ],
  ['Sending domains', ['domains', 'spf', 'dmarc']],
  ['Mail', ['deliveries', 'queue', 'held']],
  ['Ports and certificates', ['ports', 'low_ports', 'certificate']],
  ['Data', ['store', 'backup', 'disk', 'data_dir']],
  ['Machine', ['clock', 'open_files', 'memory', 'inbound_reading']],
]

function groupsOf(checks: Json[]): [string, Json[]][] {
  const known = GROUPS.flatMap(([, names]) => names)
  const groups = GROUPS.map(([name, names]): [string, Json[]] => [
    name,
    checks.filter((check) => names.includes(check.name)),
  ])
  const others = checks.filter(({ name }) => !known.includes(name))
  return [...groups, ['Other', others] as [string, Json[]]]
    .filter(([, all]) => all.length > 0)
    .map(([name, all]) => [name, all.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))])
}

function Group({ name, checks }: { name: string; checks: Json[] }) {
  return (
    <section class="card stack" aria-label={name}>
      <h2>{name}</h2>
      <ul class="findings checks">
        {checks.map(({ name, status, message, advice }) => (
          <li key={name}>
            <Chip word={WORDS[status] ?? status} tone={TONES[status]} />
            <div class="stack tight">
              <span class="break">
                <strong>{NAMES[name] ?? sentence(name)}</strong>: {message}
              </span>
              {advice && <pre class="wrap small">{advice}</pre>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

const NAMES: Record<string, string> = {
  reverse_dns_ipv4: 'Reverse DNS, IPv4',
  reverse_dns_ipv6: 'Reverse DNS, IPv6',
  outbound_port_25: 'Outbound port 25',
  spf: 'SPF',
  dmarc: 'DMARC',
  data_dir: 'Data folder',
  inbound_reading: 'Isolation of inbound mail',
}
const sentence = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`

/** What waits, over all organizations. */
function Queues() {
  const { data, error, reload } = useLoad((signal) => get('/v1/queues', {}, signal), [], { everyMs: 5_000 })
  return (
    <section class="card stack" aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      <Fault error={error} onRetry={reload} />
      {data && (
        <table class="plain cards">
          <caption class="hidden">What waits</caption>
          <thead>
            <tr>
              <th scope="col">Queue</th>
              <th scope="col" class="num">
                Due
              </th>
              <th scope="col" class="num">
                Later
              </th>
              <th scope="col" class="num">
                Held
              </th>
              <th scope="col" class="num">
                Oldest due
              </th>
            </tr>
          </thead>
          <tbody>
            {QUEUES.map(([id, name]) => {
              const { due, later, held, oldest_due_at } = data[id]
              return (
                <tr key={id}>
                  <td data-label="Queue">{name}</td>
                  <td data-label="Due" class="num">
                    {number(due)}
                  </td>
                  <td data-label="Later" class="num">
                    {number(later)}
                  </td>
                  <td data-label="Held" class="num">
                    {number(held)}
                  </td>
                  <td data-label="Oldest due" class="num">
                    {oldest_due_at === null ? 'none' : <time title={when(oldest_due_at)}>{ago(oldest_due_at)}</time>}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </section>
  )
}

const QUEUES = [
  ['deliveries', 'Mail'],
  ['webhook_deliveries', 'Webhooks'],
  ['inbound_deliveries', 'Inbound mail to programs'],
] as const
