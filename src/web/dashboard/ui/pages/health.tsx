import { useState } from 'preact/hooks'
import { get, type Json, post } from '../kit/api.ts'
import { ago, number } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Empty, ErrorNotice, Facts, Head, withCode } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { session } from '../kit/state.ts'
import { Chip, type Tone } from '../kit/status.tsx'
import { toast, toastError } from '../kit/toast.tsx'
import { Alerts, useAlerts } from './health-alerts.tsx'
import { Canaries, useCanaries } from './health-canary.tsx'
import { Nodes } from './health-nodes.tsx'
import { Queues } from './queues.tsx'

/** Results and advice of the last health checks, which are those of `postrider doctor`. */
export default function HealthPage() {
  const { data, error, reload } = useLoad((signal) => get('/v1/health-checks', {}, signal), [], { everyMs: 30_000 })
  const queues = useLoad((signal) => get('/v1/queues', {}, signal), [], { everyMs: 5_000 })
  const alerts = useAlerts()
  const canaries = useCanaries()
  const [latest, setLatest] = useState<Json>()
  const [isRunning, setRunning] = useState(false)
  const found = newer(latest, data)
  // Everything at once: a part that arrives later would move the others.
  const isLoading = [{ data: found, error }, queues, alerts].some((each) => (each.data ?? each.error) === undefined)
  const run = async () => {
    setRunning(true)
    try {
      setLatest(await post('/v1/health-checks/run'))
      toast('Checks complete')
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setRunning(false)
    }
  }
  const button = (
    <button type="button" class="primary" disabled={isRunning} onClick={run}>
      {isRunning ? 'Running…' : 'Run checks'}
    </button>
  )
  return (
    <div class="stack">
      <Head name="Health" about={aboutOf(found)}>
        {button}
      </Head>
      <ErrorNotice error={error} onRetry={reload} />
      {isLoading && <div class="card skeleton-page" role="progressbar" aria-label="Loading checks" />}
      {!isLoading && found?.checked_at === null && (
        <Empty name="No checks yet">
          <p>The server runs the checks one minute after it starts, then every hour. They take a few seconds.</p>
        </Empty>
      )}
      {!isLoading && <Alerts loaded={alerts} />}
      {!isLoading && <Canaries loaded={canaries} />}
      {!isLoading && found?.checks.length > 0 && <Problems checks={found.checks} />}
      {!isLoading && <Queues loaded={queues} />}
      {!isLoading && found?.checks.length > 0 && <Unproblematic checks={found.checks} />}
      {!isLoading && <Nodes />}
      {!isLoading && <ThisServer />}
    </div>
  )
}

function ThisServer() {
  return (
    <section class="card stack">
      <h2>This server</h2>
      <Facts
        of={[
          ['Version', session.value?.version],
          [
            'Metrics',
            <a href="/metrics" target="_blank" rel="noreferrer">
              Prometheus endpoint, for allowed networks only
            </a>,
          ],
          [
            'API',
            <a href="/docs" target="_blank" rel="noreferrer">
              API reference
            </a>,
          ],
          ['Configuration', <a href={href('/settings', { tab: 'configuration' })}>View configuration</a>],
        ]}
      />
    </section>
  )
}

function aboutOf(found: Json): string {
  if (!found || found.checked_at === null) return 'Runs the same checks as postrider doctor.'
  return `${found.ok ? 'No check failed' : 'Some checks failed'}. Last run ${ago(found.checked_at)}.`
}

/** The newer of two results: the one that this page requested, or the latest of the server's schedule. */
function newer(one: Json, other: Json): Json {
  if (one === undefined || other === undefined) return one ?? other
  return Date.parse(other.checked_at ?? 0) > Date.parse(one.checked_at) ? other : one
}

const TONES: Record<string, Tone> = { pass: 'good', warn: 'warn', fail: 'bad', skip: 'quiet' }
const LABELS: Record<string, string> = { pass: 'OK', warn: 'Warning', fail: 'Failed', skip: 'Skipped' }

/** Problems come first. */
const ORDER = ['fail', 'warn', 'pass', 'skip']

