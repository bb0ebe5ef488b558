import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { silentLog } from '../../os/log.ts'
import { createMailLog } from '../../os/mail-log.ts'
import { createMetrics } from './metrics.ts'

/** Metric names by the Prometheus rules (prometheus.io/docs/practices/naming, and promtool), and the files that use
 *  them. */

const ROOT = join(import.meta.dir, '../../..')
const FAMILIES = everything()
const NAMES = new Set(FAMILIES.map(({ name }) => name))

test('names start with our prefix, end with a base unit, and contain the type only where it is usual', () => {
  expect(NAMES.size).toBe(FAMILIES.length)
  for (const { name, type, help } of FAMILIES) {
    expect(name).toMatch(/^(postrider|process)_[a-z][a-z0-9_]*$/)
    expect(name.endsWith('_total')).toBe(type === 'counter')
    expect(name).not.toMatch(/_(count|sum|bucket|gauge|counter|histogram|summary)$/)
    expect(name).not.toMatch(
      /_(ms|milliseconds|minutes|hours|days|kb|mb|megabytes|kilobytes|percent|ratio_percent)(_|$)/,
    )
    if (type === 'histogram' && name !== 'postrider_group_size') expect(name).toMatch(/_(seconds|bytes)$/)
    if (/timestamp/.test(name)) expect(name).toMatch(/_timestamp_seconds$/)
    expect(help).toMatch(/^[A-Z].*\.$/s)
    expect(help).not.toMatch(/\n/)
  }
})

/** Labels with few values, all of them ours; `site` is the domain of mail servers, of the fifty busiest. */
const LABELS = [
  'action',
  // Of this installation, from its config.
  'address',
  'answer',
  'cause',
  'code',
  'door',
  // Groups of destinations.
  'group',
  'kind',
  'lane',
  'listener',
  'mailbox',
  'method',
  'mode',
  'name',
  'node',
  'operation',
  'outcome',
  'pool',
  'queue',
  'reason',
  'relay',
  'result',
  'scope',
  'severity',
  'site',
  'state',
  'status',
  'transport',
  'type',
  'version',
  'when',
]

test('no label contains user data: no address, no message, no organization', () => {
  expect([...new Set(FAMILIES.flatMap(({ labels }) => labels))].toSorted()).toEqual(LABELS)
})

test('the manual lists every metric', () => {
  const page = readFileSync(join(ROOT, 'src/web/manual/metrics.md'), 'utf8')
  expect([...NAMES].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test('alerts query metrics that exist, by their type, and describe the problem', () => {
  const rules = Bun.YAML.parse(readFileSync(join(ROOT, 'scripts/monitoring/alerts.yaml'), 'utf8')) as {
    groups: {
      rules: { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } }[]
    }[]
  }
  const all = rules.groups.flatMap((group) => group.rules)
  expect(new Set(all.map(({ alert }) => alert)).size).toBe(all.length)
  for (const { alert, expr, labels, annotations } of all) {
    expect(alert).toMatch(/^Postrider[A-Z]/)
    expect(['warning', 'critical']).toContain(labels.severity)
    expect(annotations.summary.length).toBeGreaterThan(10)
    expect(faultsOf(expr)).toEqual([])
  }
})

test('the dashboard queries metrics that exist, in the chosen data source, and shows every metric', () => {
  const board = JSON.parse(readFileSync(join(ROOT, 'scripts/monitoring/grafana.json'), 'utf8')) as {
    panels: { id: number; type: string; gridPos: Place; targets?: { expr: string; datasource: { uid: string } }[] }[]
    templating: { list: { name: string; type: string }[] }
  }
  const targets = board.panels.flatMap((panel) => panel.targets ?? [])
  for (const { expr, datasource } of targets) {
    expect(faultsOf(expr)).toEqual([])
    expect(datasource.uid).toMatch(/^\$\{source\}$/)
  }
  expect(board.templating.list[0]).toMatchObject({ name: 'source', type: 'datasource' })
  expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length)
  const overlaps = board.panels.flatMap((a, at) =>
    board.panels.slice(at + 1).filter((b) => overlap(a.gridPos, b.gridPos)),
  )
  expect(overlaps).toEqual([])
  const asked = targets.map(({ expr }) => expr).join('\n')
  expect([...NAMES].filter((name) => !asked.includes(name) && !LEFT_OUT.includes(name))).toEqual([])
})

/** Not worth a panel. */
const LEFT_OUT = [
  'postrider_build_info',
  'process_start_time_seconds',
  'postrider_messages_accepted_total',
  'postrider_inbound_received_bytes_total',
  'postrider_health_checked_timestamp_seconds',
]

interface Place {
  x: number
  y: number
  w: number
  h: number
}

const overlap = (a: Place, b: Place) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

/** Detectable faults of a PromQL expression: unknown names and labels, rates of non-counters, open brackets. */
function faultsOf(expr: string): string[] {
  const found: string[] = []
  const known = new Map(
    FAMILIES.flatMap((family): [string, (typeof FAMILIES)[number]][] =>
      family.type === 'histogram'
        ? ['_count', '_sum', '_bucket'].map((end) => [family.name + end, family])
        : [[family.name, family]],
    ),
  )
  for (const [, name = '', selector = ''] of expr.matchAll(/\b((?:postrider|process)_[a-z_0-9]+)(\{[^}]*\})?/g)) {
    const family = known.get(name)
    if (family === undefined) found.push(`there is no ${name}`)
    for (const [, label = ''] of selector.matchAll(/([a-z_]+)\s*[=!]/g)) {
      if (label !== 'job' && !family?.labels.includes(label)) found.push(`${name} has no label ${label}`)
    }
  }
  for (const [, name = ''] of expr.matchAll(/\b(?:rate|increase)\((\w+)/g)) {
    if (known.get(name)?.type === 'gauge') found.push(`${name} is no counter`)
  }
  for (const [open, close] of ['()', '{}', '[]']) {
    if (expr.split(open!).length !== expr.split(close!).length) found.push(`${open}${close} do not match`)
  }
  return found
}

/** All metrics of a server, with empty sources. */
function everything() {
  const metrics = createMetrics({ allowedNetworks: [], dataDir: '/nowhere', startedAt: 0, now: () => 0 })
  metrics.mail(createMailLog(silentLog))
  metrics.watch({ eventStreams: {} } as never, {} as never, {} as never, () => 0)
  metrics.certificates(() => [])
  metrics.alerts(null)
  metrics.canaries(() => [])
  return metrics.families()
}
