import { z } from 'zod'
import {
  type Alert,
  type AlertSeverity,
  adviceFor,
  alertTitle,
  type ChannelRecord,
  MOST_SILENT_HOURS,
  silencedUntil,
} from '../../../model/alert.ts'
import { iso } from '../../../model/event.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Store } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { requireFound } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'

/** A configured channel. */
interface Channel {
  name: string
  type: 'mail' | 'webhook' | 'slack' | 'discord' | 'teams'
  minSeverity: AlertSeverity
  /** Tells it that this is a test; `test` is the ID of the post. */
  tell: (telling: { test: string }) => Promise<{ error: string | null; durationMs: number }>
}

const HOUR_MS = 3_600_000
const MOST_FIRING = 200
const MOST_ENDED = 50

/** The operations of `/v1/alerts`: problems of the installation, and the channels that get them. For the operator
 *  only. Without channels, nothing looks for problems, and the list is empty. */
export function alertOperations(deps: {
  store: Pick<Store, 'alerts'>
  alertChannels: readonly Channel[]
  mintId: MintId
}): Operation[] {
  const { alertChannels: channels, mintId } = deps
  const { alerts } = deps.store
  const load = async ({ params }: Call) => requireFound(await alerts.get(params.alert_id ?? ''), 'alert')
  return [
    operation({
      id: 'alerts_list',
      method: 'GET',
      path: '/v1/alerts',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'List alerts and their channels',
      description: `Firing alerts, critical ones first, at most ${MOST_FIRING}; then the last ${MOST_ENDED} that ended. Without channels in the configuration, both lists are empty.`,
      responses: async () => (await import('../responses/alerts.ts')).alertListResponses,
      async handle({ now }) {
        if (channels.length === 0) return { status: 200, body: { data: [], channels: [] } }
        const [open, ended, records, silences] = await Promise.all([
          alerts.open(),
          alerts.ended(MOST_ENDED),
          alerts.channels(),
          alerts.silences(now),
        ])
        const firing = open.filter(({ state }) => state === 'firing').toSorted(byUrgency)
        const data = [...firing.slice(0, MOST_FIRING), ...ended].map((alert) =>
          alertRecord(alert, silencedUntil(alert, silences, now)),
        )
        const recordOf = (name: string) => records.find(({ channel }) => channel === name)
        return {
          status: 200,
          body: { data, channels: channels.map((each) => channelRecord(each, recordOf(each.name))) },
        }
      },
    }),
    operation({
      id: 'alerts_silence',
      method: 'POST',
      path: '/v1/alerts/:alert_id/silence',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Silence an alert',
      description: `Channels get no notices about the problem until the silence ends, even if the problem ends and begins again. Channels that received its beginning receive its end. The silence of a warning ends when the alert becomes critical. If the alert still fires when the silence ends, channels that did not receive it receive it then. \`hours: 0\` ends the silence.`,
      responses: async () => (await import('../responses/alerts.ts')).alertResponses,
      example: { hours: 24 },
      body: z.strictObject({
        hours: z
          .int()
          .min(0)
          .max(MOST_SILENT_HOURS)
          .default(24)
          .describe('From now on. It replaces an earlier silence.'),
      }),
      bodyOptional: true,
      load,
      async handle({ resource: alert, body: { hours }, now }) {
        const { kind, subject, node, severity } = alert
        const until = now + hours * HOUR_MS
        await alerts.silence({ kind, subject, node, severity, until }, now)
        return { status: 200, body: alertRecord(alert, hours === 0 ? null : until) }
      },
    }),
    operation({
      id: 'alerts_test',
      method: 'POST',
      path: '/v1/alerts/test',
      tag: 'Operator',
      access: OPERATOR,
      takesNoTurn: true,
      summary: 'Send a test to every alert channel',
      description:
        'Waits for the answers, at most about a minute. For mail through this server, `delivered` means that it is in the queue.',
      responses: async () => (await import('../responses/alerts.ts')).alertTestResponses,
      body: z.strictObject({}),
      bodyOptional: true,
      async handle({ now }) {
        const test = `${mintId('alr')}_test`
        const data = await Promise.all(
          channels.map(async (channel) => {
            const told = await channel.tell({ test })
            await alerts.recordChannel(channel.name, told.error, now)
            return testRecord(channel, told)
          }),
        )
        return { status: 200, body: { data } }
      },
    }),
  ]
}

/** Critical ones first, then the last one first. */
function byUrgency(one: Alert, other: Alert): number {
  if (one.severity !== other.severity) return one.severity === 'critical' ? -1 : 1
  return (other.raisedAt ?? 0) - (one.raisedAt ?? 0)
}

/** Alert, and until when it is silenced (ms UTC), → its JSON record. */
export function alertRecord(alert: Alert, silentUntil: number | null) {
  const { id, kind, subject, node, severity, state, message, raisedAt, lastSeenAt, resolvedAt } = alert
  return {
    id,
    kind,
    subject: subject === '' ? null : subject,
    node: node === '' ? null : node,
    severity,
    state,
    title: alertTitle(alert),
    message,
    advice: adviceFor(alert),
    raised_at: timeOrNull(raisedAt),
    last_seen_at: iso(lastSeenAt),
    resolved_at: timeOrNull(resolvedAt),
    silenced_until: timeOrNull(silentUntil),
  }
}

/** Channel and how its posts went → its JSON record. Where it leads is a secret. */
export function channelRecord({ name, type, minSeverity }: Channel, record: ChannelRecord | undefined) {
  return {
    name,
    type,
    min_severity: minSeverity,
    last_delivered_at: timeOrNull(record?.lastDeliveredAt ?? null),
    failing_since: timeOrNull(record?.failingSince ?? null),
    failures: record?.failures ?? 0,
    last_error: record?.lastError ?? null,
  }
}

/** Channel and result of a test → its JSON record. */
export function testRecord(
  { name, type }: Channel,
  { error, durationMs }: { error: string | null; durationMs: number },
) {
  return { channel: name, type, delivered: error === null, error, duration_ms: durationMs }
}

const timeOrNull = (at: number | null) => (at === null ? null : iso(at))