/** Failed checks and warnings with their fix, failures first. */
function Problems({ checks }: { checks: Json[] }) {
  const problems = checks.filter(isProblem).toSorted((a, b) => rankOf(a) - rankOf(b))
  const count = problems.length
  return (
    <section class="card stack" aria-labelledby="problems">
      <h2 id="problems">{count === 0 ? 'No problems found' : `${count} ${count === 1 ? 'problem' : 'problems'}`}</h2>
      {count > 0 && <Checks checks={problems} />}
    </section>
  )
}

const isProblem = ({ status }: Json) => status === 'fail' || status === 'warn'

/** Checks without a problem, one line each, by group. */
function Unproblematic({ checks }: { checks: Json[] }) {
  const others = checks.filter((check) => !isProblem(check))
  const skipped = others.filter(({ status }) => status === 'skip').length
  return (
    <details class="card passed">
      <summary>
        {number(others.length - skipped)} checks OK{skipped > 0 && `, ${number(skipped)} skipped`}
      </summary>
      <div class="stack">
        {groupsOf(others).map(([name, group]) => (
          <section key={name} class="stack tight" aria-label={name}>
            <h3>{name}</h3>
            <Checks checks={group} />
          </section>
        ))}
      </div>
    </details>
  )
}

function Checks({ checks }: { checks: Json[] }) {
  return (
    <ul class="findings checks">
      {checks.map(({ name, status, message, advice }) => (
        <li key={name}>
          <Chip word={LABELS[status] ?? status} tone={TONES[status]} />
          <div>
            <span class="break">
              <strong>{NAMES[name] ?? sentence(name)}</strong>: {message}
            </span>
            {advice && <p class="muted advice">{withCode(advice)}</p>}
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Groups of checks by name. Checks that are not listed appear at the end. */
const GROUPS: readonly (readonly [name: string, checks: readonly string[]])[] = [
  [
    'Host and network',
    [
      'name_servers',
      'delegation',
      'hostname',
      'reverse_dns_ipv4',
      'reverse_dns_ipv6',
      'sending_addresses',
      'outbound_port_25',
      'smarthost',
      'relays',
      'blocklists',
    ],
  ],
  ['Sending domains', ['domains', 'spf', 'dmarc', 'dkim_rotation']],
  ['Mail', ['deliveries', 'canary', 'queue', 'held', 'alert_channels']],
  ['Ports and certificates', ['ports', 'low_ports', 'ipv6_listeners', 'certificate']],
  ['Sign-in', ['oidc', 'user_mail']],
  [
    'PostgreSQL and nodes',
    [
      'nodes',
      'node_names',
      'database',
      'database_durability',
      'database_standbys',
      'database_connections',
      'database_wal',
      'database_latency',
      'database_clock',
      'database_vacuum',
      'database_transactions',
      'database_replication_slots',
    ],
  ],
  ['Data', ['store', 'object_storage', 'backup', 'disk', 'data_dir']],
  ['Machine', ['clock', 'open_files', 'memory', 'inbound_reading']],
]

const rankOf = ({ status }: Json) => ORDER.indexOf(status)

/** Checks by group, what passed before what was skipped. */
function groupsOf(checks: Json[]): [string, Json[]][] {
  const known = GROUPS.flatMap(([, names]) => names)
  const groups = GROUPS.map(([name, names]): [string, Json[]] => [
    name,
    checks.filter((check) => names.includes(check.name)),
  ])
  groups.push(['Other', checks.filter(({ name }) => !known.includes(name))])
  return groups
    .filter(([, all]) => all.length > 0)
    .map(([name, all]): [string, Json[]] => [name, all.toSorted((a, b) => rankOf(a) - rankOf(b))])
}

const NAMES: Record<string, string> = {
  reverse_dns_ipv4: 'Reverse DNS, IPv4',
  reverse_dns_ipv6: 'Reverse DNS, IPv6',
  outbound_port_25: 'Outbound port 25',
  ipv6_listeners: 'IPv6 listeners',
  oidc: 'Single sign-on',
  spf: 'SPF',
  dmarc: 'DMARC',
  data_dir: 'Data directory',
  database_wal: 'Database WAL',
  inbound_reading: 'Inbound mail sandbox',
}
const sentence = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
